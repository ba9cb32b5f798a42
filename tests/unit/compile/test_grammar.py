"""Mood and parts of a line."""

from __future__ import annotations

import pytest

from checkrein.compile import grammar
from checkrein.facts import compile_words as words

MODALS = [
    "You must stop.",
    "It should work.",
    "It shall be",
    "You may not do so",
    "Never ask",
    "Always ask",
    "Do not ask",
    "Don't ask",
    "Don’t ask",
    "Avoid it",
    "Ensure it",
    "That is prohibited",
    "That is forbidden",
    "A mandatory part",
    "No exceptions",
    "Prefer this",
    "Make sure of it",
    "No jargon",
]


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("Read the plan file", "EXTRACT"),
        ("Always write tests first", "GENERATE"),
        ("Now, assess every method", "VALIDATE_DOMAIN"),
        ("Checks the links", "VALIDATE_DOMAIN"),
        ("Re-run the suite", "ORCHESTRATE"),
        ("Zip the folder", "ORCHESTRATE"),
    ],
)
def test_the_verb_of_an_instruction(text: str, tag: str) -> None:
    found = grammar.leading_verb(text)
    assert found is not None
    assert found[1] == tag


@pytest.mark.parametrize(
    "text",
    ["Test is a word", "Model Architecture Analysis", "Metrics That Matter", "The plan", "Output: a table"],
)
def test_nouns_are_no_instructions(text: str) -> None:
    assert grammar.leading_verb(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("**Indentation**: Use spaces, not tabs", True),
        ("**Use TypeScript**: Type safety prevents errors", True),
        ("**name**: Skill identifier", False),
        ("`root = true`: Use it in the top folder", False),
        ("Tables stay readable", False),
    ],
)
def test_a_key_is_no_instruction_but_what_follows_may_be(text: str, expected: bool) -> None:
    assert grammar.is_imperative(text) is expected


def test_parts_of_a_keyed_line() -> None:
    assert grammar.parts("- **Core idea:** Less is more") == grammar.Line("Core idea", "Less is more", False)
    assert grammar.parts("`--mode` - how to run").coded
    assert grammar.parts("**A bold sentence.**").key == ""
    assert grammar.parts("Nothing to split here").key == ""


@pytest.mark.parametrize(
    ("text", "then"),
    [
        ("If the build fails, fix it", "fix it"),
        ("Else if uv is there, use it", "use it"),
        ("For each file, read the header", "read the header"),
        ("For years, people did that", None),
        ("Fix the build", None),
    ],
)
def test_what_follows_from_a_condition(text: str, then: str | None) -> None:
    assert grammar.consequence(text) == then


@pytest.mark.parametrize(
    ("title", "verb"),
    [
        ("Root Cause Analysis", "analyze"),
        ("Impact Quantification", "quantify"),
        ("Data Collection", "collect"),
        ("Gathering requirements", "gather"),
        ("Technical Drafting", "draft"),
        ("Validation of the result", "validate"),
    ],
)
def test_titles_name_their_work_with_a_noun(title: str, verb: str) -> None:
    found = grammar.named_work(title)
    assert found is not None
    assert found[0] == verb


def test_a_title_that_names_no_work() -> None:
    assert grammar.named_work("Action items") is None


@pytest.mark.parametrize(
    ("text", "verb"),
    [
        ("Use the tool to get the latest version", "get"),
        ("Perform a security audit", "audit"),
        ("Use the template", "use"),
        ("Write to disk", "write"),
    ],
)
def test_light_verbs_give_way(text: str, verb: str) -> None:
    found = grammar.leading_verb(text)
    assert found is not None
    assert grammar.heavier(found, text)[0] == verb


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("- `target_path` (optional): folder to check", "target_path"),
        ("- **Epic idea:** [what the user wants]", "Epic idea"),
        ("- Incident title (short)", "Incident title"),
        ("- a sentence that goes on for far too long to be the name of anything", None),
    ],
)
def test_names_of_inputs(text: str, name: str | None) -> None:
    assert grammar.input_name(text.removeprefix("- ")) == name


@pytest.mark.parametrize("text", MODALS)
def test_what_a_rule_needs_is_asked_for_first(text: str) -> None:
    assert words.RULE.search(text) or words.STRONG_RULE.search(text)
    assert grammar.is_modal(text)


@pytest.mark.parametrize(
    "text",
    [
        "Ask the user for approval.",
        "Get sign-off",
        "Wait for a go",
        "Offer to split them",
        "Review it with the lead",
        "Then ask up to three clarifying questions.",
        "User Confirmation",
        "Use ask_user",
    ],
)
def test_who_is_asked_is_looked_for_first(text: str) -> None:
    assert words.ASK_USER.search(text)
    assert grammar.asks_someone(text)

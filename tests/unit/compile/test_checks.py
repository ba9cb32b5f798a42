"""Checks of an answer: every row of the table judges its own examples, and rules find their check."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.compile.checks import Argument, Check, executable_check
from checkrein.compile.package import compile_spec
from checkrein.facts.compile_checks import CHECKS

ARGUMENTS: dict[str, tuple[Argument, ...]] = {
    "none": (None,),
    "count": (1, 3, 400),
    "text": ("Risk", 'a "quoted" \\ word', "{x}", "C++", "ends."),
    "texts": (("Summary",), ("Summary", "Next steps", "C++"), ("a.b", "it's", "(x)")),
}
CASES = [(name, argument) for name, row in CHECKS.items() for argument in ARGUMENTS[row.kind]]


def function(name: str) -> Callable[..., Any]:
    """The function of a row, made of its text."""
    names: dict[str, Any] = {"Check": Callable}
    for module in CHECKS[name].needs:
        names[module] = __import__(module)
    exec(compile(CHECKS[name].code, name, "exec", dont_inherit=True), names)
    found: Callable[..., Any] = names[name]
    return found


def judge(check: Check) -> Callable[[str], bool]:
    made = function(check.function)
    if check.argument is None:
        return made
    return made(*check.argument) if isinstance(check.argument, tuple) else made(check.argument)  # type: ignore[no-any-return]  # text of the table


@pytest.mark.parametrize(("name", "argument"), CASES)
def test_a_row_judges_its_examples(name: str, argument: Argument) -> None:
    check = Check(name, argument)
    good, bad = (ast.parse(one, mode="eval") for one in check.examples())
    judged = judge(check)
    assert judged(eval(compile(good, name, "eval")))
    assert not judged(eval(compile(bad, name, "eval")))
    assert callable(eval(check.call(), {name: function(name)}))


def test_lines_of_the_table_fit_a_package() -> None:
    for row in CHECKS.values():
        assert max(map(len, row.code.splitlines())) <= 110, row.name
        assert row.name.isidentifier()
        assert row.meaning


@pytest.mark.parametrize(
    ("text", "function", "argument"),
    [
        ("Keep the summary under 200 words.", "at_most_words", 200),
        ("**Length**: under 200 words.", "at_most_words", 200),
        ("**Always** keep it under 200 words.", "at_most_words", 200),
        ("The answer has at most three lines.", "at_most_lines", 3),
        ("Use at least 3 bullet points.", "at_least_items", 3),
        ("Ensure at least 4 headings.", "at_least_headings", 4),
        ("Show a minimum of 2 code blocks.", "at_least_code_blocks", 2),
        ("Write exactly two lines.", "exactly_lines", 2),
        ("Respond with a single line.", "is_one_line", None),
        ("The answer must be one paragraph.", "is_one_paragraph", None),
        ("Return only JSON.", "is_json", None),
        ("Do not insert emojis.", "has_no_emoji", None),
        ("Do **not** wrap the text in Markdown code blocks.", "is_unfenced", None),
        ("The message must follow Conventional Commits.", "is_commit_message", None),
        ("The report must include a table.", "has_table", None),
        ("Always include a Mermaid diagram.", "has_diagram", None),
        ("The report must contain the date as YYYY-MM-DD.", "has_iso_date", None),
        ('The answer must start with "Done".', "starts_with", "Done"),
        ("The reply must begin with `PASS` or `FAIL`.", "starts_with_one_of", ("PASS", "FAIL")),
        ("The report must end with `END`.", "ends_with", "END"),
        ('The report should finish with either "yes" or "no".', "ends_with_one_of", ("yes", "no")),
        ("The output must contain `Risk`.", "contains", "Risk"),
        ('Include a "Known gaps" section.', "has_sections", ("Known gaps",)),
        (
            'The report must have the sections: "Risks", "Next steps".',
            "has_sections",
            ("Risks", "Next steps"),
        ),
        ('Never say "obviously".', "lacks", "obviously"),
        ('Do not use the word "leverage".', "lacks", "leverage"),
        ("Be kind. If in doubt, ask. Keep it under 90 words.", "at_most_words", 90),
        ('Never say: "No", "You should have..."', "lacks_all", ("No", "You should have")),
    ],
)
def test_a_rule_finds_its_check(text: str, function: str, argument: Argument) -> None:
    assert executable_check(text) == Check(function, argument)


@pytest.mark.parametrize(
    "text",
    [
        "Keep it under 150 words unless the customer asked more than two questions.",
        "When you sum up, use at most 100 words.",
        "If asked for data, return only JSON.",
        'Never say "no" except to a direct question.',
        "Keep the description under 72 characters.",
        "Keep SKILL.md under 500 lines.",
        "The file contains at least 120 lines.",
        "Do not use `serial`.",
        "Each bullet has at most 20 words.",
        "**Problem:** describe it in under 50 words.",
        "**Overview** (at most 3 lines)",
        "Title: at most 9 words",
        "`description`: at most 500 characters.",
        "At most 0 words.",
        "Be brief.",
        "Use tables for inventories.",
        "At least 100 lines of code are covered.",
        "The output should be appropriate and under 20 words.",
    ],
)
def test_a_rule_that_code_can_not_judge_has_none(text: str) -> None:
    assert executable_check(text) is None


@pytest.mark.parametrize(
    ("heading", "text", "found"),
    [
        ("Output Format", "**Summary**", "Summary"),
        ("3. Report structure", "**Root cause**: why it broke", "Root cause"),
        ("Required output", "**Next steps:** one line", "Next steps"),
        ("Output Format", "**Notes** (optional)", None),
        ("Output Format", "**Plan**: `docs/plan.md`", None),
        ("Output Format", "**plan.json** with: fields", None),
        ("Bug Report Format", "**Status**: open", None),
        ("Story points", "**Large**: five days", None),
        ("Output Format", "Summary of all things", None),
    ],
)
def test_bold_heads_under_a_format_name_parts(heading: str, text: str, found: str | None) -> None:
    assert executable_check(text, heading) == (Check("has_sections", (found,)) if found else None)


SKILL = """---
name: demo
description: Sort notes.
---

# Demo

## Steps

1. Read the notes
2. Write the report

## Output Format

- **Summary**
- **Next steps**: what to do
- Keep the report under 300 words.
"""


def test_a_package_waits_for_the_answer_with_its_checks(tmp_path: Path) -> None:
    path = tmp_path / "demo" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(SKILL, "utf-8")
    made = compile_spec(path, env={"HOME": "/nonexistent"})
    text = made.files["demo_mellea/requirements.py"].decode()
    assert made.blueprint.answer_step == made.blueprint.steps[-1].function
    assert "step == config.ANSWER_STEP" in text
    assert f'"{made.blueprint.answer_step}"' in made.files["demo_mellea/config.py"].decode()
    assert "requirements.unmet(text, name)" in made.files["demo_mellea/session.py"].decode()
    one = tmp_path / "one" / "SKILL.md"
    one.parent.mkdir()
    one.write_text(SKILL.replace("1. Read the notes\n2. Write the report\n", ""), "utf-8")
    single = compile_spec(one, env={"HOME": "/nonexistent"})
    assert single.blueprint.answer_step == "step_01_respond"


def test_a_part_under_a_heading_that_stands_twice() -> None:
    found = executable_check("**Risks:** what may go wrong", "Review: Output Format")
    assert found == Check("has_sections", ("Risks",))


@pytest.mark.parametrize(
    ("lead", "text", "found"),
    [
        ("NEVER:", '"Great point!" (it says nothing)', Check("lacks", "Great point!")),
        ("Don't say:", '"No" / "You should have..."', Check("lacks_all", ("No", "You should have"))),
        ("Avoid:", "emojis", Check("has_no_emoji")),
        ("Never:", "Keep the answer under 50 words", None),
        ("Never:", "The output must contain `Risk`.", None),
        ("Rules for the answer:", "Keep it under 50 words", Check("at_most_words", 50)),
        ("Frontmatter:", "At most 50 words", None),
        ("Each finding must:", "Be under 50 words", None),
        ("If there is nothing to say:", 'Never say "nothing".', None),
        ("Report:", 'Never say "nothing".', Check("lacks", "nothing")),
    ],
)
def test_the_line_before_a_list_says_how_its_rules_are_meant(
    lead: str, text: str, found: Check | None
) -> None:
    assert executable_check(text, "", lead) == found


def test_a_heading_that_forbids_leaves_only_what_forbids() -> None:
    assert executable_check("The output must contain `Risk`.", "Mistakes to avoid") is None
    assert executable_check('"Sorry for that"', "Never write") == Check("lacks", "Sorry for that")


TOLD = """---
name: demo
description: Reviews notes.
---

# Demo

## How to report

Be short. Report:

- the state in one sentence
- the next step

**NEVER:**

- "Great point!" (it says nothing)
- "I hope this helps"

**INSTEAD:**

- Say what is wrong in the answer

## Output

- Summary of the notes
- **Start time**:
- Keep the report under 300 words.

## Report rules

**DO:**
- Include the owner in the report
**DON'T:**
- Include a joke in the report

## Output that is not wanted

- Marketing words
- Never write an answer without a source.
"""


def test_a_rule_is_told_with_what_gives_it_its_sense(tmp_path: Path) -> None:
    path = tmp_path / "demo" / "SKILL.md"
    path.parent.mkdir()
    path.write_text(TOLD, "utf-8")
    made = compile_spec(path, env={"HOME": "/nonexistent"})
    told = {one.text: one.check for one in made.blueprint.requirements}
    assert "Report: the state in one sentence" in told
    assert "Report: the next step" in told
    assert told['NEVER: "Great point!" (it says nothing)'] == Check("lacks", "Great point!")
    assert told['NEVER: "I hope this helps"'] == Check("lacks", "I hope this helps")
    assert "Output: Summary of the notes" in told
    assert "Output: **Start time**:" in told
    assert told["Keep the report under 300 words."] == Check("at_most_words", 300)
    assert "Output that is not wanted: Marketing words" in told
    assert "DON'T: Include a joke in the report" in told
    assert "Never write an answer without a source." in told
    assert "How to report: Be short. Report:" in told, "it says more than what it leads to"
    assert "DO: Include the owner in the report" in told
    leads = [one for one in made.inventory.elements if one.content_full.endswith("Report:")]
    targets = {one.element_id: one.target_file for one in made.mappings}
    assert [targets[one.element_id] for one in leads] == ["requirements.py"]

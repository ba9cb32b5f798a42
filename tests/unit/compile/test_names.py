"""Names are short, end where a phrase can end, and are the same for the same text."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.compile.names import Unique, class_name, identifier, parameter, phrase, words
from checkrein.compile.package import compile_spec


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Consider the possibility of CSS-in-JS", "consider_the_possibility_of_css"),
        ("Check if development server HMR is on", "check_if_development_server_hmr"),
        ("Ask the user for the name of the file", "ask_the_user_for_the_name"),
        ("Read the long report and then a summary", "read_the_long_report"),
        ("Run internationalization configuration validation suite", "run_internationalization_configuration"),
        ("Log in", "log_in"),
        ("created at", "created_at"),
        ("Is it so that what you do and", "is_it_so_that_what_you"),
        ("of the in on at by for to", "of_the_in_on_at_by"),
        ("x" * 60, "x" * 44),
        ("", "step"),
    ],
)
def test_what_is_cut_ends_in_a_word_that_can_end_it(text: str, name: str) -> None:
    assert identifier(text, "step") == name
    assert len(name) <= 44


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Compare each output against the", "compare_each_output"),
        ("Read it and", "read_it"),
        ("Use plan A", "use_plan_a"),
        ("Wrap up", "wrap_up"),
        ("of the", "of"),
        ("", "step"),
    ],
)
def test_a_line_that_was_broken_ends_where_a_phrase_can(text: str, name: str) -> None:
    assert phrase(text, "step") == name


def test_classes_too() -> None:
    assert class_name("Shape of the output and the rest of it", "X") == "ShapeOfTheOutput"
    assert class_name("", "X") == "X"


def test_cutting_keeps_whole_words() -> None:
    assert words("alpha beta gamma", 6, 11) == ["alpha", "beta"]


def test_names_that_were_cut_alike_stay_apart() -> None:
    unique = Unique()
    texts = ("Check if development server HMR is on", "Check if development server HMR is off")
    assert [unique.take(identifier(text, "x")) for text in texts] == [
        "check_if_development_server_hmr",
        "check_if_development_server_hmr_2",
    ]


def test_tools_of_one_server_stay_apart(tmp_path: Path) -> None:
    spec = tmp_path / "SKILL.md"
    server = "mcp__plugin_atlassian_atlassian__getConfluencePage"
    spec.write_text(
        f"---\nname: d\ndescription: d\n---\n\nUse {server}InlineComments, then {server}FooterComments.\n"
    )
    compiled = compile_spec(spec, env={"HOME": str(tmp_path / "home")})
    assert [tool.tool for tool in compiled.blueprint.tools] == [
        f"{server}InlineComments",
        f"{server}FooterComments",
    ]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("The ticket text", "ticket_text"),
        ("Optionally, an internal note", "internal_note"),
        ("your name", "name"),
        ("theory", "theory"),
        ("the", "the"),
        ("a request", "request_value"),
    ],
)
def test_a_parameter_is_named_by_its_noun(text: str, name: str) -> None:
    assert parameter(text, "argument") == name

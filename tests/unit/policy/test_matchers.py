"""Matchers of hooks: lists of names and regular expressions, as written for JavaScript."""

from __future__ import annotations

import pytest

from checkrein.policy.matchers import expression, matches, names, problem


@pytest.mark.parametrize(
    ("matcher", "yes", "no"),
    [
        (None, ["Bash", ""], []),
        ("", ["Bash"], []),
        ("*", ["Bash"], []),
        ("Bash", ["Bash"], ["BashOutput", "bash"]),
        ("Edit|Write", ["Edit", "Write"], ["NotebookEdit"]),
        ("Edit, Write", ["Edit", "Write"], ["NotebookEdit", "Edit, Write"]),
        ("Edit.*", ["Edit", "NotebookEdit"], ["Write"]),
        ("^Edit$", ["Edit"], ["NotebookEdit"]),
        ("^Notebook", ["NotebookEdit"], ["Edit"]),
        ("code-reviewer", ["code-reviewer"], ["senior-code-reviewer"]),
        ("^my-plugin:reviewer$", ["my-plugin:reviewer"], ["reviewer"]),
        ("mcp__.*__write.*", ["mcp__fs__write_file"], ["mcp__fs__read_file"]),
        ("mcp__memory", [], ["mcp__memory__create"]),
        ("mcp__memory__.*", ["mcp__memory__create"], ["mcp__other__x"]),
        ("(?<tool>Bash)", ["Bash"], ["Edit"]),
        ("(?<!Note)Edit", ["Edit"], ["NoteEdit"]),
        ("(?:", [], ["Bash", "(?:"]),
        ("**", [], ["Bash"]),
    ],
)
def test_matchers(matcher: str | None, yes: list[str], no: list[str]) -> None:
    assert [value for value in yes if not matches(matcher, "PreToolUse", value)] == []
    assert [value for value in no if matches(matcher, "PreToolUse", value)] == []


def test_some_events_take_a_hyphen_as_a_pattern() -> None:
    assert matches("my-file", "FileChanged", "xmy-filex")
    assert not matches("my-file", "PreToolUse", "xmy-filex")
    assert matches(".env|.envrc", "FileChanged", ".envrc")
    assert matches("rate_limit|overloaded", "StopFailure", "overloaded")
    assert not matches("rate", "StopFailure", "rate_limit")


def test_an_event_without_matchers_ignores_them() -> None:
    assert matches("Bash", "Stop", None)
    assert problem("(", "Stop") is None


def test_a_broken_pattern_is_named() -> None:
    assert "unterminated" in (problem("(", "PreToolUse") or "") or "missing" in (
        problem("(", "PreToolUse") or ""
    )
    assert problem("Bash", "PreToolUse") is None


@pytest.mark.parametrize(
    ("matcher", "event", "listed"),
    [
        ("Bash", "PreToolUse", ["Bash"]),
        ("Edit | Write,Read|", "PreToolUse", ["Edit", "Write", "Read"]),
        ("code-reviewer", "SubagentStop", ["code-reviewer"]),
        ("a-b", "FileChanged", None),
        ("mcp__x__.*", "PreToolUse", None),
        ("^Edit$", "PreToolUse", None),
        ("Bäsh", "PreToolUse", None),
    ],
)
def test_names(matcher: str, event: str, listed: list[str] | None) -> None:
    assert names(matcher, event) == listed


def test_an_event_that_nobody_knows_has_matchers_too() -> None:
    assert problem("(Edit", "NoSuchEvent") is not None
    assert not isinstance(expression(r"(?<tool>Edit)(?!x)"), str)

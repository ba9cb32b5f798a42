from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bridle.base.origin import Origin, Scope
from bridle.model.items import Hook
from bridle.runtime.hooks.match import condition_holds, matches, problem, without_copies


def hook(command: str = "x", scope: Scope = "user", file: str = "/s.json", **fields: Any) -> Hook:
    return Hook(name="PreToolUse", type="command", command=command, origin=Origin(file, scope), **fields)


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


def test_condition_asks_the_policy_and_fails_open() -> None:
    asked: list[tuple[str, str, dict[str, Any]]] = []

    def rule(text: str, tool: str, given: dict[str, Any]) -> bool:
        asked.append((text, tool, given))
        return False

    def broken(text: str, tool: str, given: dict[str, Any]) -> bool:
        raise ValueError("unparsable")

    payload = {"tool_name": "Bash", "tool_input": {"command": "git push"}}
    guarded = hook(condition="Bash(rm *)")
    assert not condition_holds(guarded, "PreToolUse", payload, rule)
    assert asked == [("Bash(rm *)", "Bash", {"command": "git push"})]
    assert condition_holds(guarded, "PreToolUse", payload, broken)
    assert condition_holds(guarded, "PreToolUse", payload, None)
    assert condition_holds(hook(), "PreToolUse", payload, rule)
    assert not condition_holds(guarded, "Stop", payload, broken)


def test_copies_in_settings_files_run_once() -> None:
    user, project = hook(file="/u.json"), hook(file="/p.json", scope="project", matcher="Bash|Edit")
    other, slower = hook("y"), hook(timeout=3)
    assert without_copies([user, project, other, slower]) == [user, other, slower]


def test_copies_in_plugins_and_skills_stay() -> None:
    plugin = hook(scope="plugin", file="/plug/hooks.json", plugin="a")
    skill = msgspec.structs.replace(hook(), origin=Origin("/SKILL.md", "project", None, "frontmatter.hooks"))
    assert without_copies([hook(), plugin, skill]) == [hook(), plugin, skill]
    assert without_copies([plugin, plugin]) == [plugin]

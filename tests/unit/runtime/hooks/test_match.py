from __future__ import annotations

from typing import Any

import msgspec

from checkrein.base.origin import Origin, Scope
from checkrein.model.items import Hook
from checkrein.runtime.hooks.match import condition_holds, without_copies


def hook(command: str = "x", scope: Scope = "user", file: str = "/s.json", **fields: Any) -> Hook:
    return Hook(name="PreToolUse", type="command", command=command, origin=Origin(file, scope), **fields)


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

"""What an answer of `can_use_tool` can do: plans, questions, and every change of the permissions."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_agent_sdk import (
    PermissionResultAllow,
    PermissionResultDeny,
    PermissionUpdate,
    ResultMessage,
)

from conformance.sdk_stage import Stage, Turns, calls

LIMIT = 40.0
SAID = {"text": "RESULT"}
PLAN = {"plan": "1. Write a.txt"}
WRITE = {"file_path": "a.txt", "content": "a"}
QUESTION = {
    "question": "Which?",
    "header": "Colour",
    "options": [{"label": "Blue", "description": "b"}, {"label": "Red", "description": "r"}],
    "multiSelect": False,
}
Decide = Callable[[str, dict[str, Any], Any], Awaitable[PermissionResultAllow | PermissionResultDeny]]
pytestmark = pytest.mark.anyio


async def ask(stage: Stage, turns: Turns, decide: Decide, **more: Any) -> ResultMessage:
    with stage.model(turns), anyio.fail_after(LIMIT):
        messages = await stage.ask("client", "go", stage.options(can_use_tool=decide, **more))
    assert isinstance(messages[-1], ResultMessage)
    assert stage.errors == []
    return messages[-1]


def told(stage: Stage, number: int) -> str:
    """What the model heard in a request."""
    assert stage.server is not None
    return str(json.loads(stage.server.requests[number].body)["messages"][-1]["content"])


def update(**fields: Any) -> PermissionUpdate:
    return PermissionUpdate.from_dict({"destination": "session", **fields})


async def test_an_approved_plan_ends_the_mode(stage: Stage) -> None:
    asked: list[tuple[str, dict[str, Any]]] = []

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append((name, input))
        return PermissionResultAllow()

    turns: Turns = [calls("ExitPlanMode", PLAN), calls("Write", WRITE), SAID]
    await ask(stage, turns, decide, permission_mode="plan")
    assert [name for name, _ in asked] == ["ExitPlanMode", "Write"]
    assert asked[0][1]["plan"] == PLAN["plan"]
    assert "approved" in told(stage, 1)
    assert (stage.project / "a.txt").exists()
    assert stage.frames("system/status")[-1]["permissionMode"] == "default"


async def test_a_plan_that_the_user_edited_is_the_one_to_carry_out(stage: Stage) -> None:
    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        assert name == "ExitPlanMode"
        mode = update(type="setMode", mode="acceptEdits")
        return PermissionResultAllow(updated_input={"plan": "1. Write b.txt"}, updated_permissions=[mode])

    turns: Turns = [calls("ExitPlanMode", PLAN), calls("Write", WRITE), SAID]
    await ask(stage, turns, decide, permission_mode="plan")
    assert "b.txt" in told(stage, 1)
    assert "a.txt" not in told(stage, 1)
    assert (stage.project / "a.txt").exists()
    assert stage.frames("system/status")[-1]["permissionMode"] == "acceptEdits"


async def test_an_approved_plan_leads_back_to_the_mode_before_it(stage: Stage) -> None:
    asked: list[str] = []

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(name)
        return PermissionResultAllow()

    turns: Turns = [calls("EnterPlanMode", {}), calls("ExitPlanMode", PLAN), calls("Write", WRITE), SAID]
    await ask(stage, turns, decide, permission_mode="acceptEdits")
    assert asked == ["ExitPlanMode"]
    assert [one["permissionMode"] for one in stage.frames("system/status")] == ["plan", "acceptEdits"]


async def test_a_refused_plan_goes_on_with_the_words_of_the_user(stage: Stage) -> None:
    asked: list[str] = []

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultDeny:
        asked.append(name)
        return PermissionResultDeny(message="First read the tests.")

    result = await ask(stage, [calls("ExitPlanMode", PLAN), SAID], decide, permission_mode="plan")
    assert asked == ["ExitPlanMode"]
    assert "First read the tests." in told(stage, 1)
    assert stage.frames("system/status") == []
    assert [one["tool_name"] for one in result.permission_denials or ()] == ["ExitPlanMode"]


async def test_questions_are_declined_with_the_words_of_the_user(stage: Stage) -> None:
    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultDeny:
        assert input["questions"][0]["question"] == "Which?"
        return PermissionResultDeny(message="Ask me tomorrow.")

    await ask(stage, [calls("AskUserQuestion", {"questions": [QUESTION]}), SAID], decide)
    assert "Ask me tomorrow." in told(stage, 1)


async def test_several_answers_of_a_question(stage: Stage) -> None:
    question = QUESTION | {"multiSelect": True}

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        return PermissionResultAllow(updated_input={**input, "answers": {"Which?": ["Blue", "Red"]}})

    await ask(stage, [calls("AskUserQuestion", {"questions": [question]}), SAID], decide)
    assert "Blue" in told(stage, 1)
    assert "Red" in told(stage, 1)


async def test_rules_are_removed_and_replaced(stage: Stage) -> None:
    asked: list[str] = []
    rule = {"toolName": "Bash", "ruleContent": "touch *"}
    other = {"toolName": "Bash", "ruleContent": "mkdir *"}
    updates = {
        "touch a": update(type="addRules", behavior="allow", rules=[rule]),
        "rm -f x": update(type="removeRules", behavior="allow", rules=[rule]),
        "touch c": update(type="addRules", behavior="allow", rules=[rule]),
        "rm -f y": update(type="replaceRules", behavior="allow", rules=[other]),
    }

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(input["command"])
        return PermissionResultAllow(updated_permissions=[updates.pop(asked[-1])] if updates else None)

    commands = ["touch a", "touch b", "rm -f x", "touch c", "touch d", "rm -f y", "mkdir m", "touch e"]
    turns: Turns = [*(calls("Bash", {"command": one}) for one in commands), SAID]
    await ask(stage, turns, decide)
    assert asked == ["touch a", "rm -f x", "touch c", "rm -f y", "touch e"]
    assert all((stage.project / name).exists() for name in "abcde")


async def test_rules_in_a_settings_file_are_removed(stage: Stage) -> None:
    settings = stage.project / ".claude" / "settings.local.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"permissions": {"allow": ["Bash(touch *)", "Bash(mkdir *)"]}}))
    asked: list[str] = []

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(input["command"])
        gone = {"toolName": "Bash", "ruleContent": "touch *"}
        change = update(type="removeRules", behavior="allow", rules=[gone], destination="localSettings")
        return PermissionResultAllow(updated_permissions=[change])

    commands = ["touch a", "rm -f x", "touch b", "mkdir m"]
    turns: Turns = [*(calls("Bash", {"command": one}) for one in commands), SAID]
    await ask(stage, turns, decide, setting_sources=["project", "local"])
    assert asked == ["rm -f x", "touch b"]
    assert json.loads(settings.read_text())["permissions"]["allow"] == ["Bash(mkdir *)"]


async def test_directories_come_and_go(stage: Stage, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in "abc":
        (other / name).write_text(name)
    asked: list[str] = []
    kinds = {"a": "addDirectories", "x": "removeDirectories"}

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append(Path(input.get("file_path") or input["command"].split()[-1]).name)
        kind = kinds.pop(asked[-1], None)
        change = [] if kind is None else [update(type=kind, directories=[str(other)])]
        return PermissionResultAllow(updated_permissions=change)

    turns: Turns = [
        calls("Read", {"file_path": str(other / "a")}),
        calls("Read", {"file_path": str(other / "b")}),
        calls("Bash", {"command": "rm -f x"}),
        calls("Read", {"file_path": str(other / "c")}),
        SAID,
    ]
    await ask(stage, turns, decide)
    assert asked == ["a", "x", "c"]


@pytest.mark.parametrize("command", [3, ["touch", "a"], {"touch": "a"}, ""])
async def test_an_input_of_other_types_does_not_run(stage: Stage, command: Any) -> None:
    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        return PermissionResultAllow(updated_input={"command": command} if command else {})

    await ask(stage, [calls("Bash", {"command": "touch a"}), SAID], decide)
    assert "not valid" in told(stage, 1)
    assert not (stage.project / "a").exists()

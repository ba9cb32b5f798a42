"""The real claude-agent-sdk drives Checkrein through the 19 recorded scenarios: the same frames in the same
order, whatever they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import pytest
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultError,
    create_sdk_mcp_server,
    tool,
)

from conformance.sdk_stage import Stage, Turns, calls, warnings

DATA = Path(__file__).parent / "data" / "sdk-wire"
HELLO: Turns = [{"text": "Hello from the mock.", "chunk": 12}]
BASH = {"command": "touch zz", "description": "x"}
ECHO = {"command": "echo hi", "description": "x"}
SAID = {"text": "RESULT"}
LIMIT = 40.0
pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio", "trio"])]
both = pytest.mark.parametrize("api", ["query", "client"])


def recorded(name: str) -> dict[str, Any]:
    return json.loads((DATA / f"{name}.json").read_text())  # type: ignore[no-any-return]


async def play(
    stage: Stage, name: str, api: str, turns: Turns, caplog: Any, prompt: str = "go", **more: Any
) -> None:
    """One prompt, compared with its recording."""
    wanted = recorded(name)
    with stage.model(turns), anyio.fail_after(LIMIT):
        if api == "query" and wanted["exit"]:
            with pytest.raises(ResultError):
                await stage.ask(api, prompt, stage.options(**more))
        else:
            await stage.ask(api, prompt, stage.options(**more))
    check(stage, name, caplog)


def check(stage: Stage, name: str, caplog: Any) -> None:
    wanted = recorded(name)
    assert stage.kinds == wanted["frames"]
    assert [word for word in stage.argv[1:] if word.startswith("--")] == [
        word for word in wanted["argv"] if word.startswith("--")
    ]
    assert stage.errors == []
    assert warnings(caplog) == []


@both
async def test_01_hello(stage: Stage, api: str, caplog: Any) -> None:
    await play(stage, "01-hello", api, HELLO, caplog)


async def test_02_two_turns_with_partial_messages(stage: Stage, caplog: Any) -> None:
    with stage.model([*HELLO, *HELLO]), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(include_partial_messages=True)) as client:
            for prompt in ("one", "two"):
                await client.query(prompt)
                stage.messages += [message async for message in client.receive_response()]
            await stage.idle()
    check(stage, "02-hello-two-turns-partial", caplog)
    one, two = stage.frames("result")
    assert one["usage"]["output_tokens"] == two["usage"]["output_tokens"] > 0, "each turn has its own"
    (first,), (both_turns,) = (frame["modelUsage"].values() for frame in (one, two))
    assert both_turns["outputTokens"] == 2 * first["outputTokens"]


@both
async def test_03_the_host_allows_a_call(stage: Stage, api: str, caplog: Any) -> None:
    asked: list[Any] = []

    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        asked.append((name, input, context))
        return PermissionResultAllow()

    call = {"command": "touch zz && echo hi", "description": "x"}
    await play(stage, "03-can-use-tool-allow", api, [calls("Bash", call), SAID], caplog, can_use_tool=decide)
    name, input, context = asked[0]
    assert (name, input, context.display_name, context.description) == ("Bash", call, "Bash", "x")
    assert context.blocked_path == str(stage.project / "zz")
    rules, directories, mode = context.suggestions
    assert (rules.type, rules.destination) == ("addRules", "localSettings")
    assert [(one.tool_name, one.rule_content) for one in rules.rules] == [("Bash", "touch zz *")]
    assert (directories.type, directories.directories) == ("addDirectories", [str(stage.project)])
    assert (mode.type, mode.mode, mode.destination) == ("setMode", "acceptEdits", "session")
    assert (stage.project / "zz").exists()


@both
async def test_04_the_host_changes_the_input(stage: Stage, api: str, caplog: Any) -> None:
    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultAllow:
        return PermissionResultAllow(updated_input={**input, "command": "echo rewritten"})

    turns: Turns = [calls("Bash", BASH), {**SAID, "expect": {"tool_result": "rewritten"}}]
    await play(stage, "04-can-use-tool-updated-input", api, turns, caplog, can_use_tool=decide)
    assert not (stage.project / "zz").exists()


@both
async def test_05_the_host_refuses_a_call(stage: Stage, api: str, caplog: Any) -> None:
    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultDeny:
        return PermissionResultDeny(message="no thanks")

    turns: Turns = [calls("Bash", BASH), {**SAID, "expect": {"tool_result": "no thanks"}}]
    await play(stage, "05-can-use-tool-deny", api, turns, caplog, can_use_tool=decide)
    assert [one["tool_name"] for one in stage.frames("result")[0]["permission_denials"]] == ["Bash"]


@both
async def test_06_the_host_refuses_and_interrupts(stage: Stage, api: str, caplog: Any) -> None:
    async def decide(name: str, input: dict[str, Any], context: Any) -> PermissionResultDeny:
        return PermissionResultDeny(message="stop now", interrupt=True)

    turns: Turns = [calls("Bash", BASH)]
    await play(stage, "06-can-use-tool-deny-interrupt", api, turns, caplog, can_use_tool=decide)
    assert stage.frames("result")[0]["terminal_reason"] == "aborted_tools"


@both
async def test_07_hooks_for_every_event(stage: Stage, api: str, caplog: Any) -> None:
    seen: list[str] = []

    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        seen.append(payload["hook_event_name"])
        return {}

    events = {
        *("PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "PreCompact"),
        *("SubagentStart", "SubagentStop", "Notification", "PermissionRequest"),
    }
    hooks = {event: [HookMatcher(hooks=[hook])] for event in events}
    await play(
        stage,
        "07-hooks-all",
        api,
        [calls("Bash", ECHO), SAID],
        caplog,
        hooks=hooks,
        permission_mode="bypassPermissions",
    )
    assert seen == ["UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop"]


@both
async def test_08_a_hook_refuses_a_call(stage: Stage, api: str, caplog: Any) -> None:
    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        said = {"permissionDecision": "deny", "permissionDecisionReason": "blocked by hook"}
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **said}}

    turns: Turns = [calls("Bash", ECHO), {**SAID, "expect": {"tool_result": "blocked by hook"}}]
    hooks = {"PreToolUse": [HookMatcher(matcher="Bash", hooks=[hook])]}
    await play(stage, "08-hook-pretooluse-deny", api, turns, caplog, hooks=hooks)


@both
async def test_09_hooks_add_context(stage: Stage, api: str, caplog: Any) -> None:
    async def hook(payload: Any, tool_use_id: str | None, context: Any) -> dict[str, Any]:
        event = payload["hook_event_name"]
        return {"hookSpecificOutput": {"hookEventName": event, "additionalContext": f"extra {event}"}}

    hooks = {
        "UserPromptSubmit": [HookMatcher(hooks=[hook])],
        "PostToolUse": [HookMatcher(matcher="Bash", hooks=[hook], timeout=5)],
    }
    await play(
        stage,
        "09-hook-additional-context",
        api,
        [calls("Bash", ECHO), SAID],
        caplog,
        hooks=hooks,
        permission_mode="bypassPermissions",
    )
    assert stage.server is not None
    last = stage.server.requests[-1].body.decode()
    assert "extra UserPromptSubmit" in last
    assert "extra PostToolUse" in last


@tool("add", "Add two numbers", {"a": float, "b": float})
async def add(input: dict[str, Any]) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": str(input["a"] + input["b"])}]}


@tool("boom", "Always fails", {"x": str})
async def boom(input: dict[str, Any]) -> dict[str, Any]:
    raise ValueError("it broke")


@both
@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("10-sdk-mcp-tool", calls("mcp__calc__add", {"a": 2, "b": 3})),
        ("11-sdk-mcp-tool-error", calls("mcp__calc__boom", {"x": "y"})),
    ],
)
async def test_10_11_servers_of_the_host(
    stage: Stage, name: str, call: dict[str, Any], api: str, caplog: Any
) -> None:
    server = create_sdk_mcp_server("calc", "1.0.0", [add, boom])
    with stage.model([call, SAID]), anyio.fail_after(LIMIT):
        allowed = [call["tool_calls"][0]["name"]]
        await stage.ask(api, "go", stage.options(mcp_servers={"calc": server}, allowed_tools=allowed))
    assert _timeless(stage.kinds) == _timeless(recorded(name)["frames"])
    assert (stage.errors, warnings(caplog)) == ([], [])
    assert stage.frames("system/init")[0]["mcp_servers"][0]["status"] == "connected"


def _timeless(kinds: list[str]) -> list[str]:
    """The second message to a server may come before or after the beginning of the turn: the two recordings
    differ in it."""
    running = "system/session_state_changed/running"
    return [one for one in kinds if one != running]


async def test_12_control_requests(stage: Stage, caplog: Any) -> None:
    turns: Turns = [{**HELLO[0], "expect": {"model": "claude-mock-2"}}]
    with stage.model(turns), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options()) as client:
            await client.set_permission_mode("acceptEdits")
            await client.set_model("claude-mock-2")
            assert await client.get_mcp_status() == {"mcpServers": []}
            usage = await client.get_context_usage()
            await client.query("HELLO")
            stage.messages = [message async for message in client.receive_response()]
            await stage.idle()
    assert usage["totalTokens"] > 0
    assert sum(one["tokens"] for one in usage["categories"]) == usage["rawMaxTokens"]
    init = stage.frames("system/init")[0]
    assert (init["model"], init["permissionMode"]) == ("claude-mock-2", "acceptEdits")
    check(stage, "12-control-requests", caplog)


async def test_13_interrupt(stage: Stage, caplog: Any) -> None:
    turns: Turns = [calls("Bash", {"command": "sleep 20", "description": "x"}), *HELLO]
    with stage.model(turns), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(permission_mode="bypassPermissions")) as client:
            await client.query("go")
            async for message in client.receive_response():
                if "tool_use" in stage.kinds[-1]:
                    await anyio.sleep(0.3)
                    await client.interrupt()
                stage.messages.append(message)
            await client.query("HELLO again")
            stage.messages += [message async for message in client.receive_response()]
            await stage.idle()
    check(stage, "13-interrupt", caplog)
    assert [one["is_error"] for one in stage.frames("result")] == [True, False]


@both
async def test_14_structured_output(stage: Stage, api: str, caplog: Any) -> None:
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    await play(
        stage,
        "14-structured-output",
        api,
        [calls("StructuredOutput", {"answer": "42"})],
        caplog,
        output_format={"type": "json_schema", "schema": schema},
    )
    assert stage.frames("result")[0]["structured_output"] == {"answer": "42"}


async def test_15_a_subagent_in_the_background(stage: Stage, caplog: Any) -> None:
    helper = AgentDefinition(description="helps", prompt="You help.", tools=["Read"], model="haiku")
    input = {"description": "d", "prompt": "HELLO sub", "subagent_type": "helper"}
    turns: Turns = [
        calls("Agent", input),
        {"text": "Hello from the mock.", "when": {"system": "You help."}, "delay": 0.5},
        {"text": "Launched.", "delay": 2.0},
        {"text": "Done."},
    ]
    with stage.model(turns), anyio.fail_after(LIMIT), stage.listening():
        options = stage.options(agents={"helper": helper}, permission_mode="bypassPermissions")
        async with ClaudeSDKClient(options) as client:
            await client.query("go")
            for _ in range(2):
                stage.messages += [message async for message in client.receive_response()]
            await stage.idle()
    check(stage, "15-subagent", caplog)
    assert stage.frames("result")[1]["origin"]["kind"] == "task-notification"
    assert [one["num_turns"] for one in stage.frames("result")] == [2, 1]
    assert "helper" in stage.frames("system/init")[0]["agents"]


@both
async def test_16_max_turns(stage: Stage, api: str, caplog: Any) -> None:
    await play(
        stage,
        "16-max-turns",
        api,
        [calls("Bash", ECHO)],
        caplog,
        max_turns=1,
        permission_mode="bypassPermissions",
    )


async def test_17_files_are_read_written_and_edited(stage: Stage, caplog: Any) -> None:
    (stage.project / "a.txt").write_text("alpha\n")
    turns: Turns = [
        calls("Read", {"file_path": "a.txt"}),
        SAID,
        calls("Write", {"file_path": "b.txt", "content": "beta\n"}),
        SAID,
    ]
    with stage.model(turns), anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(permission_mode="acceptEdits")) as client:
            for prompt in ("read", "write"):
                await client.query(prompt)
                stage.messages += [message async for message in client.receive_response()]
            await stage.idle()
    check(stage, "17-read-write-edit", caplog)
    assert (stage.project / "b.txt").read_text() == "beta\n"


@both
async def test_18_all_skills(stage: Stage, api: str, caplog: Any) -> None:
    await play(stage, "18-skills-all", api, HELLO, caplog, skills="all")


@both
async def test_19_file_checkpoints(stage: Stage, api: str, caplog: Any) -> None:
    turns: Turns = [calls("Write", {"file_path": "b.txt", "content": "beta\n"}), SAID]
    await play(
        stage,
        "19-file-checkpointing",
        api,
        turns,
        caplog,
        permission_mode="acceptEdits",
        enable_file_checkpointing=True,
        extra_args={"replay-user-messages": None},
    )

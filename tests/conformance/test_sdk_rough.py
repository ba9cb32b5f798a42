"""Programs on the claude-agent-sdk that behave badly: functions that hang or return nonsense, many interrupts
at once, requests that can't be met. The session answers, and its next prompt works."""

from __future__ import annotations

from typing import Any

import anyio
import pytest
from claude_agent_sdk import (
    ClaudeSDKClient,
    HookMatcher,
    ResultError,
    ResultMessage,
    UserMessage,
    create_sdk_mcp_server,
    tool,
)

from conformance.sdk_stage import Stage, Turns, calls

LIMIT = 60.0
TOUCH = calls("Bash", {"command": "touch zz", "description": "x"})
AFTER = {"text": "after"}
pytestmark = pytest.mark.anyio


async def finished(client: ClaudeSDKClient) -> ResultMessage:
    *_, last = [message async for message in client.receive_response()]
    assert isinstance(last, ResultMessage)
    return last


@pytest.mark.parametrize(
    ("where", "anyio_backend"), [("hook", "trio"), ("can_use_tool", "asyncio"), ("tool", "trio")]
)
async def test_ten_interrupts_while_a_function_hangs(stage: Stage, where: str) -> None:
    asked = anyio.Event()

    async def hang(*given: Any) -> Any:
        asked.set()
        await anyio.sleep_forever()

    turns: Turns = [TOUCH, AFTER]
    options: dict[str, Any] = {"can_use_tool": hang}
    if where == "hook":
        options = {"hooks": {"PreToolUse": [HookMatcher(hooks=[hang])]}}
        options["permission_mode"] = "bypassPermissions"
    elif where == "tool":
        turns[0] = calls("mcp__own__hang", {})
        server = create_sdk_mcp_server("own", tools=[tool("hang", "Hangs.", {})(hang)])
        options = {"mcp_servers": {"own": server}, "allowed_tools": ["mcp__own__hang"]}
    with stage.model(turns), anyio.fail_after(LIMIT):
        async with ClaudeSDKClient(stage.options(**options)) as client:
            await client.query("go")
            await asked.wait()
            async with anyio.create_task_group() as group:
                for _ in range(10):
                    group.start_soon(client.interrupt)
            cut = await finished(client)
            assert (cut.subtype, cut.is_error) == ("error_during_execution", True)
            await client.query("go on")
            assert (await finished(client)).result == "after"
    assert not (stage.project / "zz").exists()
    assert stage.errors == []


async def test_tools_of_the_program_that_return_nonsense(stage: Stage) -> None:
    async def boom(given: dict[str, Any]) -> Any:
        raise RuntimeError("kaboom")

    async def junk(given: dict[str, Any]) -> Any:
        return {"content": "not a list"}

    async def nothing(given: dict[str, Any]) -> Any:
        return None

    own = [tool(one.__name__, "x", {})(one) for one in (boom, junk, nothing)]
    names = ["boom", "junk", "nothing", "missing"]
    turns: Turns = [*(calls(f"mcp__own__{name}", {}) for name in names), AFTER]
    with stage.model(turns), anyio.fail_after(LIMIT):
        servers = {"own": create_sdk_mcp_server("own", tools=own)}
        options = stage.options(mcp_servers=servers, allowed_tools=["mcp__own"])
        async with ClaudeSDKClient(options) as client:
            await client.query("go")
            messages = [message async for message in client.receive_response()]
    results = [one.content[0] for one in messages if isinstance(one, UserMessage)]
    assert [getattr(one, "is_error", None) for one in results] == [True] * 4
    assert "kaboom" in str(results[0])
    assert getattr(messages[-1], "result", None) == "after"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"resume": "00000000-0000-4000-8000-000000000000"}, "No conversation found"),
        ({"settings": "/nowhere/settings.json"}, "can't be read"),
        ({"output_format": {"type": "json_schema", "schema": {"type": 5}}}, "not valid"),
    ],
)
async def test_a_session_that_cannot_begin_ends_with_its_reason(
    stage: Stage, wrong: dict[str, Any], words: str
) -> None:
    with stage.model([]), anyio.fail_after(LIMIT):
        for api in ("query", "client"):
            with pytest.raises(ResultError, match=words) as raised:
                await stage.ask(api, "go", stage.options(**wrong))
            assert (raised.value.subtype, bool(raised.value.exit_code)) == ("error_during_execution", True)


async def test_requests_of_no_known_form_are_errors_and_nothing_else(stage: Stage) -> None:
    requests: list[dict[str, Any]] = [
        {},
        {"subtype": None},
        {"subtype": "set_model", "model": {"a": 1}},
        {"subtype": "set_permission_mode", "mode": ["plan"]},
        {"subtype": "set_max_thinking_tokens", "max_thinking_tokens": "many"},
        {"subtype": "apply_flag_settings", "settings": []},
        {"subtype": "read_file", "path": {"a": 1}},
        {"subtype": "mcp_set_servers", "servers": []},
        {"subtype": "rewind_files"},
        {"subtype": "stop_task", "task_id": 3},
        {"subtype": "register_repo_root"},
    ]
    with stage.model([AFTER]), anyio.fail_after(LIMIT):
        async with ClaudeSDKClient(stage.options()) as client:
            assert client._query is not None
            for request in requests:
                with pytest.raises(Exception, match=r"."):
                    await client._query._send_control_request(request)
            assert await client._query._send_control_request({"subtype": "end_user_input"}) == {}
            await client.query("go")
            assert (await finished(client)).result == "after"

"""Servers of a program on the real claude-agent-sdk: tools in its process, and its hands on all servers."""

from __future__ import annotations

import base64
import json
from typing import Any

import anyio
import pytest
from claude_agent_sdk import ClaudeSDKClient, create_sdk_mcp_server, tool

from conformance.sdk_stage import Stage, calls, warnings

LIMIT = 40.0
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000c4944415408d763f8cfc00000030101"
        "00c9fe92ef0000000049454e44ae426082"
    )
).decode()
pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def calc() -> Any:
    @tool("add", "Adds", {"a": int, "b": int})
    async def add(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": str(given["a"] + given["b"])}]}

    @tool("picture", "Paints", {})
    async def picture(given: dict[str, Any]) -> dict[str, Any]:
        image = {"type": "image", "data": PIXEL, "mimeType": "image/png"}
        return {"content": [{"type": "text", "text": "look:"}, image]}

    @tool("crash", "Raises", {})
    async def crash(given: dict[str, Any]) -> dict[str, Any]:
        raise RuntimeError("out of paper")

    @tool("refuse", "Fails", {})
    async def refuse(given: dict[str, Any]) -> dict[str, Any]:
        return {"content": [{"type": "text", "text": "no"}], "is_error": True}

    return create_sdk_mcp_server("calc", tools=[add, picture, crash, refuse])


async def test_results_of_every_kind_reach_the_model(stage: Stage, caplog: Any) -> None:
    turns = [
        calls("mcp__calc__add", {"a": 2, "b": 3}),
        {**calls("mcp__calc__picture", {}), "expect": {"tool_result": "5"}},
        {**calls("mcp__calc__crash", {}), "expect": {"tool_result": "look:"}},
        {**calls("mcp__calc__refuse", {}), "expect": {"tool_result": "out of paper"}},
        {**calls("mcp__calc__add", {"a": "x", "b": 3}), "expect": {"tool_result": "no"}},
        {"text": "Done."},
    ]
    more = {"mcp_servers": {"calc": calc()}, "allowed_tools": ["mcp__calc"]}
    with stage.model(turns) as server, anyio.fail_after(LIMIT):
        await stage.ask("query", "go", stage.options(**more))
        assert server.failures == []
    results = [frame["message"]["content"][0] for frame in stage.frames("user/tool_result")]
    assert [one.get("is_error", False) for one in results] == [False, False, True, True, True]
    kinds = [block["type"] for block in results[1]["content"]]
    assert kinds == ["text", "image"]
    seen = [frame["tool_use_result"] for frame in stage.frames("user/tool_result")]
    assert results[0]["content"] == seen[0] == [{"type": "text", "text": "5"}]
    assert (results[3]["content"], seen[3]) == ("no", "Error: no")
    assert stage.errors == []
    assert warnings(caplog) == []


async def test_status_reconnect_and_toggle(stage: Stage) -> None:
    turns = [
        {"text": "1"},
        {"text": "2"},
        calls("mcp__calc__add", {"a": 2, "b": 3}),
        {"text": "3", "expect": {"tool_result": "5"}},
    ]
    more = {"mcp_servers": {"calc": calc()}, "allowed_tools": ["mcp__calc"]}
    with stage.model(turns) as server, anyio.fail_after(LIMIT), stage.listening():
        async with ClaudeSDKClient(stage.options(**more)) as client:

            async def turn() -> list[str]:
                await client.query("go")
                async for _ in client.receive_response():
                    pass
                return list(stage.frames("system/init")[-1]["tools"])

            assert "mcp__calc__add" in await turn()
            (row,) = (await client.get_mcp_status())["mcpServers"]
            assert (row["name"], row["status"]) == ("calc", "connected")
            assert [one["name"] for one in row["tools"]] == ["add", "picture", "crash", "refuse"]
            await client.toggle_mcp_server("calc", enabled=False)
            assert "mcp__calc__add" not in await turn()
            (row,) = (await client.get_mcp_status())["mcpServers"]
            assert row["status"] == "disabled"
            await client.toggle_mcp_server("calc", enabled=True)
            await client.reconnect_mcp_server("calc")
            assert "mcp__calc__add" in await turn()
            for act in (client.reconnect_mcp_server("x"), client.toggle_mcp_server("x", enabled=True)):
                with pytest.raises(Exception, match="Server not found: x"):
                    await act
        assert server.failures == []


@pytest.mark.parametrize("verdict", ["allow", "deny"])
async def test_a_tool_of_the_program_answers_for_the_user(stage: Stage, verdict: str, caplog: Any) -> None:
    asked: list[dict[str, Any]] = []

    @tool("decide", "Decides", {"tool_name": str, "input": dict, "tool_use_id": str})
    async def decide(given: dict[str, Any]) -> dict[str, Any]:
        asked.append(given)
        told = {"behavior": "deny", "message": "not today"}
        if verdict == "allow":
            told = {"behavior": "allow", "updatedInput": {**given["input"], "command": "touch changed"}}
        return {"content": [{"type": "text", "text": json.dumps(told)}]}

    turns = [calls("Bash", {"command": "touch made", "description": "x"}), {"text": "Done."}]
    more = {
        "mcp_servers": {"guard": create_sdk_mcp_server("guard", tools=[decide])},
        "permission_prompt_tool_name": "mcp__guard__decide",
    }
    with stage.model(turns), anyio.fail_after(LIMIT):
        await stage.ask("query", "go", stage.options(**more))
    assert [one["tool_name"] for one in asked] == ["Bash"]
    assert asked[0]["input"]["command"] == "touch made"
    assert (stage.project / "changed").exists() is (verdict == "allow")
    assert not (stage.project / "made").exists()
    (result,) = (frame["message"]["content"][0] for frame in stage.frames("user/tool_result"))
    assert ("not today" in str(result)) is (verdict == "deny")
    assert "mcp__guard__decide" not in stage.frames("system/init")[0]["tools"]
    assert warnings(caplog) == []

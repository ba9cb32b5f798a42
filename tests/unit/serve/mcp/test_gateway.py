"""The gateway: everything of the servers behind it passes, and the rules judge every call."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from checkrein.runtime.store.past_calls import past_calls, transcripts_of
from support.files import lay
from support.full_server import entry
from support.mcp_guests import Guest, text

Visit = Callable[..., Any]
ALLOWED = {"allowed": ("mcp__full", "mcp__other")}


@pytest.fixture
def full(tmp_path: Path, project: Path) -> None:
    """Two servers of the user, `full` and `other`."""
    servers = {name: entry(tmp_path, name) for name in ("full", "other")}
    lay(Path.home(), {".claude.json": {"mcpServers": servers}})


pytestmark = pytest.mark.usefixtures("full")


def test_tools_pass_with_their_names_and_declarations(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        tools = {tool.name: tool for tool in (await guest.client.list_tools()).tools}
        assert list(tools) == ["echo", "rich", "fail", "noisy", "sample", "elicit", "grow", "touch"]
        assert tools["echo"].title == "Echo"
        assert tools["echo"].description == "echo of full"
        assert tools["echo"].annotations is not None
        assert text(await guest.call("echo", a=[1], b="2")) == '{"a": [1], "b": "2"}'
        rich = await guest.call("rich")
        assert [one.type for one in rich.content] == ["image", "audio", "resource"]
        assert rich.structured_content == {"n": 1}
        assert rich.meta == {"x/y": 2}
        failed = await guest.call("fail")
        assert failed.is_error
        assert text(failed) == "it broke"
        assert (await guest.call("nothing")).is_error

    visit(talk, through=("full",), options=ALLOWED)


def test_two_servers_share_a_gateway(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        names = await guest.names()
        assert "echo" in names
        assert "other__echo" in names
        tools = {tool.name: tool for tool in (await guest.client.list_tools()).tools}
        assert tools["other__echo"].description == "echo of other"
        assert [one.name for one in (await guest.client.list_prompts()).prompts] == ["greet", "other__greet"]

    visit(talk, through=("full", "other"), options=ALLOWED)


def test_instructions_of_each_server_pass_with_its_name(visit: Visit) -> None:
    async def talk(guest: Guest) -> str | None:
        return guest.client.instructions

    said = visit(talk, through=("full", "other"), options=ALLOWED)
    assert said == (
        "Instructions of the MCP server full:\nCall full \\x1b[2Jfirst.\n\n"
        "Instructions of the MCP server other:\nCall other \\x1b[2Jfirst."
    )


@pytest.mark.project({".claude/settings.json": {"permissions": {"deny": ["mcp__full"]}}})
def test_a_denied_server_says_nothing(visit: Visit) -> None:
    async def talk(guest: Guest) -> str | None:
        return guest.client.instructions

    said = visit(talk, through=("full", "other"), options=ALLOWED)
    assert said == "Instructions of the MCP server other:\nCall other \\x1b[2Jfirst."


def test_a_slow_server_does_not_hold_the_handshake_up(visit: Visit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrein.serve.mcp.gateway._GREETING", 0.0)

    async def talk(guest: Guest) -> None:
        assert guest.client.instructions is None
        assert "echo" in await guest.names(), "the first request waits for it"

    visit(talk, through=("full",), options=ALLOWED)


def test_a_server_that_is_not_there_says_nothing(visit: Visit) -> None:
    gone = {"gone": {"command": "/nowhere/at/all"}, "full": {"command": "/nowhere/either"}}
    lay(Path.home(), {".claude.json": {"mcpServers": gone}})

    async def talk(guest: Guest) -> None:
        assert guest.client.instructions is None
        assert await guest.names() == []

    visit(talk, through=("gone", "full"), options=ALLOWED)


def test_resources_prompts_and_completion_pass(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        client = guest.client
        found = (await client.list_resources()).resources
        assert [(one.uri, one.size) for one in found] == [("mem://a", 1)]
        templates = (await client.list_resource_templates()).resource_templates
        assert [one.uri_template for one in templates] == ["mem://t/{id}"]
        for uri in ("mem://a", "mem://t/7"):
            read = (await client.read_resource(uri)).contents[0]
            assert isinstance(read, types.TextResourceContents)
            assert read.text == f"full {uri}"
        with pytest.raises(MCPError, match="no such resource"):
            await client.read_resource("mem://none")
        prompt = await client.get_prompt("greet", {"who": "you"})
        assert isinstance(prompt.messages[0].content, types.TextContent)
        assert prompt.messages[0].content.text == "Hello you"
        with pytest.raises(MCPError, match="nowhere"):
            await client.get_prompt("nowhere", {})
        reference = types.PromptReference(type="ref/prompt", name="greet")
        done = await client.complete(reference, {"name": "who", "value": "y"})
        assert done.completion.values == ["y!"]

    visit(talk, through=("full",), options=ALLOWED)


def test_subscriptions_and_changed_lists_are_told(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        await guest.client.session.send_request(
            types.SubscribeRequest(params=types.SubscribeRequestParams(uri="mem://a")), types.EmptyResult
        )
        await guest.call("touch")
        await _until(guest, types.ResourceUpdatedNotification)
        await guest.call("grow")
        await _until(guest, types.ToolListChangedNotification)
        assert "grown" in await guest.names()
        assert guest.asked == []
        assert "unknown tool" in text(await guest.call("grown")), "the server is asked"
        assert len(guest.asked) == 1, "nobody has approved this tool yet"

    visit(talk, says="allow", through=("full",), options=ALLOWED)


async def _until(guest: Guest, kind: type[Any]) -> None:
    import asyncio

    async with asyncio.timeout(20):
        while not any(isinstance(one, kind) for one in guest.heard):
            await asyncio.sleep(0.01)


def test_progress_and_logs_come_before_the_answer(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        steps: list[Any] = []

        async def moved(done: float, total: float | None, message: str | None) -> None:
            steps.append((done, total, message))

        await guest.client.call_tool("noisy", {}, progress_callback=moved)
        said = [one.params.data for one in guest.heard if isinstance(one, types.LoggingMessageNotification)]
        assert steps == [(1, 2, "at 1"), (2, 2, "at 2")]
        assert said == [{"step": 1}, {"step": 2}], "debug is below the client's level"
        level = types.SetLevelRequest(params=types.SetLevelRequestParams(level="error"))
        await guest.client.session.send_request(level, types.EmptyResult)
        guest.heard.clear()
        await guest.call("noisy")
        assert not [one for one in guest.heard if isinstance(one, types.LoggingMessageNotification)]

    visit(talk, through=("full",), options=ALLOWED)


def test_a_server_asks_the_clients_model_and_its_user(visit: Visit) -> None:
    async def sampled(context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
        said = types.TextContent(type="text", text="sampled")
        return types.CreateMessageResult(role="assistant", content=said, model="m")

    async def elicited(context: Any, params: Any) -> types.ElicitResult:
        assert params.message == "Who?"
        return types.ElicitResult(action="accept", content={"name": "me"})

    async def talk(guest: Guest) -> None:
        assert json.loads(text(await guest.call("sample")))["content"]["text"] == "sampled"
        assert json.loads(text(await guest.call("elicit"))) == {"action": "accept", "content": {"name": "me"}}

    visit(
        talk,
        through=("full",),
        options=ALLOWED,
        client={"sampling_callback": sampled, "elicitation_callback": elicited},
    )


def test_a_client_that_can_not_be_asked_declines(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        assert json.loads(text(await guest.call("elicit"))) == {"action": "decline"}
        assert "error" in text(await guest.call("sample"))

    visit(talk, through=("full",), options=ALLOWED)


RULES = {".claude/settings.json": {"permissions": {"deny": ["mcp__full__fail"], "ask": ["mcp__full__rich"]}}}


@pytest.mark.project(RULES)
def test_rules_hide_refuse_and_ask(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        assert "fail" not in await guest.names()
        assert (await guest.call("fail")).is_error
        assert "it broke" not in text(await guest.call("fail"))
        asked = await guest.call("rich")
        assert asked.is_error is False
        assert len(guest.asked) == 1

    visit(talk, says="allow", through=("full",), options=ALLOWED)


def test_without_a_rule_a_call_asks_and_nobody_means_no(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        refused = await guest.call("echo", a=1)
        assert refused.is_error
        assert '"a"' not in text(refused)

    visit(talk, through=("full",))


@pytest.mark.project({".claude/settings.json": {"permissions": {"deny": ["mcp__full"]}}})
def test_a_denied_server_has_nothing(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        assert await guest.names() == []
        assert (await guest.client.list_resources()).resources == []
        assert (await guest.client.list_prompts()).prompts == []
        with pytest.raises(MCPError):
            await guest.client.read_resource("mem://a")
        with pytest.raises(MCPError):
            await guest.client.get_prompt("greet", {"who": "x"})
        reference = types.ResourceTemplateReference(type="ref/resource", uri="mem://t/{id}")
        with pytest.raises(MCPError):
            await guest.client.complete(reference, {"name": "id", "value": "y"})

    visit(talk, through=("full",), options=ALLOWED)


def _hook(answer: dict[str, Any], event: str, matcher: str) -> dict[str, Any]:
    said = json.dumps({"hookSpecificOutput": {"hookEventName": event, **answer}})
    hooks = [{"type": "command", "command": f"echo '{said}'"}]
    return {".claude/settings.json": {"hooks": {event: [{"matcher": matcher, "hooks": hooks}]}}}


@pytest.mark.project(_hook({"updatedInput": {"a": "other"}}, "PreToolUse", "mcp__full__echo"))
def test_a_hook_rewrites_the_input(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        assert text(await guest.call("echo", a=1)) == '{"a": "other"}'

    visit(talk, through=("full",), options={**ALLOWED, "trust": True})


@pytest.mark.project(_hook({"updatedMCPToolOutput": "replaced"}, "PostToolUse", "mcp__full__.*"))
def test_a_hook_rewrites_the_output(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        assert "replaced" in text(await guest.call("echo", a=1))
        assert '"a"' not in text(await guest.call("echo", a=1))

    visit(talk, through=("full",), options={**ALLOWED, "trust": True})


EFFECTS = {
    "checkrein.toml": '[mcp.effects.full]\necho = "exec:command"\n',
    ".claude/settings.json": {"permissions": {"deny": ["Bash(rm *)"]}},
}


@pytest.mark.project(EFFECTS)
def test_declared_effects_are_judged(visit: Visit) -> None:
    async def talk(guest: Guest) -> None:
        refused = await guest.call("echo", command="rm -rf /")
        assert refused.is_error
        assert "Bash(rm *)" in text(refused)
        assert not (await guest.call("echo", command="ls")).is_error

    visit(talk, through=("full",), options={**ALLOWED, "trust": True})


def test_secrets_in_answers_are_masked(visit: Visit) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6" * 3

    async def talk(guest: Guest) -> None:
        assert secret not in text(await guest.call("echo", a=secret))

    visit(talk, through=("full",), options=ALLOWED)


def test_a_server_that_does_not_start_is_named(visit: Visit, project: Path) -> None:
    lay(Path.home(), {".claude.json": {"mcpServers": {"broken": {"command": "false"}}}})

    async def talk(guest: Guest) -> None:
        assert await guest.names() == []
        refused = await guest.call("echo")
        assert refused.is_error
        assert "broken is failed" in text(refused)

    visit(talk, through=("broken",))


def test_an_audit_knows_what_a_client_called_and_what_its_user_refused(visit: Visit, project: Path) -> None:
    async def talk(guest: Guest) -> None:
        assert (await guest.call("echo", a=1)).is_error

    visit(talk, says="deny", through=("full",))
    visit(talk, through=("full",))
    found = past_calls(transcripts_of(str(project), os.environ), str(project), within=True).calls
    assert {one.call.tool for one in found} == {"mcp__full__echo"}
    assert sorted(one.fate for one in found) == ["denied", "refused"]

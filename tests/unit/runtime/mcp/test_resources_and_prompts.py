"""Resources and prompts of servers: listed, read, named in a prompt, typed as commands."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import CheckreinError, NotFoundError, PolicyError, UsageError
from checkrein.llm.port import Base64, Cancel, Image, Text
from checkrein.policy.values import Mode
from checkrein.runtime.mcp.connection import (
    Catalog,
    PromptMessage,
    RemoteArgument,
    RemotePrompt,
    RemoteResource,
)
from checkrein.runtime.mcp.fake_connection import FakeConnection
from checkrein.runtime.mcp.prompts import PromptCommands
from checkrein.runtime.mcp.resource_tools import resource_mentions, resource_tools
from checkrein.runtime.process.fake import FakeSpawner
from checkrein.runtime.session.events import Notice
from support.calls import Rig, make_gate

PNG = b64encode(b"\x89PNG...").decode()
SECRET = "ghp_" + "a1B2c3D4" * 4 + "e5F6"
DOCS = FakeConnection(
    "docs",
    Catalog(
        resources=(RemoteResource(uri="docs://a", name="A", description="first", mime_type="text/plain"),)
    ),
    contents={
        "docs://a": ({"uri": "docs://a", "text": f"the text, {SECRET}"},),
        "docs://pic": ({"uri": "docs://pic", "blob": PNG, "mimeType": "image/png"},),
        "docs://none": (),
    },
)
PLUGIN = FakeConnection(
    "plugin:p:my docs",
    Catalog(resources=(RemoteResource(uri="x://{id}", name="X", template=True),)),
    contents={"x://1": ({"uri": "x://1", "text": "one"},)},
)
GONE = FakeConnection("gone", Catalog(resources=(RemoteResource(uri="g://a", name="G"),)), state="failed")


def text(role: str, said: str) -> PromptMessage:
    return PromptMessage(role=role, content={"type": "text", "text": said})


ASK = FakeConnection(
    "my server",
    Catalog(
        prompts=(
            RemotePrompt(
                name="fix it",
                description="Fix an issue",
                arguments=(
                    RemoteArgument(name="issue", required=True, description="its number"),
                    RemoteArgument(name="how"),
                ),
            ),
            RemotePrompt(name="plain"),
            RemotePrompt(name="empty"),
        )
    ),
    messages={
        "fix it": (text("user", f"Fix it @.env {SECRET}"), text("assistant", "I will.")),
        "plain": (
            PromptMessage(role="user", content={"type": "image", "data": PNG, "mimeType": "image/png"}),
        ),
        "empty": (),
    },
)
Make = Callable[..., Rig]


@pytest.fixture
def at(project: Path) -> Iterator[Make]:
    made: list[Rig] = []

    def make(*rules: str, mode: Mode = "default", tools: Any = ()) -> Rig:
        gate = make_gate(*rules, mode=mode, root=str(project))
        made.append(Rig(project, gate, FakeSpawner(), tools=tools))
        return made[-1]

    yield make
    for one in made:
        one.close()


def servers() -> list[FakeConnection]:
    return [DOCS, PLUGIN, GONE]


def test_the_tools_exist_when_a_connected_server_has_resources() -> None:
    assert [tool.name for tool in resource_tools(servers)] == ["ListMcpResourcesTool", "ReadMcpResourceTool"]
    assert resource_tools(lambda: [GONE, ASK]) == ()
    assert resource_tools(list) == ()


def test_resources_are_listed(at: Make) -> None:
    one = at(tools=resource_tools(servers))
    rows = one.call("ListMcpResourcesTool").finished.structured
    assert [(row["server"], row["uri"]) for row in rows] == [
        ("docs", "docs://a"),
        ("plugin:p:my docs", "x://{id}"),
    ]
    assert rows[0]["mimeType"] == "text/plain"
    [row] = one.call("ListMcpResourcesTool", server="plugin_p_my_docs").finished.structured
    assert row["template"] is True
    missing = one.call("ListMcpResourcesTool", server="gone").finished
    assert missing.is_error
    assert "Connected: docs" in missing.content


def test_a_resource_is_read_through_the_gate(at: Make) -> None:
    one = at(tools=resource_tools(servers))
    content = one.call("ReadMcpResourceTool", server="docs", uri="docs://a").finished.content
    assert "the text" in content
    assert SECRET not in content
    [image] = one.call("ReadMcpResourceTool", server="docs", uri="docs://pic").finished.content
    assert image == Image(Base64("image/png", PNG))
    assert "empty" in one.call("ReadMcpResourceTool", server="docs", uri="docs://none").finished.content
    failed = one.call("ReadMcpResourceTool", server="docs", uri="docs://b").finished
    assert failed.is_error
    assert "no resource docs://b" in failed.content


@pytest.mark.parametrize("rule", ["mcp__docs", "mcp__docs__*", "mcp__*", "ReadMcpResourceTool"])
def test_a_rule_on_the_server_binds_its_resources(at: Make, rule: str) -> None:
    one = at(f"deny {rule}", mode="bypassPermissions", tools=resource_tools(servers))
    assert one.call("ReadMcpResourceTool", server="docs", uri="docs://a").finished.is_error
    attached = resource_mentions("see @docs:docs://a", servers, one.host, Cancel(), one.told.append)
    assert attached == ["@docs:docs://a was not attached: reading it is not allowed."]
    assert rule in one.of(Notice)[0].text


@pytest.mark.parametrize(
    "spelling", ["plugin:p:my docs", "plugin_p_my_docs", "plugin:p:my_docs", "PLUGIN_p_my docs"]
)
def test_a_denied_server_is_denied_in_any_spelling(at: Make, spelling: str) -> None:
    before = len(PLUGIN.calls)
    one = at("deny mcp__plugin_p_my_docs", mode="bypassPermissions", tools=resource_tools(servers))
    assert one.call("ReadMcpResourceTool", server=spelling, uri="x://1").finished.is_error
    assert len(PLUGIN.calls) == before


def test_a_resource_that_a_prompt_names_is_attached(at: Make) -> None:
    one = at()

    def attached(prompt: str) -> list[str]:
        return resource_mentions(prompt, servers, one.host, Cancel(), one.told.append)

    [said] = attached("compare @docs:docs://a, please, and @docs:docs://a.")
    assert said.startswith("@docs:docs://a, which is named above:")
    assert "the text" in said
    assert SECRET not in said
    assert "one" in attached('@"plugin:p:my docs:x://1"')[0]
    assert "one" in attached("@plugin_p_my_docs:x://1")[0]
    assert "it is in /" in attached("@docs:docs://pic")[0]
    assert "no resource" in attached("@docs:docs://b")[0]
    for plain in ("me@docs:docs://a", "@docs:", "@other:x://y", "@gone:g://a", "no mention", "@docs"):
        assert attached(plain) == []


def test_prompts_are_commands() -> None:
    commands = PromptCommands(lambda: [ASK, GONE])
    assert [one.name for one in commands.all()] == [
        "mcp__my_server__fix_it",
        "mcp__my_server__plain",
        "mcp__my_server__empty",
    ]
    found = commands.find("/mcp__my_server__fix_it")
    assert found is not None
    assert (found.description, found.usage) == ("Fix an issue", "/mcp__my_server__fix_it <issue> [how]")
    assert commands.find("mcp__my server__fix it") == found
    assert commands.find("fix_it") is None


@pytest.mark.parametrize(
    ("typed", "given"),
    [
        ("12", {"issue": "12"}),
        ('"number 12" fast', {"issue": "number 12", "how": "fast"}),
        ("12 as fast as possible", {"issue": "12", "how": "as fast as possible"}),
        ("it's 12", {"issue": "it's", "how": "12"}),
    ],
)
def test_arguments_are_split_like_in_a_shell(typed: str, given: dict[str, str]) -> None:
    found = PromptCommands(lambda: [ASK]).find("mcp__my_server__fix_it")
    assert found is not None
    assert found.arguments(typed) == given


def test_a_missing_argument_is_named(at: Make) -> None:
    commands = PromptCommands(lambda: [ASK])
    with pytest.raises(UsageError) as raised:
        commands.expand("mcp__my_server__fix_it", "  ", at().host, Cancel())
    assert "`issue` (its number)" in raised.value.message
    assert raised.value.hint == "Usage: /mcp__my_server__fix_it <issue> [how]"
    with pytest.raises(UsageError, match="takes no arguments"):
        commands.expand("mcp__my_server__plain", "x", at().host, Cancel())


def test_the_messages_become_the_prompt(at: Make) -> None:
    commands, host = PromptCommands(lambda: [ASK]), at().host
    first, second = commands.expand("/mcp__my_server__fix_it", "12", host, Cancel())
    assert isinstance(first, Text)
    assert first.text.startswith("Fix it @.env")
    assert SECRET not in first.text
    assert second == Text("[assistant]\nI will.")
    assert ASK.calls[-1] == ("prompts/get", "fix it", {"issue": "12"})
    assert commands.expand("mcp__my_server__plain", "", host, Cancel()) == (Image(Base64("image/png", PNG)),)
    [empty] = commands.expand("mcp__my_server__empty", "", host, Cancel())
    assert isinstance(empty, Text)


@pytest.mark.parametrize("rule", ["mcp__my server", "mcp__my_server__*", "mcp__my_server__fix_it", "mcp__*"])
def test_a_rule_on_the_server_binds_its_prompts(at: Make, rule: str) -> None:
    before = len(ASK.calls)
    with pytest.raises(PolicyError, match="denied by"):
        PromptCommands(lambda: [ASK]).expand("mcp__my_server__fix_it", "1", at(f"deny {rule}").host, Cancel())
    assert len(ASK.calls) == before


def test_a_prompt_that_fails_says_why(at: Make) -> None:
    broken = FakeConnection("s", Catalog(prompts=(RemotePrompt(name="p"),)))
    with pytest.raises(CheckreinError, match="The MCP server s failed: There is no prompt p"):
        PromptCommands(lambda: [broken]).expand("mcp__s__p", "", at().host, Cancel())
    with pytest.raises(NotFoundError):
        PromptCommands(lambda: [broken]).expand("mcp__s__other", "", at().host, Cancel())

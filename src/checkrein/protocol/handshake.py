"""The first exchange with a host: what it brings into the session, and what it learns about it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.facts.claude import CALLER_TRANSPORT, COMPATIBLE_VERSION
from checkrein.facts.models import ALIASES, find_model
from checkrein.model.items import Command, Skill
from checkrein.model.view import View
from checkrein.protocol.host_hooks import HostHook, host_hooks
from checkrein.protocol.stream_json import CAPABILITIES
from checkrein.protocol.wire import Frame
from checkrein.runtime.context import styles
from checkrein.runtime.session.session import Session

_FLAGS: dict[str, tuple[str, Any]] = {
    "systemPrompt": ("system_prompt", list[str]),
    "appendSystemPrompt": ("append_system_prompt", str),
    "jsonSchema": ("json_schema", dict[str, Any]),
    "title": ("name", str),
    "mcpServers": ("servers", dict[str, dict[str, Any]]),
    "sdkMcpServers": ("own_servers", list[str]),
}
"""Fields of a request: the flag of the command line that says the same, and the form of the value."""


class Greeting(Struct, frozen=True, kw_only=True):
    """An `initialize` request. `skills` None filters nothing. `values` are flags that the TypeScript SDK
    sends here and not on the command line."""

    frame: Frame
    hooks: tuple[HostHook, ...] = ()
    agents: dict[str, Any] = {}
    skills: tuple[str, ...] | None = None
    subagent_text: bool = False
    values: dict[str, Any] = {}


def read(frame: Frame) -> Greeting:
    request = frame["request"]
    agents, skills = request.get("agents"), request.get("skills")
    if agents is not None and not isinstance(agents, dict):
        raise UsageError("initialize: `agents` must be an object.")
    return Greeting(
        frame=frame,
        hooks=host_hooks(request.get("hooks")),
        agents=agents or {},
        skills=tuple(map(str, skills)) if isinstance(skills, list) else None,
        subagent_text=request.get("forwardSubagentText") is True,
        values=_values(request),
    )


def _values(request: Frame) -> dict[str, Any]:
    """A field of another form is an error: whoever sends it relies on it."""
    found: dict[str, Any] = {}
    for name, (flag, form) in _FLAGS.items():
        given = request.get(name)
        if given is not None:
            try:
                found[flag] = msgspec.convert(given, form)
            except msgspec.ValidationError as error:
                raise UsageError(f"initialize: `{name}` is not usable: {error}") from error
    if "system_prompt" in found:
        found["system_prompt"] = "\n\n".join(found["system_prompt"])
    if "json_schema" in found:
        found["json_schema"] = msgspec.json.encode(found["json_schema"]).decode()
    servers = found.pop("servers", {}) | {
        name: {"type": CALLER_TRANSPORT, "name": name} for name in found.pop("own_servers", ())
    }
    if servers:
        found["mcp_config"] = (msgspec.json.encode({"mcpServers": servers}).decode(),)
    return found


def reply(session: Session, greeting: Greeting, key_source: str, *, again: bool = False) -> Frame:
    """What the host learns. A host that greets `again` brings nothing more in."""
    conversation = session.conversation
    project = conversation.view.project
    offered: Frame = {
        "commands": commands(session),
        "agents": agents(session),
        "output_style": styles.chosen(project),
        "available_output_styles": [styles.DEFAULT, *styles.styles(project)],
        "models": list(_models()),
        "account": {"tokenSource": "none", "apiKeySource": key_source, "apiProvider": "firstParty"},
        "pid": os.getpid(),
        "claude_code_version": COMPATIBLE_VERSION,
        "current_permission_mode": conversation.gate.mode,
        "hook_on_failure_supported": True,
        "session_state": "idle",
        "capabilities": list(CAPABILITIES),
    }
    return offered | ({"hooks_applied": not again} if greeting.hooks or again else {})


def commands(session: Session) -> list[Frame]:
    """What a user can call by name in a prompt."""
    from checkrein.runtime.turn.builtin_commands import COMMANDS

    if not session.conversation.options.commands:
        return []
    view = session.conversation.view
    built_in = (
        {"name": name, "description": command.summary, "argumentHint": command.hint, "builtin": True}
        for name, command in COMMANDS.items()
    )
    return [*invocable(view), *built_in]


def invocable(view: View) -> list[Frame]:
    """The commands and skills that a user may call."""
    items: dict[str, Command | Skill] = {**view.commands, **view.skills}
    return [
        {"name": name, "description": one.description or "", "argumentHint": one.argument_hint or ""}
        for name, one in items.items()
        if one.user_invocable
    ]


def agents(session: Session) -> list[Frame]:
    return [
        {"name": name, "description": one.description or "", **({"model": one.model} if one.model else {})}
        for name, one in session.conversation.offer.agents.items()
    ]


def _models() -> Iterator[Frame]:
    for alias, name in ALIASES.items():
        facts = find_model(name)
        window = f"{facts.window:,} tokens of context" if facts else ""
        yield {"value": alias, "resolvedModel": name, "displayName": alias.title(), "description": window}

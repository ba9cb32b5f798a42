"""The first exchange with a host: what it brings into the session, and what it learns about it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.facts.claude import COMPATIBLE_VERSION
from checkrein.facts.models import ALIASES, find_model
from checkrein.protocol.host_hooks import HostHook, host_hooks
from checkrein.protocol.stream_json import CAPABILITIES
from checkrein.protocol.wire import Frame
from checkrein.runtime.context import styles
from checkrein.runtime.session.session import Session


class Greeting(Struct, frozen=True, kw_only=True):
    """An `initialize` request. `skills` None filters nothing."""

    frame: Frame
    hooks: tuple[HostHook, ...] = ()
    agents: dict[str, Any] = {}
    skills: tuple[str, ...] | None = None
    subagent_text: bool = False


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
    )


def reply(session: Session, greeting: Greeting, key_source: str, *, again: bool = False) -> Frame:
    """What the host learns. A host that greets `again` brings nothing more in."""
    conversation = session.conversation
    project = conversation.view.project
    offered: Frame = {
        "commands": list(_commands(session)),
        "agents": list(_agents(session)),
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


def _commands(session: Session) -> Iterator[Frame]:
    from checkrein.runtime.turn.builtin_commands import COMMANDS

    if not session.conversation.options.commands:
        return
    view = session.conversation.view
    for name, one in (view.commands | view.skills).items():
        if one.user_invocable:
            yield {
                "name": name,
                "description": one.description or "",
                "argumentHint": one.argument_hint or "",
            }
    for name, command in COMMANDS.items():
        yield {"name": name, "description": command.summary, "argumentHint": command.hint, "builtin": True}


def _agents(session: Session) -> Iterator[Frame]:
    for name, agent in session.conversation.offer.agents.items():
        model = {"model": agent.model} if agent.model else {}
        yield {"name": name, "description": agent.description or "", **model}


def _models() -> Iterator[Frame]:
    for alias, name in ALIASES.items():
        facts = find_model(name)
        window = f"{facts.window:,} tokens of context" if facts else ""
        yield {"value": alias, "resolvedModel": name, "displayName": alias.title(), "description": window}

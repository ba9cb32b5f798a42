"""Sessions with subagents: their definitions, their replies, and their turns to the end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from checkrein.llm.port import Message, Request, Text, ToolResult
from checkrein.runtime.session.events import Event
from checkrein.runtime.session.idle import Idle
from checkrein.runtime.session.session import Session

WORKER = "You are WORKER."
LONGEST = 30.0


def definition(body: str = WORKER, name: str = "worker", **fields: Any) -> str:
    """The file of an agent."""
    lines = [f"name: {name}", "description: does work", *(f"{key}: {value}" for key, value in fields.items())]
    return "\n".join(("---", *lines, "---", body, ""))


def files(*, name: str = "worker", body: str = WORKER, **fields: Any) -> dict[str, Any]:
    """A project with one agent."""
    return {f".claude/agents/{name}.md": definition(body, name, **fields)}


def order(prompt: str = "work", type: str | None = "worker", **more: Any) -> dict[str, Any]:
    """A call of Agent."""
    kind = {} if type is None else {"subagent_type": type}
    return {"name": "Agent", "input": {"description": "some work", "prompt": prompt, **kind, **more}}


def orders(*calls: dict[str, Any]) -> dict[str, Any]:
    """A reply with these calls."""
    return {"tool_calls": list(calls)}


def below(*turns: dict[str, Any], to: str | None = None, system: str = "WORKER") -> list[dict[str, Any]]:
    """Replies for subagents only: those with `system` in their prompt, and `to` in what they were told. They
    come before the parent's in a script."""
    when = {"system": system} | ({} if to is None else {"first_text": to})
    return [{**turn, "when": {**when, **turn.get("when", {})}} for turn in turns]


def lived(session: Session, prompt: Any = "go") -> list[Event]:
    """The events of a prompt, and of the turns that its tasks start."""
    events: list[Event] = []
    idle = Idle(session.control.wakes, lambda: events.extend(session.idle_events()), LONGEST)
    following = prompt
    while following is not None:
        events += session.run(following)
        following = idle.awaited()
    return events


def said(messages: Iterable[Message]) -> str:
    """Everything that a model was told."""
    found = []
    for message in messages:
        for block in message.content:
            if isinstance(block, Text):
                found.append(block.text)
            elif isinstance(block, ToolResult):
                found.append(block.content if isinstance(block.content, str) else str(block.content))
    return "\n".join(found)


def heard(requests: Iterable[Request], system: str = "WORKER") -> list[Request]:
    """The requests of one kind of agent."""
    return [one for one in requests if system in "\n".join(block.text for block in one.system)]

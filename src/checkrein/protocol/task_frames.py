"""Frames about tasks in the background: commands and agents that go on while the session does."""

from __future__ import annotations

import time
from collections.abc import Iterator

from msgspec import Struct

from checkrein.base import clock
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.events import (
    AssistantBlock,
    BackgroundEnded,
    BackgroundStarted,
    Event,
    ToolFinished,
)

Told = Iterator[tuple[str, Frame]]
"""Subtypes of system frames, with their fields."""


class _Task(Struct):
    """A task that runs, as frames describe it, and what it has used so far."""

    fields: Frame
    call_id: str
    began: float
    tokens: int = 0
    calls: int = 0


class TaskFrames:
    """Knows the tasks that run. An agent's id is the id of its task."""

    def __init__(self) -> None:
        self._tasks: dict[str, _Task] = {}

    def __contains__(self, id: str | None) -> bool:
        return id in self._tasks

    def started(self, event: BackgroundStarted) -> Told:
        fields: Frame = {"task_id": event.id, "task_type": event.kind, "description": event.description}
        more: Frame = {"tool_use_id": event.call_id, "is_backgrounded": True}
        if event.agent_type is not None:
            fields["subagent_type"] = event.agent_type
            more |= {"spawn_depth": event.depth, "prompt": event.prompt}
        self._tasks[event.id] = _Task(fields, event.call_id, time.monotonic())
        yield self._changed()
        yield "task_started", fields | more

    def progress(self, event: Event) -> Told:
        """After each call of an agent in the background: what it has used so far."""
        task = self._tasks.get(event.agent_id or "")
        if task is None:
            return
        if isinstance(event, AssistantBlock):
            task.tokens += event.usage.total
        elif isinstance(event, ToolFinished) and event.caller == "model":
            task.calls += 1
            used = {
                "total_tokens": task.tokens,
                "tool_uses": task.calls,
                "duration_ms": int((time.monotonic() - task.began) * 1000),
            }
            told = {key: value for key, value in task.fields.items() if key != "task_type"}
            yield (
                "task_progress",
                told | {"tool_use_id": task.call_id, "usage": used, "last_tool_name": event.name},
            )

    def ended(self, event: BackgroundEnded) -> Told:
        self._tasks.pop(event.id, None)
        patch = {"status": event.status, "end_time": int(clock.now() * 1000)}
        yield "task_updated", {"task_id": event.id, "patch": patch}
        yield (
            "task_notification",
            {
                "task_id": event.id,
                "tool_use_id": event.call_id,
                "status": "stopped" if event.status == "killed" else event.status,
                "output_file": event.path,
                "summary": event.summary,
                "usage": {
                    "total_tokens": event.tokens,
                    "tool_uses": event.calls,
                    "duration_ms": event.duration_ms,
                },
            },
        )
        yield self._changed()

    def _changed(self) -> tuple[str, Frame]:
        return "background_tasks_changed", {"tasks": [one.fields for one in self._tasks.values()]}

"""Every subagent of a session: how many run, and which one a name means."""

from __future__ import annotations

import threading
from collections.abc import Mapping

from checkrein.facts import subagents
from checkrein.runtime.agents.task import AgentTask
from checkrein.runtime.store.kept_task import KeptTask


class Crew:
    """Shared by a tree of conversations."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.most = subagents.limit(env, subagents.ENV_RUNNING, subagents.RUNNING)
        self.depth = subagents.limit(env, subagents.ENV_DEPTH, subagents.DEPTH)
        self._lock = threading.Lock()
        self._tasks: dict[str, AgentTask] = {}
        self._names: dict[str, str] = {}

    def admit(self, task: AgentTask, again: KeptTask | None = None) -> bool:
        """Take a task in, unless too many run. One that works `again` runs from now on."""
        with self._lock:
            running = sum(one.state == "running" for one in self._tasks.values() if one is not task)
            if running >= self.most and (again or task.kept).state == "running":
                return False
            if again is not None:
                task.begin(again)
            self._tasks[task.id] = task
            if task.kept.name is not None:
                self._names[task.kept.name] = task.id
            return True

    def find(self, reference: str) -> AgentTask | None:
        """By id or by name; the newest of a name."""
        with self._lock:
            return self._tasks.get(reference) or self._tasks.get(self._names.get(reference, ""))

    def all(self, above: str | None = None) -> tuple[AgentTask, ...]:
        """Those below the agent `above`; None means the main conversation."""
        with self._lock:
            return tuple(task for task in self._tasks.values() if self._is_below(task, above))

    def is_below(self, task: AgentTask, above: str | None) -> bool:
        with self._lock:
            return self._is_below(task, above)

    def _is_below(self, task: AgentTask | None, above: str | None) -> bool:
        while task is not None and above is not None and task.above != above:
            task = self._tasks.get(task.above or "")
        return task is not None

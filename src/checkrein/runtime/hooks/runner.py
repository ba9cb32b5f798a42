"""Fire hooks: an event goes in, its meaning for the session comes out.

`fire` is a stage: it yields the events of the hooks that run and returns the merged outcome.
"""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from checkrein.base.ids import new_uuid
from checkrein.facts.claude_hooks import HOOK_EVENTS
from checkrein.llm.cancel import Cancel
from checkrein.model.items import Hook
from checkrein.runtime.hooks.handlers import Doer, Handler
from checkrein.runtime.hooks.outcome import HookOutcome, HookRecord, News, merge
from checkrein.runtime.hooks.payloads import Common
from checkrein.runtime.hooks.payloads import matcher_value as value_of
from checkrein.runtime.hooks.registry import HookRegistry
from checkrein.runtime.session.channel import drained
from checkrein.runtime.session.events import Event, Happened, HookStarted
from checkrein.runtime.session.graces import HOOKS_UNTIL

if TYPE_CHECKING:
    from checkrein.runtime.hooks.background import Background
    from checkrein.runtime.hooks.parallel import Done, Task

_ASKING_TYPES = frozenset({"agent", "mcp_tool"})
"""Kinds of hooks that call tools. A call by such a hook does not fire these kinds again."""


class HookRunner:
    """The hooks as one conversation fires them. Safe to use from several threads.

    `common` has the fields of every payload; it changes with the prompt, the mode and the directory.
    `may_defer` is true while a reply has a single call and no user can answer. With `calls_only` the
    conversation is a hook's own helper: hooks judge only its calls, and none of them starts another helper.
    """

    def __init__(
        self, registry: HookRegistry, doer: Doer, common: Common, *, calls_only: bool = False
    ) -> None:
        self.registry = registry
        self.common = common
        self.may_defer = False
        self.doer = doer
        self._calls_only = calls_only
        self._lock = threading.Lock()
        self._later: list[Event] = []
        self._background: Background | None = None

    def has(self, event: str) -> bool:
        return self._binds(event) and self.registry.has(event)

    def _binds(self, event: str) -> bool:
        return HOOK_EVENTS[event].tool_event or not self._calls_only

    def update(self, **facts: Any) -> None:
        self.common = replace(self.common, **facts)

    def fire(
        self, payload: dict[str, Any], cancel: Cancel, *, asking: bool = True
    ) -> Generator[Event, None, HookOutcome]:
        """Run every hook that the payload's event selects and merge their answers. Raises only for an unknown
        event. `asking` False skips hooks that call tools."""
        event: str = payload["hook_event_name"]
        if cancel.cancelled or not self.has(event):
            return HookOutcome(event=event)
        value = value_of(event, payload)
        rules = self.doer.ports.rule_matches
        selected = self.registry.select(event, payload, value, rules)
        silent = frozenset() if asking else _ASKING_TYPES
        if self._calls_only:
            silent |= {"agent"}
        selected = [one for one in selected if one.hook.type not in silent]
        if not selected:
            return HookOutcome(event=event)
        from checkrein.runtime.hooks.parallel import finished, run_all

        waited = []
        for task in self._tasks(event, value, selected):
            yield HookStarted(task.hook_id, task.name, event)
            if _is_async(task.handler.hook):
                self._start(event, payload, task)
            else:
                waited.append(task)
        running = run_all(self.doer, event, payload, waited, cancel)
        while True:
            try:
                step = next(running)
            except StopIteration as end:
                ends: list[Done] = end.value
                break
            yield step if isinstance(step, Happened) else finished(event, step)
        return merge(event, payload, [self._record(done) for done in ends])

    def fire_past(
        self, payload: dict[str, Any], cancel: Cancel, *, asking: bool = True, until: float = HOOKS_UNTIL
    ) -> Generator[Event, None, HookOutcome]:
        """Fire hooks that learn of something that has happened. They run after a cancel too, but only until
        so many seconds after it."""
        with cancel.outlasted(until) as later:
            return (yield from self.fire(payload, later, asking=asking))

    def fire_aside(self, payload: dict[str, Any]) -> None:
        """Fire in a separate thread; nobody waits for it, and its events come with the news."""
        if not self.has(payload["hook_event_name"]):
            return
        stage = self.fire(payload, Cancel())
        threading.Thread(target=drained, args=(stage, self._later.append), daemon=True).start()

    def news(self) -> News:
        """What background hooks did and said since the last call."""
        later, self._later[:] = tuple(self._later), []
        news = self._background.news() if self._background is not None else News()
        return replace(news, events=(*later, *news.events)) if later else news

    def close(self) -> None:
        """End the async hooks that still run; their outcome is `cancelled`."""
        if self._background is not None:
            self._background.close()

    def _tasks(self, event: str, value: str | None, handlers: list[Handler]) -> list[Task]:
        from checkrein.runtime.hooks import limits
        from checkrein.runtime.hooks.parallel import Task

        name = f"{event}:{value}" if value else event
        limit = None
        if event == "SessionEnd":
            limit = limits.session_end_budget((one.hook for one in handlers), self.doer.around.env)
        return [
            Task(new_uuid(), name, one, one.seconds(event) if limit is None else limit) for one in handlers
        ]

    def _start(self, event: str, payload: dict[str, Any], task: Task) -> None:
        from checkrein.runtime.hooks.background import Background

        with self._lock:
            if self._background is None:
                self._background = Background(self.doer)
            background = self._background
        background.start(event, payload, task)

    def _record(self, done: Done) -> HookRecord:
        from checkrein.runtime.hooks.output import without_approval
        from checkrein.runtime.hooks.overflow import capped

        handler, answer = done.task.handler, done.answer
        if self.registry.only_narrows(handler):
            answer = without_approval(answer)
        hook = handler.hook
        return HookRecord(
            hook_id=done.task.hook_id,
            name=done.task.name,
            type=hook.type,
            origin=hook.origin,
            answer=capped(answer, self.doer.around.results_dir, done.task.hook_id),
            exit_code=done.raw.exit_code,
            duration_ms=done.duration_ms,
            order=done.order,
        )


def _is_async(hook: Hook) -> bool:
    return hook.type == "command" and (hook.run_async or hook.async_rewake)

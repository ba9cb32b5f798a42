"""The hooks of one session: `fire` says what happened, the outcome says what it means.

Hooks are a snapshot: editing a settings file during the session changes nothing here. Skills that are
invoked bring theirs with `add`; a subagent passes its own with each firing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.ids import new_uuid
from checkrein.facts.claude_hooks import OUTPUT_CHARS
from checkrein.model.items import Hook
from checkrein.policy import matchers
from checkrein.policy.hooks import problem
from checkrein.runtime.hooks import limits as timing
from checkrein.runtime.hooks import match
from checkrein.runtime.hooks.handlers import Doer, Handler, callback
from checkrein.runtime.hooks.outcome import HookOutcome, HookRecord, merge
from checkrein.runtime.hooks.overflow import capped
from checkrein.runtime.hooks.payloads import matcher_value as value_of
from checkrein.runtime.hooks.ports import Callback, Ports, RunsCommands, Surroundings
from checkrein.runtime.session.events import HookFinished, HookStarted

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.hooks.background import Background, News
    from checkrein.runtime.hooks.crowd import Done, Task

Emit = Callable[[HookStarted | HookFinished], None]


class HookRunner:
    """Safe to use from several threads. `emit` and `on_wake` may be called from a hook's thread.

    `spent` names hooks that ran their `once` already; `on_spent` is told them all when there is one more.
    """

    def __init__(
        self,
        hooks: Iterable[Hook],
        *,
        spawner: RunsCommands,
        around: Surroundings,
        ports: Ports | None = None,
        emit: Emit | None = None,
        on_wake: Callable[[], None] | None = None,
        spent: Iterable[str] = (),
        on_spent: Callable[[frozenset[str]], None] = lambda spent: None,
    ) -> None:
        self._doer = Doer(spawner, around, ports or Ports())
        self._emit = emit or (lambda event: None)
        self._on_wake = on_wake or (lambda: None)
        self._lock = threading.Lock()
        self._handlers: list[Handler] = []
        self._spent = frozenset(spent)
        self._on_spent = on_spent
        self._background: Background | None = None
        self.diagnostics: tuple[Diagnostic, ...] = ()
        self.add(hooks)

    def add(self, hooks: Iterable[Hook]) -> Callable[[], None]:
        """Take more hooks in; the answer takes them out again. What can't run becomes a Diagnostic."""
        usable: list[Handler] = []
        found: list[Diagnostic] = []
        for hook in hooks:
            wrong = problem(hook)
            if wrong is None:
                usable.append(Handler(hook))
            else:
                found.append(wrong)
        with self._lock:
            self._handlers = self._handlers + usable
            self.diagnostics += tuple(found)

        def remove() -> None:
            with self._lock:
                self._handlers = [one for one in self._handlers if not any(one is mine for mine in usable)]

        return remove

    def add_callback(
        self,
        event: str,
        matcher: str | None,
        call: Callback,
        timeout: float | None = None,
        *,
        fail_closed: bool = False,
    ) -> None:
        """A function of the program that drives the session, as a hook."""
        handler = callback(event, matcher, call, timeout, fail_closed=fail_closed)
        with self._lock:
            self._handlers = [*self._handlers, handler]

    def has(self, event: str) -> bool:
        """Whether anything could run for this event: lets a session skip making the payload."""
        return any(one.hook.name == event for one in self._handlers)

    def matchers(self, event: str) -> tuple[str, ...]:
        """The matchers of this event's hooks, as written."""
        return tuple(one.hook.matcher or "" for one in self._handlers if one.hook.name == event)

    def fire(
        self,
        event: str,
        payload: dict[str, Any],
        *,
        matcher_value: str | None = None,
        cancel: Cancel | None = None,
        extra: Sequence[Hook] = (),
    ) -> HookOutcome:
        """Run every hook that the event selects and merge their answers. Raises only for an unknown event.

        `extra` are hooks that hold for this firing alone: those of the subagent it happens in.
        """
        value = value_of(event, payload) if matcher_value is None else matcher_value
        selected = self._select(event, payload, value, extra)
        if not selected:
            return HookOutcome(event=event)
        from checkrein.llm.cancel import Cancel
        from checkrein.runtime.hooks.crowd import run_all

        tasks = self._tasks(event, value, selected)
        for task in tasks:
            self._emit(HookStarted(task.hook_id, task.name, event))
        waited = []
        for task in tasks:
            if _is_async(task.handler.hook):
                self._start(event, payload, task)
            else:
                waited.append(task)
        ends = run_all(
            self._doer, event, payload, waited, cancel or Cancel(), lambda done: self._ended(event, done)
        )
        return merge(event, payload, [self._record(done) for done in ends])

    def drain(self) -> News:
        """What async hooks said since the last time."""
        from checkrein.runtime.hooks.background import News

        return self._background.drain() if self._background is not None else News()

    def close(self) -> None:
        """End the async hooks that still run; their outcome is `cancelled`."""
        if self._background is not None:
            self._background.close()

    def _select(
        self, event: str, payload: dict[str, Any], value: str | None, extra: Sequence[Hook]
    ) -> list[Handler]:
        rules = self._doer.ports.rule_matches
        own = [Handler(hook) for hook in extra if problem(hook) is None]
        chosen = [
            one
            for one in (*self._handlers, *own)
            if one.hook.name == event
            and matchers.matches(one.hook.matcher, event, value)
            and match.condition_holds(one.hook, event, payload, rules)
        ]
        kept = {id(hook) for hook in match.without_copies(o.hook for o in chosen if o.call is None)}
        return [
            one for one in chosen if (one.call is not None or id(one.hook) in kept) and self._claim(one.hook)
        ]

    def _claim(self, hook: Hook) -> bool:
        """`once` counts for hooks of a skill; the first firing that selects it has it."""
        if not hook.once or not match.in_frontmatter(hook):
            return True
        key = f"{hook.name} {hook.origin.file} {hook.origin.field or hook.origin.line}"
        with self._lock:
            fresh = key not in self._spent
            self._spent |= {key}
            spent = self._spent
        if fresh:
            self._on_spent(spent)
        return fresh

    def _tasks(self, event: str, value: str | None, handlers: list[Handler]) -> list[Task]:
        from checkrein.runtime.hooks.crowd import Task

        name = f"{event}:{value}" if value else event
        limit = None
        if event == "SessionEnd":
            limit = timing.session_end_budget((one.hook for one in handlers), self._doer.around.env)
        return [
            Task(new_uuid(), name, one, one.seconds(event) if limit is None else limit) for one in handlers
        ]

    def _start(self, event: str, payload: dict[str, Any], task: Task) -> None:
        from checkrein.runtime.hooks.background import Background

        with self._lock:
            if self._background is None:
                self._background = Background(self._doer, self._ended, self._on_wake)
            background = self._background
        background.start(event, payload, task)

    def _ended(self, event: str, done: Done) -> None:
        raw = done.raw
        stdout, stderr = raw.stdout[:OUTPUT_CHARS], (raw.stderr or raw.failure or "")[:OUTPUT_CHARS]
        self._emit(
            HookFinished(
                done.task.hook_id,
                done.task.name,
                event,
                stdout,
                stderr,
                raw.exit_code,
                done.answer.outcome,
                stdout + stderr,
            )
        )

    def _record(self, done: Done) -> HookRecord:
        hook = done.task.handler.hook
        return HookRecord(
            hook_id=done.task.hook_id,
            name=done.task.name,
            type=hook.type,
            origin=hook.origin,
            answer=capped(done.answer, self._doer.around.results_dir, done.task.hook_id),
            exit_code=done.raw.exit_code,
            duration_ms=done.duration_ms,
            order=done.order,
        )


def _is_async(hook: Hook) -> bool:
    return hook.type == "command" and (hook.run_async or hook.async_rewake)


def agent_hooks(hooks: Iterable[Hook]) -> tuple[Hook, ...]:
    """The hooks of a subagent's frontmatter, as they run: its `Stop` is the session's `SubagentStop`."""
    return tuple(
        msgspec.structs.replace(hook, name="SubagentStop") if hook.name == "Stop" else hook for hook in hooks
    )

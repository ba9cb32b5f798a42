"""The hooks of a session, and which of them an event selects.

Hooks are a snapshot: editing a settings file during the session changes nothing here. An invoked skill adds
its hooks with `add`. The hooks of a parent bind its children: a registry also holds those of the one above.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from checkrein.base.diagnostic import Diagnostic
from checkrein.model.items import Hook
from checkrein.runtime.hooks import match
from checkrein.runtime.hooks.handlers import Handler, callback
from checkrein.runtime.hooks.ports import Callback

OnSpent = Callable[[frozenset[str]], None]


class HookRegistry:
    """Safe to use from several threads.

    `spent` names hooks that already ran their `once`; `on_spent` gets all such names after each new one.
    `above` is the parent's registry.
    """

    def __init__(
        self,
        hooks: Iterable[Hook] = (),
        *,
        spent: Iterable[str] = (),
        on_spent: OnSpent = lambda spent: None,
        above: HookRegistry | None = None,
    ) -> None:
        self._above = above
        self._lock = threading.Lock()
        self._own: list[Handler] = []
        self._spent = frozenset(spent)
        self._on_spent = on_spent
        self._diagnostics: tuple[Diagnostic, ...] = ()
        self.add(hooks)

    @property
    def handlers(self) -> list[Handler]:
        return self._own if self._above is None else [*self._above.handlers, *self._own]

    def owns(self, handler: Handler) -> bool:
        """Whether it came in here, not from above."""
        return any(one is handler for one in self._own)

    def only_narrows(self, handler: Handler) -> bool:
        """Whether it belongs to a child: what a person or a rule of the parent has to approve, it can't."""
        return self._above is not None and (self.owns(handler) or self._above.only_narrows(handler))

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        return self._diagnostics

    def add(self, hooks: Iterable[Hook]) -> Callable[[], None]:
        """Add hooks; returns a function that removes them. A hook that can't run becomes a Diagnostic."""
        usable: list[Handler] = []
        found: list[Diagnostic] = []
        for hook in hooks:
            wrong = _problem(hook)
            if wrong is None:
                usable.append(Handler(hook))
            else:
                found.append(wrong)
        with self._lock:
            self._own = self._own + usable
            self._diagnostics += tuple(found)

        def remove() -> None:
            with self._lock:
                self._own = [one for one in self._own if not any(one is mine for mine in usable)]

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
        """Add a function of the program that drives the session as a hook."""
        handler = callback(event, matcher, call, timeout, fail_closed=fail_closed)
        with self._lock:
            self._own = [*self._own, handler]

    def has(self, event: str) -> bool:
        """Whether a hook could run for this event. If not, the session need not make the payload."""
        if any(one.hook.name == event for one in self._own):
            return True
        return self._above is not None and self._above.has(event)

    def matchers(self, event: str) -> tuple[str, ...]:
        """The matchers of this event's hooks, as in the files."""
        return tuple(one.hook.matcher or "" for one in self.handlers if one.hook.name == event)

    def select(
        self, event: str, payload: dict[str, Any], value: str | None, rules: match.RuleMatches | None
    ) -> list[Handler]:
        """The handlers that an event selects; copies and `once` hooks count only once."""
        chosen = [one for one in self.handlers if _concerns(one.hook, event, payload, value, rules)]
        kept = {id(hook) for hook in match.without_copies(o.hook for o in chosen if o.call is None)}
        return [
            one for one in chosen if (one.call is not None or id(one.hook) in kept) and self._claim(one.hook)
        ]

    def _claim(self, hook: Hook) -> bool:
        """`once` counts for hooks of a skill; the first firing that selects the hook uses it up."""
        if not hook.once or not match.in_frontmatter(hook):
            return True
        if self._above is not None:
            return self._above._claim(hook)
        key = f"{hook.name} {hook.origin.file} {hook.origin.field or hook.origin.line}"
        with self._lock:
            fresh = key not in self._spent
            self._spent |= {key}
            spent = self._spent
        if fresh:
            self._on_spent(spent)
        return fresh


def _concerns(
    hook: Hook, event: str, payload: dict[str, Any], value: str | None, rules: match.RuleMatches | None
) -> bool:
    from checkrein.policy import matchers

    return (
        hook.name == event
        and matchers.matches(hook.matcher, event, value)
        and match.condition_holds(hook, event, payload, rules)
    )


def agent_hooks(hooks: Iterable[Hook]) -> tuple[Hook, ...]:
    """The hooks of a subagent's frontmatter for the session: its `Stop` becomes `SubagentStop`."""
    return tuple(
        msgspec.structs.replace(hook, name="SubagentStop") if hook.name == "Stop" else hook for hook in hooks
    )


def _problem(hook: Hook) -> Diagnostic | None:
    from checkrein.policy.hooks import problem

    return problem(hook)

"""The host's functions as hooks of the session: `hook_callback`."""

from __future__ import annotations

import threading
from typing import Any

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.base.ids import new_uuid
from checkrein.facts.claude_hooks import CALLBACK_TIMEOUT, HOOK_EVENTS
from checkrein.protocol.requests import HostError, Requests
from checkrein.protocol.wire import Frame
from checkrein.runtime.session.control import Control, HookCallback


class HostHook(Struct, frozen=True, kw_only=True):
    """One function of the host. With `fail_closed`, its failure blocks what it judges."""

    event: str
    callback_id: str
    matcher: str | None = None
    seconds: float | None = None
    fail_closed: bool = False


def host_hooks(given: Any) -> tuple[HostHook, ...]:
    """The hooks of an `initialize` request, in order. An event that does not exist here has none. Hooks of
    another form are an error: whoever sends them relies on them."""
    if given is None:
        return ()
    if not isinstance(given, dict):
        raise UsageError("initialize: `hooks` must be an object.")
    found = []
    for event, matchers in given.items():
        if not isinstance(matchers, list | None):
            raise UsageError(f"initialize: the matchers of {event} are not a list.")
        for one in matchers or ():
            if not isinstance(one, dict):
                raise UsageError(f"initialize: a matcher of {event} is not an object.")
            ids, on_failure = one.get("hookCallbackIds"), one.get("onFailure")
            if not isinstance(ids, list | None):
                raise UsageError(f"initialize: `hookCallbackIds` of {event} is not a list.")
            found += [
                HostHook(
                    event=event,
                    callback_id=str(callback_id),
                    matcher=one["matcher"] if isinstance(one.get("matcher"), str) else None,
                    seconds=_seconds(one.get("timeout")),
                    fail_closed=on_failure is not None and on_failure != "continue",
                )
                for callback_id in ids or ()
                if event in HOOK_EVENTS
            ]
    return tuple(found)


def _seconds(given: Any) -> float | None:
    """A time that a thread can wait; None, the default, for one that makes no sense."""
    if isinstance(given, bool) or not isinstance(given, int | float) or not given > 0:
        return None
    return float(min(given, threading.TIMEOUT_MAX))


def add_hooks(hooks: tuple[HostHook, ...], control: Control, requests: Requests) -> None:
    for hook in hooks:
        control.add_hook(
            hook.event,
            hook.matcher,
            _callback(hook, requests),
            hook.seconds,
            fail_closed=hook.fail_closed,
        )


def _callback(hook: HostHook, requests: Requests) -> HookCallback:
    """A host that has closed the input can't judge a call any more, so the call does not run."""

    def call(payload: Frame, tool_use_id: str | None) -> Frame:
        request = {
            "subtype": "hook_callback",
            "callback_id": hook.callback_id,
            "input": payload,
            "tool_use_id": tool_use_id or new_uuid(),
        }
        try:
            return requests.ask(request, seconds=hook.seconds or CALLBACK_TIMEOUT)
        except HostError as error:
            if error.why != "gone" or hook.event != "PreToolUse":
                raise
            said = {"permissionDecision": "deny", "permissionDecisionReason": error.message}
            return {"hookSpecificOutput": {"hookEventName": hook.event, **said}}

    return call

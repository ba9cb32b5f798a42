"""Run one handler to its end: five kinds of hooks, and functions of the program that drives the session."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.facts.claude_hooks import CALLBACK_TIMEOUT
from checkrein.llm.cancel import Cancel
from checkrein.model.items import Hook
from checkrein.runtime.hooks.ports import Callback, Ports, RunsCommands, Surroundings
from checkrein.runtime.session.channel import ignored
from checkrein.runtime.session.events import Event

if TYPE_CHECKING:
    from checkrein.runtime.hooks.output import Answer, Raw

_CALLBACK = "callback"
_CALLBACK_ORIGIN = Origin("<callback>", "cli")


class Handler(Struct, frozen=True):
    """A hook, and its function when it is a callback."""

    hook: Hook
    call: Callback | None = None

    def seconds(self, event: str) -> float:
        from checkrein.runtime.hooks import limits as timing

        if self.call is not None and not timing.is_seconds(self.hook.timeout):
            return CALLBACK_TIMEOUT
        return timing.timeout(self.hook, event)

    @property
    def label(self) -> str:
        """Its name in reasons and errors, without secrets."""
        from checkrein.base.secrets import redact_text

        hook = self.hook
        if hook.type == "command":
            return redact_text(" ".join((hook.command or "", *(hook.args or ()))))
        if hook.type == "http":
            return redact_text((hook.url or "").partition("?")[0])
        if hook.type == "mcp_tool":
            return f"{hook.server}: {hook.tool}"
        return f"{hook.type} hook" if self.call is None else "callback"


def callback(
    event: str,
    matcher: str | None,
    call: Callback,
    seconds: float | None = None,
    *,
    fail_closed: bool = False,
) -> Handler:
    hook = Hook(
        name=event,
        type=_CALLBACK,
        matcher=matcher,
        timeout=seconds,
        fail_closed=fail_closed,
        origin=_CALLBACK_ORIGIN,
    )
    return Handler(hook, call)


class Occasion(Struct, frozen=True):
    """One run of a handler: the event, the time limit, and where its own events go."""

    event: str
    payload: dict[str, Any]
    seconds: float
    cancel: Cancel
    hook_id: str = ""
    emit: Callable[[Event], None] = ignored

    @property
    def call(self) -> str:
        """The owner of a conversation that the handler starts: the judged call, else this run."""
        return str(self.payload.get("tool_use_id") or self.hook_id)


class Doer(Struct, frozen=True):
    """Everything a handler needs beside the occasion. A child has its own handlers (`owns`) and those of the
    conversation `above`, which still call the tools that are seen there."""

    spawner: RunsCommands
    around: Surroundings
    ports: Ports
    above: Doer | None = None
    owns: Callable[[Handler], bool] = lambda handler: True

    def run(self, handler: Handler, occasion: Occasion) -> Raw:
        """Never raises: the result holds any failure."""
        from checkrein.runtime.hooks.output import Raw

        try:
            raw = self._run(handler, occasion)
        except (
            Exception,
            SystemExit,
        ) as error:  # a port of the session, or a callback: its failure is the hook's
            raw = Raw(failure=f"{type(error).__name__}: {error}", exit_code=None)
        if occasion.cancel.cancelled and raw.failure is not None:
            raw = msgspec.structs.replace(raw, cancelled=True)
        return raw

    def read(self, handler: Handler, event: str, raw: Raw) -> Answer:
        """What a handler's output means for the event."""
        from checkrein.runtime.hooks.output import Raw, answer

        hook = handler.hook
        if hook.type in ("prompt", "agent") and raw.failure is None and not raw.cancelled:
            from checkrein.runtime.hooks.judgement import judge

            found = judge(hook, event, raw)
            if found is not None:
                return found
            raw = Raw(failure="the model's reply is not the required JSON object", exit_code=None)
        return answer(event, raw, handler.label, fail_closed=hook.fail_closed)

    def _run(self, handler: Handler, occasion: Occasion) -> Raw:
        from checkrein.base.wellformed import encode
        from checkrein.runtime.hooks.output import Raw

        hook = handler.hook
        payload, seconds, cancel = occasion.payload, occasion.seconds, occasion.cancel
        if handler.call is not None:
            own = msgspec.json.decode(encode(payload))
            said = handler.call(own, payload.get("tool_use_id"))
            return Raw(stdout=msgspec.json.encode(said or {}).decode(), exit_code=None, callback=True)
        if hook.type == "command":
            from checkrein.runtime.hooks.shell import run_command

            return run_command(hook, occasion.event, payload, self.around, self.spawner, seconds, cancel)
        if hook.type == "http":
            from checkrein.runtime.hooks.http import run_http

            return run_http(hook, payload, self.ports, self.around.env, seconds, cancel)
        if hook.type == "mcp_tool":
            from checkrein.runtime.hooks.mcp_tool import call

            return call(hook, payload, self._where_it_belongs(handler).ports, cancel, occasion.emit)
        from checkrein.runtime.hooks.judgement import ask

        return ask(hook, occasion, self.ports)

    def _where_it_belongs(self, handler: Handler) -> Doer:
        if self.above is None or self.owns(handler):
            return self
        return self.above._where_it_belongs(handler)

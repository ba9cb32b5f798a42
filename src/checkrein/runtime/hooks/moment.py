"""Firing hooks in a session: the facts of the moment, and where the events of a firing go."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from checkrein.llm.port import Cancel
from checkrein.runtime.hooks.outcome import HookOutcome
from checkrein.runtime.hooks.payloads import Common
from checkrein.runtime.session.events import Event, HookFinished, HookStarted

if TYPE_CHECKING:
    from checkrein.runtime.hooks.runner import HookRunner


class Firing:
    """`common` is what every payload tells; it changes with the prompt, the mode and the directory.

    `may_defer` is true while a reply has a single call and nobody is there to ask. Events of a firing go to
    whoever fires, in the thread that fires; those of hooks in the background go to `later`."""

    def __init__(self, common: Common) -> None:
        self.common = common
        self.may_defer = False
        self.later: list[Event] = []
        self._runner: HookRunner | None = None
        self._here = threading.local()

    def attach(self, runner: HookRunner) -> None:
        self._runner = runner

    @property
    def runner(self) -> HookRunner:
        assert self._runner is not None
        return self._runner

    def update(self, **facts: Any) -> None:
        self.common = replace(self.common, **facts)

    def emit(self, event: HookStarted | HookFinished) -> None:
        sink: Callable[[Event], None] = getattr(self._here, "sink", self.later.append)
        sink(event)

    def fire(self, payload: dict[str, Any], emit: Callable[[Event], None], cancel: Cancel) -> HookOutcome:
        event: str = payload["hook_event_name"]
        if self._runner is None or not self._runner.has(event):
            return HookOutcome(event=event)
        self._here.sink = emit
        try:
            return self._runner.fire(event, payload, cancel=cancel)
        finally:
            del self._here.sink

"""Async hooks: nobody waits for them. Their text comes with the next turn; they decide nothing."""

from __future__ import annotations

import threading
import time
from typing import Any

from checkrein.llm.cancel import Cancel
from checkrein.runtime.hooks.handlers import Doer, Occasion
from checkrein.runtime.hooks.outcome import Context, News
from checkrein.runtime.hooks.output import Answer, Raw
from checkrein.runtime.hooks.parallel import Done, Task, finished
from checkrein.runtime.session.events import Event

_CLOSE_SECONDS = 3.0


class Background:
    """The async hooks of one conversation."""

    def __init__(self, doer: Doer) -> None:
        self._doer = doer
        self._lock = threading.Lock()
        self._running: dict[str, tuple[threading.Thread, Cancel]] = {}
        self._events: list[Event] = []
        self._contexts: list[Context] = []
        self._messages: list[str] = []
        self._wake = False
        self._closed = False

    def start(self, event: str, payload: dict[str, Any], task: Task) -> None:
        cancel = Cancel()

        def work() -> None:
            began = time.monotonic()
            raw = self._doer.run(task.handler, Occasion(event, payload, task.seconds, cancel, task.hook_id))
            answer = self._doer.read(task.handler, event, raw)
            if cancel.cancelled:
                raw, answer = Raw(cancelled=True, exit_code=raw.exit_code), Answer(outcome="cancelled")
            self._ended(event, Done(task, raw, answer, int((time.monotonic() - began) * 1000), 0))

        thread = threading.Thread(target=work, name=f"async hook {task.name}", daemon=True)
        with self._lock:
            if self._closed:
                return
            self._running[task.hook_id] = (thread, cancel)
        thread.start()

    def _ended(self, event: str, done: Done) -> None:
        task, said = done.task, done.answer
        wakes = task.handler.hook.async_rewake and done.raw.exit_code == 2 and not done.raw.cancelled
        told = said.context
        if wakes:
            told = (
                told
                or done.raw.stderr.strip()
                or done.raw.stdout.strip()
                or f"{task.name} asks you to look again."
            )
        with self._lock:
            self._running.pop(task.hook_id, None)
            if told and not done.raw.cancelled:
                self._contexts.append(Context(told, task.name, task.handler.hook.origin))
            if said.system_message:
                self._messages.append(said.system_message)
            self._wake = self._wake or wakes
            self._events.append(finished(event, done))

    def news(self) -> News:
        with self._lock:
            news = News(tuple(self._events), tuple(self._contexts), tuple(self._messages), self._wake)
            self._events, self._contexts, self._messages, self._wake = [], [], [], False
        return news

    def close(self) -> None:
        """Cancel the hooks that still run, and wait a short time for them."""
        with self._lock:
            self._closed = True
            running = list(self._running.values())
        for _, cancel in running:
            cancel.cancel()
        limit = time.monotonic() + _CLOSE_SECONDS
        for thread, _ in running:
            thread.join(max(0.0, limit - time.monotonic()))

"""What happened beside the conversation: a changed directory, changed files, the words of async hooks.

Looked at before each prompt and after each round of tool calls, so that hooks hear of it and the model is
told at the next request.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterable
from typing import TYPE_CHECKING, Literal

from checkrein.llm.port import Cancel
from checkrein.runtime.hooks import payloads
from checkrein.runtime.session.events import Event, Notice

if TYPE_CHECKING:
    from checkrein.runtime.session.engine import Engine

Change = Literal["change", "add", "unlink"]
MOST_WATCHED = 200


class FileWatch:
    """The files that FileChanged hooks name: basenames in the working directory, and what hooks add."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[int, int] | None] = {}

    def add(self, paths: Iterable[str]) -> None:
        for path in paths:
            if path not in self._seen and len(self._seen) < MOST_WATCHED:
                self._seen[path] = _stamp(path)

    def changes(self) -> list[tuple[str, Change]]:
        found: list[tuple[str, Change]] = []
        for path, before in self._seen.items():
            now = _stamp(path)
            if now != before:
                found.append((path, "add" if before is None else "unlink" if now is None else "change"))
        self._seen.update({path: _stamp(path) for path, _ in found})
        return found


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def notice(engine: Engine, cancel: Cancel) -> Generator[Event, None, bool]:
    """Fire what is due and hand on what async hooks said; True when one of them wants the model to go on."""
    yield from _moved(engine, cancel)
    yield from _changed(engine, cancel)
    return (yield from _heard(engine))


def watch(engine: Engine, paths: Iterable[str] = ()) -> None:
    """Watch what FileChanged hooks name by their matchers, and `paths`."""
    runner = engine.firing.runner
    if not runner.has("FileChanged"):
        return
    cwd = engine.caller.cwd()
    names = (name.strip() for text in runner.matchers("FileChanged") for name in text.split("|"))
    engine.files.add(os.path.join(cwd, name) for name in names if name and "/" not in name)
    engine.files.add(os.path.join(cwd, os.path.expanduser(path)) for path in paths)


def _moved(engine: Engine, cancel: Cancel) -> Generator[Event, None, None]:
    old, new = engine.firing.common.cwd, engine.caller.cwd()
    if new == old:
        return
    engine.firing.update(cwd=new)
    events: list[Event] = []
    payload = payloads.cwd_changed(engine.firing.common, old, new)
    outcome = engine.firing.fire(payload, events.append, cancel)
    yield from events
    watch(engine, outcome.watch_paths)


def _changed(engine: Engine, cancel: Cancel) -> Generator[Event, None, None]:
    for path, change in engine.files.changes():
        events: list[Event] = []
        payload = payloads.file_changed(engine.firing.common, path, change)
        outcome = engine.firing.fire(payload, events.append, cancel)
        yield from events
        watch(engine, outcome.watch_paths)


def _heard(engine: Engine) -> Generator[Event, None, bool]:
    firing = engine.firing
    later, firing.later[:] = list(firing.later), []
    yield from later
    news = firing.runner.drain()
    for context in news.additional_context:
        yield from engine.note(context.text, "hook:async", context.origin)
    for message in news.system_messages:
        yield Notice("info", message)
    return news.wake

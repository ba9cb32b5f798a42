"""A second place for what goes into transcripts: the program that runs the session keeps it in a store of its
own. The transcript comes first; whatever happens to the copy, the session goes on."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from checkrein.runtime.store.layout import open_for_reading
from checkrein.runtime.store.lines import decode, encode, read_lines
from checkrein.runtime.store.values import Entry

Take = Callable[[str, list[Entry]], object]
"""(path of the transcript, entries): gets what was added to one transcript, in order."""

BATCH = 400_000
"""Bytes of the entries that go out together: the SDKs read lines of one MiB."""
_LARGEST = 800_000
_LONG = 20_000
_HEAVY = ("image", "document")


class Mirror:
    """It keeps entries until somebody attaches. `root` is the real directory of the transcripts, `named` the
    same as the environment names it, which is how the program knows them. Safe to use from several
    threads."""

    def __init__(self, root: Path, named: Path) -> None:
        self._root = root
        self._named = named
        self._lock = threading.Lock()
        self._early: list[tuple[str, list[Entry]]] = []
        self._take: Take | None = None

    def attach(self, take: Take) -> None:
        with self._lock:
            self._take = take
            early, self._early = self._early, []
            for path, entries in early:
                self._pass_on(path, entries)

    def tell(self, path: Path, entries: Iterable[Entry]) -> None:
        """These entries were written to a transcript."""
        name = os.path.join(self._named, os.path.relpath(path, self._root))
        with self._lock:
            for batch in _batches(entries):
                if self._take is None:
                    self._early.append((name, batch))
                else:
                    self._pass_on(name, batch)

    def tell_all(self, path: Path) -> None:
        """The whole transcript is new to the program."""
        with open_for_reading(path) as file:
            self.tell(path, (line.value for line in read_lines(file) if line.value is not None))

    def _pass_on(self, path: str, entries: list[Entry]) -> None:
        if self._take is not None:
            with contextlib.suppress(Exception):
                self._take(path, entries)


def _batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The entries as they are now: their values may change later."""
    batch: list[Entry] = []
    room = BATCH
    for entry in entries:
        line = encode(entry)
        if len(line) > _LARGEST:
            line = encode(_light(entry))
        if batch and len(line) > room:
            yield batch
            batch, room = [], BATCH
        batch.append(decode(line) or {})
        room -= len(line)
    if batch:
        yield batch


def _light(value: Any) -> Any:
    """An entry that no line could hold, without its long texts and its images. The transcript has them."""
    if isinstance(value, str):
        return value if len(value) <= _LONG else f"{value[:_LONG]} {_note(len(value) - _LONG)}"
    if isinstance(value, dict):
        if value.get("type") in _HEAVY and len(encode(value)) > _LONG:
            return {"type": "text", "text": _note(len(encode(value)))}
        return {key: _light(one) for key, one in value.items()}
    if isinstance(value, Sequence):
        return [_light(one) for one in value]
    return value


def _note(size: int) -> str:
    return f"[{size:,} more characters are only in the transcript]"

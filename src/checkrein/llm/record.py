"""Record any Model: write every exchange to a cassette."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import msgspec

from checkrein import __version__
from checkrein.base import jsonl
from checkrein.base.errors import FileError
from checkrein.llm.cancel import Cancel
from checkrein.llm.cassette import (
    VERSION,
    Exchange,
    Plain,
    Plainer,
    Rewrites,
    StoredFailure,
    store,
    store_failure,
)
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.port import Finished, Model, ModelEvent, Request


class RecordingModel:
    """Passes everything through and keeps it. Recording starts with a new file. Each exchange is on disk when
    its stream ends. Only the owner may read the file."""

    def __init__(self, inner: Model, path: str | Path, rewrites: Rewrites = ()) -> None:
        self._inner = inner
        self._plainer = Plainer(rewrites)
        self._lock = threading.Lock()
        self._earlier: list[Plain] = []
        try:
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FileError(f"The cassette {path} can't be written: {error.strerror}.") from None
        jsonl.append(self._file, {"cassette": VERSION, "checkrein": __version__})

    @property
    def searches(self) -> bool:
        return bool(getattr(self._inner, "searches", False))

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        events: list[msgspec.Raw] = []
        failure: StoredFailure | None = StoredFailure("cancelled", "The reader left the stream.")
        try:
            for event in self._inner.stream(request, cancel):
                events.append(self._plainer.event(event))
                if isinstance(event, Finished):
                    failure = None
                yield event
        except ModelRequestError as error:
            failure = store_failure(error)
            raise
        finally:
            self._keep(request, tuple(events), failure)

    def _keep(self, request: Request, events: tuple[msgspec.Raw, ...], failure: StoredFailure | None) -> None:
        with self._lock:
            plain = self._plainer.request(request)
            jsonl.append(self._file, Exchange(store(plain, self._earlier), events, failure))
            self._earlier.append(plain)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

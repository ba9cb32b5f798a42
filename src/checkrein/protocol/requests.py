"""Control requests to the host, the program that drives the session: each waits for its answer."""

from __future__ import annotations

import threading
from typing import Literal

from checkrein.base.errors import CheckreinError
from checkrein.base.ids import new_uuid
from checkrein.llm.cancel import Cancel
from checkrein.protocol.wire import Frame, LineWriter

Why = Literal["failed", "gone", "cancelled", "late"]


class HostError(CheckreinError):
    """The host gave no answer: its function failed, it closed the input, we gave up, or it took too long."""

    def __init__(self, why: Why, message: str) -> None:
        super().__init__(message, kind=f"host_{why}")
        self.why = why


class _Open:
    """A request without an answer yet."""

    def __init__(self) -> None:
        self.ended = threading.Event()
        self.response: Frame | None = None


class Requests:
    """Any thread may ask; several requests may be open at once."""

    def __init__(self, out: LineWriter) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._open: dict[str, _Open] = {}
        self._closed = False

    def ask(self, request: Frame, cancel: Cancel | None = None, seconds: float | None = None) -> Frame:
        """The response. After a cancel, or after so many seconds, the host learns that nobody waits."""
        identity, waiting = new_uuid(), _Open()
        with self._lock:
            if self._closed:
                raise _gone()
            self._open[identity] = waiting
        try:
            self._write({"type": "control_request", "request_id": identity, "request": request})
            if cancel is None:
                waiting.ended.wait(seconds)
            else:
                with cancel.on_cancel(waiting.ended.set):
                    waiting.ended.wait(seconds)
        finally:
            with self._lock:
                unanswered = self._open.pop(identity, None) is not None
        if waiting.response is not None:
            return _answer(waiting.response)
        if not unanswered:
            raise _gone()
        self._write({"type": "control_cancel_request", "request_id": identity})
        if cancel is not None and cancel.cancelled:
            raise HostError("cancelled", "The turn was interrupted.")
        raise HostError("late", "The host did not answer in time.")

    def take(self, frame: Frame) -> None:
        """Take a control response. One that nobody waits for is ignored."""
        response = frame.get("response")
        if not isinstance(response, dict):
            return
        with self._lock:
            waiting = self._open.pop(str(response.get("request_id")), None)
        if waiting is not None:
            waiting.response = response
            waiting.ended.set()

    def give_up(self) -> None:
        """The turn is over: nobody needs the open answers."""
        self._end("late")

    def close(self) -> None:
        """No answer can come any more."""
        with self._lock:
            self._closed = True
        self._end("gone")

    def _end(self, why: Literal["late", "gone"]) -> None:
        with self._lock:
            left = dict(self._open)
            if why == "gone":
                self._open.clear()
        for waiting in left.values():
            waiting.ended.set()

    def _write(self, frame: Frame) -> None:
        try:
            self._out.write(frame)
        except OSError as error:
            raise _gone() from error


def _answer(response: Frame) -> Frame:
    if response.get("subtype") != "success":
        raise HostError("failed", str(response.get("error") or "The host's function failed."))
    found = response.get("response")
    return found if isinstance(found, dict) else {}


def _gone() -> HostError:
    return HostError("gone", "The host has closed the input: it can't answer.")

"""Input while a session runs: prompts wait in line, control requests get an answer at once."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.llm.port import Document, Image, Text
from checkrein.protocol.wire import Frame, LineWriter
from checkrein.runtime.session.channel import WAKE
from checkrein.runtime.session.control import Control, Prompt
from checkrein.runtime.session.events import Event, SessionStarted
from checkrein.runtime.session.idle import Idle
from checkrein.runtime.session.wakes import Wake

Handler = Callable[[Frame], Frame]
"""Handles the `request` of a control request and returns the response. It runs in the thread that reads, so
it must not wait. An error that it raises is the answer."""

_UserBlock = Text | Image | Document
"""What a user can say. Calls, their results and thoughts belong to the session."""

_INTO_TURN = ("now", "next")
"""Values of `priority` that send a message into the running turn. Other messages wait for their own turn."""


class _Waiting(Struct, frozen=True):
    """A prompt that waits in line. With `error`: the line that ends the input."""

    prompt: Prompt | Wake = ""
    uuid: str | None = None
    error: UsageError | None = None


class Inbox:
    """`take` gets every line, in the thread that reads. `prompts` gives another thread the prompts to run.

    A line that is not a message ends the input: `prompts` raises it after the prompts that came before it."""

    def __init__(
        self, control: Control, out: LineWriter, handlers: Mapping[str, Handler] | None = None
    ) -> None:
        self._control = control
        self._out = out
        own: dict[str, Handler] = {"interrupt": self._interrupt, "register_repo_root": self._add_directory}
        self._handlers: dict[str, Handler] = {**own, **(handlers or {})}
        self._change = threading.Condition()
        self._waiting: deque[_Waiting] = deque()
        self._turn: Literal["none", "taken", "begun"] = "none"
        self._interrupted = False
        self._ended = False

    def take(self, number: int, line: bytes | None) -> bool:
        """Take one line of input; None at its end. False ends the reading."""
        if line is None:
            self._end()
            return False
        try:
            self._dispatch(_decoded(line, number), number)
        except UsageError as error:
            self._end(_Waiting(error=error))
            return False
        return True

    def prompts(self, idle: Idle) -> Iterator[Prompt | Wake]:
        """Prompts in the order of their arrival, until the input ends. Messages that a turn could
        not take before it ended come next. While no prompt waits, wakes start turns; after the end of the
        input those that are awaited."""
        self._control.wakes.listen(self._notify)
        while (item := self._next(idle)) is not None:
            if item.error is not None:
                raise item.error
            yield item.prompt
            with self._change:
                self._turn = "none"
                left = []
                while (message := self._control.take_message()) is not None:
                    left.append(_Waiting(message))
                self._waiting.extendleft(reversed(left))

    def show(self, event: Event) -> None:
        """Learn from the events of the session when a turn begins. An interrupt that came between the prompt
        and its turn ends that turn."""
        if not isinstance(event, SessionStarted) or event.agent_id is not None:
            return
        with self._change:
            self._turn = "begun"
            late, self._interrupted = self._interrupted, False
        if late:
            self._control.interrupt()

    def _next(self, idle: Idle) -> _Waiting | None:
        while True:
            with self._change:
                ended = self._ended
                if self._waiting:
                    self._turn = "taken"
                    return self._waiting.popleft()
            idle.show()
            if ended:
                wake = idle.awaited()
                return _Waiting(wake) if wake is not None else None
            wake = self._control.wakes.next()
            with self._change:
                if wake is not None:
                    self._turn = "taken"
                    return _Waiting(wake)
                if not self._waiting and not self._ended:
                    self._change.wait(WAKE)

    def _notify(self) -> None:
        with self._change:
            self._change.notify()

    def _put(self, item: _Waiting) -> None:
        with self._change:
            self._waiting.append(item)
            self._change.notify()

    def _end(self, *last: _Waiting) -> None:
        with self._change:
            self._waiting.extend(last)
            self._ended = True
            self._change.notify()

    def _dispatch(self, frame: Any, number: int) -> None:
        match frame:
            case {"type": "user"}:
                self._take_message(frame, _content(frame, number))
            case {"type": "control_request"}:
                self._answer(frame)

    def _take_message(self, frame: Frame, content: Prompt) -> None:
        uuid = frame.get("uuid")
        with self._change:
            if self._turn != "none" and frame.get("priority") in _INTO_TURN:
                self._control.send(content)
                return
        self._put(_Waiting(content, uuid if isinstance(uuid, str) else None))

    def _answer(self, frame: Frame) -> None:
        """Answer every control request, unknown ones too."""
        request = frame.get("request")
        body = request if isinstance(request, dict) else {}
        handler = self._handlers.get(str(body.get("subtype")))
        response: Frame = {"subtype": "success", "request_id": frame.get("request_id")}
        try:
            if handler is None:
                raise UsageError(f"The control request {body.get('subtype')!r} is not known.")
            response["response"] = handler(body)
        except CheckreinError as error:
            response |= {"subtype": "error", "error": error.message}
        except Exception as error:
            response |= {"subtype": "error", "error": f"{type(error).__name__}: {error}"}
        with contextlib.suppress(OSError):
            self._out.write({"type": "control_response", "response": response})

    def _interrupt(self, request: Frame) -> Frame:
        with self._change:
            queued = [one.uuid for one in self._waiting if one.uuid is not None]
            self._interrupted = self._turn == "taken" or (self._turn == "none" and bool(self._waiting))
        self._control.interrupt()
        return {"still_queued": queued}

    def _add_directory(self, request: Frame) -> Frame:
        path = request.get("directory") or request.get("path")
        if not isinstance(path, str):
            raise UsageError("register_repo_root needs a `directory`.")
        self._control.add_directory(path)
        return {}


def _decoded(line: bytes, number: int) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"Line {number} of standard input is not JSON: {error}") from error


def _content(frame: Frame, number: int) -> Prompt:
    message = frame.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    try:
        found = msgspec.convert(content, str | list[_UserBlock])
    except msgspec.ValidationError as error:
        raise UsageError(f"Line {number} of standard input has no usable content: {error}") from error
    if not found or all(block == Text("") for block in found):
        raise UsageError(f"Line {number} of standard input is an empty message.")
    return found

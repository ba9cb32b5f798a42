"""Input while a session runs: prompts wait in line, control requests get an answer at any time."""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal

import msgspec
from msgspec import Struct

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.base.wellformed import scrubbed
from checkrein.llm.port import Document, Image, Text
from checkrein.protocol.requests import Requests
from checkrein.protocol.wire import Frame, LineWriter
from checkrein.runtime.session.channel import WAKE
from checkrein.runtime.session.control import Control, Prompt, Typed
from checkrein.runtime.session.events import Event, SessionStarted
from checkrein.runtime.session.idle import Idle
from checkrein.runtime.session.wakes import Wake


class Told(Struct, frozen=True):
    """A response, and what happens once it is written."""

    response: Frame
    then: Callable[[], object]


Handler = Callable[[Frame], Frame | Told]
"""Handles the `request` of a control request and returns the response. An error that it raises is the
answer."""

INITIALIZE = "initialize"
_UserBlock = Text | Image | Document
"""What a user can say. Calls, their results and thoughts belong to the session."""

_INTO_TURN = ("now", "next")
"""Values of `priority` that send a message into the running turn. Other messages wait for their own turn."""

_LAST_ANSWERS = 5.0
"""How long answers may take when everything else is done."""


class Unusable(Struct, frozen=True):
    """A message in line that is no prompt, and why. Its turn ends at once with an error."""

    reason: str


class Waiting(Struct, frozen=True):
    """A prompt that waits in line, and what its sender says about it. With `error`: the line that ends the
    input."""

    prompt: Prompt | Typed | Wake | Unusable = ""
    uuid: str | None = None
    origin: Any = None
    error: UsageError | None = None


class Inbox:
    """`take` gets every line, in the thread that reads. `prompts` gives another thread the prompts to run.

    Requests that come before `attach` wait for it. Handlers work in the thread that reads, so that what they
    change counts for the next prompt; a slow one has a thread of its own. A line that is not a message ends
    the input: `prompts` raises it after the prompts that came before it."""

    def __init__(self, out: LineWriter, requests: Requests | None = None) -> None:
        self._out = out
        self._requests = requests
        self._control: Control | None = None
        self._answers = False
        self._handlers: dict[str, Handler] = {}
        self._slow: Collection[str] = ()
        self._change = threading.Condition()
        self._waiting: deque[Waiting] = deque()
        self._silent: list[Prompt] = []
        self._early: list[tuple[Frame, bool]] = []
        self._first: Frame | None = None
        self._heard = False
        self._turn: Literal["none", "taken", "begun"] = "none"
        self._interrupted = False
        self._ended = False
        self._complete = False
        self._prompted = False
        self._answering: list[threading.Thread] = []
        self.current = Waiting()

    def take(self, number: int, line: bytes | None) -> bool:
        """Take one line of input; None at its end. False ends the reading."""
        if line is None:
            self._end()
            return False
        try:
            self._dispatch(_decoded(line, number))
        except UsageError as error:
            self._end(Waiting(error=error))
            return False
        return True

    def greeting(self, patience: float | None = None) -> Frame | None:
        """The `initialize` request, if that is the first thing that arrives. Waits for the first thing, at
        most `patience` seconds."""
        with self._change:
            self._change.wait_for(lambda: self._heard or self._ended, patience)
            self._heard = True  # a request that comes later is one like others
            return self._first

    def attach(
        self, control: Control, handlers: Mapping[str, Handler] | None = None, slow: Collection[str] = ()
    ) -> None:
        """The session is there: handle requests from now on, and those that wait. An interrupt that came
        before every prompt has nothing to end."""
        own: dict[str, Handler] = {
            "interrupt": self._interrupt,
            "register_repo_root": self._add_directory,
            "cancel_async_message": self._withdraw,
            "end_user_input": self._end_messages,
        }
        control.wakes.listen(self._notify)
        with self._change:
            self._control = control
            self._handlers, self._slow = {**own, **(handlers or {})}, slow
        while (early := self._take_early()) is not None:
            frame, prompted = early
            if _subtype(frame) == "interrupt" and not prompted:
                self.reply(frame, lambda: {"still_queued": []})
            else:
                self._answer(frame)

    def _take_early(self) -> tuple[Frame, bool] | None:
        """The next request that waits. When there is none, the thread that reads answers: never before, so
        requests are answered in the order of their arrival."""
        with self._change:
            self._answers = not self._early
            return self._early.pop(0) if self._early else None

    def prompts(self, idle: Idle) -> Iterator[Prompt | Typed | Wake | Unusable]:
        """Prompts in the order of their arrival, until the input ends. Messages that a turn could
        not take before it ended come next. While no prompt waits, wakes start turns; after the end of the
        input those that are awaited."""
        assert self._control is not None
        while (item := self._next(idle)) is not None:
            if item.error is not None:
                raise item.error
            self.current = item
            yield item.prompt
            with self._change:
                self._turn, self._interrupted = "none", False
                left = []
                while (message := self._control.take_message()) is not None:
                    left.append(Waiting(message))
                self._waiting.extendleft(reversed(left))

    @property
    def busy(self) -> bool:
        """Whether a turn follows without anybody doing anything."""
        with self._change:
            if self._waiting:
                return True
        return self._control is not None and self._control.wakes.awaited

    def show(self, event: Event) -> None:
        """Learn from the events of the session when a turn begins. An interrupt that came between the prompt
        and its turn ends that turn."""
        if not isinstance(event, SessionStarted) or event.agent_id is not None:
            return
        with self._change:
            self._turn = "begun"
            late, self._interrupted = self._interrupted, False
        if late and self._control is not None:
            self._control.interrupt()

    def reply(self, frame: Frame, work: Callable[[], Frame | Told]) -> None:
        """Answer a control request with what `work` returns, or with its error."""
        response: Frame = {"subtype": "success", "request_id": frame.get("request_id")}
        told: Frame | Told = {}
        try:
            told = work()
            response["response"] = told.response if isinstance(told, Told) else told
        except CheckreinError as error:
            response |= {"subtype": "error", "error": error.message}
        except Exception as error:
            response |= {"subtype": "error", "error": f"{type(error).__name__}: {error}"}
        with contextlib.suppress(OSError):
            self._out.write({"type": "control_response", "response": response})
            if isinstance(told, Told):
                told.then()
        self._notify()

    def close(self) -> None:
        """Wait a moment for the answers that are on their way."""
        for thread in self._answering:
            thread.join(_LAST_ANSWERS)

    def _next(self, idle: Idle) -> Waiting | None:
        assert self._control is not None
        while True:
            idle.show()
            with self._change:
                ended = self._is_over()
                if self._waiting:
                    self._turn = "taken"
                    self._say_silent()
                    return self._waiting.popleft()
            if ended:
                wake = idle.awaited()
                return Waiting(wake) if wake is not None else None
            wake = self._control.wakes.next()
            with self._change:
                if wake is not None:
                    self._turn = "taken"
                    return Waiting(wake)
                if not self._waiting and not self._is_over():
                    self._change.wait(WAKE)

    def _is_over(self) -> bool:
        """Whether no prompt can come any more."""
        return self._ended or (self._complete and self._prompted)

    def _say_silent(self) -> None:
        """Messages that start no turn of their own come before the next prompt."""
        assert self._control is not None
        for message in self._silent:
            self._control.send(message)
        self._silent.clear()

    def _notify(self) -> None:
        with self._change:
            self._change.notify()

    def _put(self, item: Waiting) -> None:
        with self._change:
            self._prompted = True
            self._waiting.append(item)
            self._change.notify()

    def _end(self, *last: Waiting) -> None:
        with self._change:
            self._waiting.extend(last)
            self._ended = True
            self._change.notify()
        if self._requests is not None:
            self._requests.close()

    def _dispatch(self, frame: Any) -> None:
        match frame:
            case {"type": "user"}:
                self._take_message(frame)
            case {"type": "control_request"}:
                self._take_request(frame)
            case {"type": "control_response"} if self._requests is not None:
                self._requests.take(frame)

    def _take_message(self, frame: Frame) -> None:
        uuid = frame["uuid"] if isinstance(frame.get("uuid"), str) else None
        content = _content(frame)
        with self._change:
            self._heard = True
            self._change.notify()
        if isinstance(content, Unusable):
            self._put(Waiting(content, uuid, frame.get("origin")))
            return
        with self._change:
            if self._turn != "none" and frame.get("priority") in _INTO_TURN and self._control is not None:
                self._control.send(content)
                return
            if frame.get("shouldQuery") is False:
                self._silent.append(content)
                return
        verbatim = frame.get("client_composed") is True
        prompt: Prompt | Typed = content
        if uuid is not None or verbatim:
            prompt = Typed(content=content, uuid=uuid, verbatim=verbatim)
        self._put(Waiting(prompt, uuid, frame.get("origin")))

    def _take_request(self, frame: Frame) -> None:
        with self._change:
            first, self._heard = not self._heard, True
            if first and not self._answers and _subtype(frame) == INITIALIZE:
                self._first = frame
                self._change.notify()
                return
            if not self._answers:
                self._early.append((frame, bool(self._waiting)))
                self._change.notify()
                return
        self._answer(frame)

    def _answer(self, frame: Frame) -> None:
        """Answer every control request, unknown ones too."""
        subtype = _subtype(frame)
        handler = self._handlers.get(subtype) if isinstance(subtype, str) else None

        def work() -> Frame | Told:
            if handler is None:
                raise UsageError(f"The control request {subtype!r} is not known.")
            return handler(frame["request"])

        if handler is None or subtype not in self._slow:
            self.reply(frame, work)
            return
        thread = threading.Thread(
            target=self.reply, args=(frame, work), name=f"checkrein-{subtype}", daemon=True
        )
        self._answering = [*(one for one in self._answering if one.is_alive()), thread]
        thread.start()

    def _interrupt(self, request: Frame) -> Frame:
        assert self._control is not None
        with self._change:
            queued = [one.uuid for one in self._waiting if one.uuid is not None]
            self._interrupted = self._turn == "taken" or (self._turn == "none" and bool(self._waiting))
        self._control.interrupt()
        return {"still_queued": queued}

    def _withdraw(self, request: Frame) -> Frame:
        """Take a prompt out of the line. One whose turn has begun goes on."""
        wanted = request.get("message_uuid")
        with self._change:
            left = [one for one in self._waiting if wanted is None or one.uuid != wanted]
            cancelled = len(left) < len(self._waiting)
            self._waiting = deque(left)
        return {"cancelled": cancelled}

    def _end_messages(self, request: Frame) -> Frame:
        """No prompt follows those that came. The host still answers requests: the input stays open."""
        with self._change:
            self._complete = True
            self._change.notify()
        return {}

    def _add_directory(self, request: Frame) -> Frame:
        assert self._control is not None
        path = request.get("directory") or request.get("path")
        if not isinstance(path, str):
            raise UsageError("register_repo_root needs a `directory`.")
        self._control.add_directory(path)
        return {}


def _subtype(frame: Frame) -> Any:
    request = frame.get("request")
    return request.get("subtype") if isinstance(request, dict) else None


def _decoded(line: bytes, number: int) -> Any:
    try:
        return msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        try:
            return _loosely_decoded(line)
        except (ValueError, RecursionError):
            raise UsageError(f"Line {number} of standard input is not JSON: {error}") from error


def _loosely_decoded(line: bytes) -> Any:
    """What Python's own encoder writes and JSON does not have: half a surrogate pair, NaN, long numbers."""
    import json

    return scrubbed(json.loads(line))


def _content(frame: Frame) -> Prompt | Unusable:
    message = frame.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    try:
        found: Prompt = msgspec.convert(content, str | list[_UserBlock])
    except msgspec.ValidationError as error:
        return Unusable(f"The message has no usable content: {error}")
    texts = [found] if isinstance(found, str) else [one.text for one in found if isinstance(one, Text)]
    if not isinstance(found, str) and len(texts) < len(found):
        return found
    return found if any(text.strip() for text in texts) else Unusable("The message is empty.")

"""One request to the model, with retries: the reply, or why there is none."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator, Sequence

from msgspec import Struct

from checkrein.base.ids import new_uuid, short_id
from checkrein.llm.port import (
    BlockCompleted,
    Cancel,
    Finished,
    Model,
    ModelEvent,
    ModelRequestError,
    RedactedThinking,
    Reply,
    Request,
    Started,
    StopReason,
    Text,
    TextDelta,
    Thinking,
    ToolUse,
    Usage,
    UsageReport,
)
from checkrein.runtime.session.events import AssistantBlock, Event, Retrying, Streamed
from checkrein.runtime.turn.retry import RetryPolicy, delay

ReplyBlock = Text | Thinking | RedactedThinking | ToolUse
_KEEPS_TEXT = frozenset({"cancelled", "reply_too_large"})
"""Failures after which nobody asks again, so that the text so far is the reply."""


class Asked(Struct, frozen=True):
    """`reply` is set when anything usable came, `error` when the request failed. Both are set when the stream
    broke off after whole blocks. `first_at` is when the reply began, in monotonic seconds."""

    reply: Reply | None
    error: ModelRequestError | None
    seconds: float
    attempts: int
    first_at: float | None = None


def ask(
    model: Model,
    request: Request,
    cancel: Cancel,
    policy: RetryPolicy,
    *,
    partial: bool,
    chance: random.Random,
    sleep: Callable[[float], bool] | None = None,
) -> Generator[Event, None, Asked]:
    """Yield the events of one reply; the generator's value is `Asked`.

    Yields only whole blocks. A retry starts from nothing: a failed attempt that is retried has yielded no
    block, because a `completed` block ends the retries.
    """
    began = time.monotonic()
    attempt = 0
    while True:
        heard = _Heard()
        try:
            for event in _stream(model, request, cancel, policy.seconds):
                heard.take(event)
                if partial:
                    whole = isinstance(event, BlockCompleted)
                    yield Streamed(event, heard.uuids[-1] if whole else None)
            reply = heard.reply()
            yield from _blocks_of(reply, None, heard.uuids)
            return Asked(reply, None, time.monotonic() - began, attempt + 1, heard.first_at)
        except ModelRequestError as failure:
            error = _cancelled() if cancel.cancelled else failure
            attempt += 1
            wait = None if heard.blocks else delay(policy, error, attempt, chance)
            spent = time.monotonic() - began
            if wait is None or (policy.seconds is not None and spent + wait > policy.seconds):
                kept = heard.cut(error.kind in _KEEPS_TEXT)
                if kept is not None:
                    yield from _blocks_of(kept, error.kind, heard.uuids)
                return Asked(kept, error, spent, attempt, heard.first_at)
            yield Retrying(attempt, policy.attempts, int(wait * 1000), error.message, error.status)
            if (sleep or cancel.wait)(wait):
                return Asked(None, _cancelled(), time.monotonic() - began, attempt)


def _cancelled() -> ModelRequestError:
    return ModelRequestError("cancelled", "The model request was cancelled.")


def _stream(model: Model, request: Request, cancel: Cancel, seconds: float | None) -> Iterator[ModelEvent]:
    """The events of one attempt. With `seconds`, a model that sends nothing for so long has failed."""
    if seconds is None:
        yield from model.stream(request, cancel)
        return
    with cancel.branch(seconds) as part:
        try:
            for event in model.stream(request, part):
                part.release()
                yield event
        except ModelRequestError as error:
            if error.kind == "cancelled" and not cancel.cancelled:
                raise ModelRequestError(
                    "idle_timeout", f"{request.model} sent nothing for {seconds:g} s."
                ) from None
            raise


class _Heard:
    """A reply while it arrives."""

    def __init__(self) -> None:
        self.started = Started("", "")
        self.blocks: list[ReplyBlock] = []
        self.uuids: list[str] = []
        self._open: list[str] = []
        self.usage = Usage()
        self.finished: Finished | None = None
        self.first_at: float | None = None

    def take(self, event: object) -> None:
        self.first_at = self.first_at or time.monotonic()
        match event:
            case TextDelta(text=text):
                self._open.append(text)
            case BlockCompleted(block=block):
                self.blocks.append(block)
                self.uuids.append(new_uuid())
                self._open.clear()
            case Started():
                self.started = event
            case UsageReport(usage=usage):
                self.usage = usage
            case Finished():
                self.finished = event

    def reply(self) -> Reply:
        if self.finished is None:
            raise ModelRequestError("dropped", "The reply ended without an end event.", completed=())
        end = self.finished
        return self._reply(end.stop_reason, end.usage, end.raw_stop_reason, end.stop_sequence)

    def cut(self, keeps_text: bool) -> Reply | None:
        """What came before the stream broke off: whole blocks, and the text of the one that was open. Text
        alone counts only with `keeps_text`."""
        text = "".join(self._open)
        if not self.blocks and not (keeps_text and text.strip()):
            return None
        calls = any(isinstance(block, ToolUse) for block in self.blocks)
        if text.strip() and not calls:
            self.blocks.append(Text(text))
            self.uuids.append(new_uuid())
        return self._reply("tool_use" if calls else "unknown", self.usage, "cut", None)

    def _reply(self, stop: StopReason, usage: Usage, raw: str, sequence: str | None) -> Reply:
        identity = self.started.id or short_id("msg_")
        return Reply(identity, self.started.model, tuple(self.blocks), stop, usage, raw, sequence)


def _blocks_of(reply: Reply, error: str | None, uuids: Sequence[str]) -> Iterator[AssistantBlock]:
    last = len(reply.content) - 1
    for index, block in enumerate(reply.content):
        end = index == last
        stop = reply.stop_reason if end else None
        yield AssistantBlock(uuids[index], reply.id, reply.model, block, reply.usage, end, stop, error)

"""One request to the model, with retries: the reply, or why there is none."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Generator, Iterator

from msgspec import Struct

from checkrein.base.ids import new_uuid, short_id
from checkrein.llm.port import (
    BlockCompleted,
    Cancel,
    Finished,
    Model,
    ModelRequestError,
    RedactedThinking,
    Reply,
    Request,
    Started,
    StopReason,
    Text,
    Thinking,
    ToolUse,
    Usage,
    UsageReport,
)
from checkrein.runtime.session.events import AssistantBlock, Event, Retrying, Streamed
from checkrein.runtime.turn.retry import RetryPolicy, delay

ReplyBlock = Text | Thinking | RedactedThinking | ToolUse


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
            for event in model.stream(request, cancel):
                heard.take(event)
                if partial:
                    yield Streamed(event)
            reply = heard.reply()
            yield from _blocks_of(reply, None)
            return Asked(reply, None, time.monotonic() - began, attempt + 1, heard.first_at)
        except ModelRequestError as error:
            attempt += 1
            wait = None if heard.blocks else delay(policy, error, attempt, chance)
            if wait is None or cancel.cancelled:
                kept = heard.cut() if heard.blocks else None
                if kept is not None:
                    yield from _blocks_of(kept, error.kind)
                return Asked(kept, error, time.monotonic() - began, attempt, heard.first_at)
            yield Retrying(attempt, policy.attempts, int(wait * 1000), error.message, error.status)
            if (sleep or cancel.wait)(wait):
                return Asked(None, error, time.monotonic() - began, attempt)


class _Heard:
    """A reply while it arrives."""

    def __init__(self) -> None:
        self.started = Started("", "")
        self.blocks: list[ReplyBlock] = []
        self.usage = Usage()
        self.finished: Finished | None = None
        self.first_at: float | None = None

    def take(self, event: object) -> None:
        self.first_at = self.first_at or time.monotonic()
        match event:
            case BlockCompleted(block=block):
                self.blocks.append(block)
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

    def cut(self) -> Reply:
        """The blocks that were whole before the stream broke off."""
        calls = any(isinstance(block, ToolUse) for block in self.blocks)
        return self._reply("tool_use" if calls else "unknown", self.usage, "cut", None)

    def _reply(self, stop: StopReason, usage: Usage, raw: str, sequence: str | None) -> Reply:
        identity = self.started.id or short_id("msg_")
        return Reply(identity, self.started.model, tuple(self.blocks), stop, usage, raw, sequence)


def _blocks_of(reply: Reply, error: str | None) -> Iterator[AssistantBlock]:
    last = len(reply.content) - 1
    for index, block in enumerate(reply.content):
        end = index == last
        stop = reply.stop_reason if end else None
        yield AssistantBlock(new_uuid(), reply.id, reply.model, block, reply.usage, end, stop, error)

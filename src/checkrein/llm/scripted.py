"""A model that plays a script in this process. `server` plays the same scripts over HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from checkrein.llm.anthropic_body import encode, encode_message
from checkrein.llm.blocks import Blocks
from checkrein.llm.bodies import MessageBytes, encode_json
from checkrein.llm.cancel import Cancel
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.port import (
    Finished,
    ModelEvent,
    Request,
    Searched,
    Started,
    StopReason,
    Usage,
    UsageReport,
)
from checkrein.llm.refusal import refusal
from checkrein.llm.script import Fault, Script, Turn

_STOPS: tuple[StopReason, ...] = (
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "pause_turn",
    "window_exceeded",
)
BYTES_PER_TOKEN = 4


class ScriptedModel:
    """Keeps every request in `requests`. `idle` is the longest silence until it gives up, as a wire does."""

    searches = True

    def __init__(
        self, script: Script | Iterable[Turn | dict[str, Any]] | str | Path, *, idle: float = 300.0
    ) -> None:
        self.script = as_script(script)
        self.requests: list[Request] = []
        self._idle = idle
        self._messages = MessageBytes(encode_message)

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        self.requests.append(request)
        number, turn = self.script.take(lambda: request)
        events = plan(turn, number, request.model, len(encode(request, self._messages)))
        self._wait(turn.delay, cancel)
        if turn.fault is not None and turn.fault.status is not None:
            raise refused(turn.fault)
        blocks = []
        try:
            for count, event in enumerate(events):
                if turn.fault is not None and count == turn.fault.after:
                    self._fail(turn.fault, cancel)
                self._wait(turn.pace if count else 0.0, cancel)
                blocks.append(event)
                yield event
        except ModelRequestError as error:
            error.completed = tuple(event.block for event in blocks if hasattr(event, "block"))
            raise

    def _wait(self, seconds: float, cancel: Cancel) -> None:
        if cancel.cancelled or (seconds > 0 and cancel.wait(min(seconds, self._idle))):
            raise ModelRequestError("cancelled", "The model request was cancelled.")
        if seconds > self._idle:
            raise ModelRequestError("idle_timeout", f"The script sent nothing for {self._idle:g} s.")

    def _fail(self, fault: Fault, cancel: Cancel) -> None:
        if fault.silent is not None:
            self._wait(fault.silent, cancel)
        elif fault.error is not None:
            raise refusal(None, error_body(fault))
        elif fault.cut:
            raise ModelRequestError("dropped", "The script cut the answer here.")
        else:
            raise ModelRequestError("malformed_stream", "The script broke the stream here.")


def as_script(script: Script | Iterable[Turn | dict[str, Any]] | str | Path) -> Script:
    if isinstance(script, Script):
        return script
    return Script.load(script) if isinstance(script, str | Path) else Script(script)


def plan(turn: Turn, number: int, model: str, prompt_bytes: int) -> list[ModelEvent]:
    """The events of one reply. Ids and estimated usage depend only on the arguments."""
    blocks = Blocks()
    middle: list[ModelEvent] = []
    if turn.thinking:
        middle += blocks.open("thinking", "thinking")
        for piece in _pieces(turn.thinking, turn.chunk):
            middle += blocks.add("thinking", piece)
        blocks.sign("thinking", turn.signature)
        middle += blocks.close("thinking")
    if turn.text:
        middle += blocks.open("text", "text")
        for piece in _pieces(turn.text, turn.chunk):
            middle += blocks.add("text", piece)
        middle += blocks.close("text")
    for index, call in enumerate(turn.tool_calls):
        given = f"toolu_{number:06d}_{index:02d}" if call.id is None else call.id
        middle += blocks.open(index, "tool_use", given, call.name)
        arguments = encode_json(call.input).decode() if call.arguments is None else call.arguments
        for piece in _pieces(arguments, turn.chunk):
            middle += blocks.add(index, piece)
        middle += blocks.close(index)
    spoken = sum(len(encode_json(block)) for block in blocks.completed)
    usage = Usage(
        **{
            "input": prompt_bytes // BYTES_PER_TOKEN,
            "output": 1 + spoken // BYTES_PER_TOKEN,
            "searches": int(bool(turn.hits)),
            **turn.usage,
        }
    )
    before = Usage(usage.input, 0, usage.cache_read, usage.cache_creation, usage.cache_creation_1h)
    raw = turn.stop_reason or ("tool_use" if turn.tool_calls else "end_turn")
    reason: StopReason = next((known for known in _STOPS if known == raw), "unknown")
    return [
        Started(f"msg_{number:06d}", model),
        UsageReport(before),
        *((Searched(turn.hits),) if turn.hits else ()),
        *middle,
        UsageReport(usage),
        Finished(reason, usage, raw),
    ]


def refused(fault: Fault) -> ModelRequestError:
    headers = {} if fault.retry_after is None else {"retry-after": f"{fault.retry_after:g}"}
    return refusal(fault.status, error_body(fault), headers)


def error_body(fault: Fault) -> bytes:
    """The body of a refusal, as all three wires understand it."""
    error: dict[str, Any] = {"message": fault.message}
    if fault.error:
        error["type"] = error["code"] = fault.error
    return encode_json({"type": "error", "error": error})


def _pieces(text: str, size: int) -> list[str]:
    return (
        [text[start : start + size] for start in range(0, len(text), size)] if size > 0 and text else [text]
    )

"""The lines that the real `claude` writes with `--output-format stream-json`, as a report. Total: no line
raises."""

from __future__ import annotations

from collections import deque
from typing import Any, get_args

from checkrein.runtime.store.lines import decode
from checkrein.runtime.worker.backend import Heart
from checkrein.runtime.worker.session_report import Report, SessionSubtype, Tokens, Written, has_marker

_FULL = "prompt is too long"
_WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")
_TEXTS = 200
_LONGEST = 200_000


class Frames:
    """Takes lines as they come; `report` is what they say so far. The last `result` record counts."""

    def __init__(self, beat: Heart) -> None:
        self._beat = beat
        self._texts: deque[str] = deque(maxlen=_TEXTS)
        self._calls: dict[str, Written | None] = {}
        self._writes: deque[Written] = deque(maxlen=10 * _TEXTS)
        self._result: dict[str, Any] | None = None
        self._session = ""
        self._is_full = False
        self._records = 0

    @property
    def is_over(self) -> bool:
        return self._result is not None

    def take(self, line: bytes) -> None:
        record = decode(line)
        kind = record.get("type") if record is not None else None
        if record is None or not isinstance(kind, str):
            self._beat("output")
            return
        self._records += 1
        if isinstance(record.get("session_id"), str):
            self._session = record["session_id"]
        if kind == "result":
            self._result = record
            self._beat("submitted")
        elif kind in ("assistant", "user"):
            self._message(record)
        else:
            self._beat("output" if kind == "stream_event" else "step")

    def _message(self, record: dict[str, Any]) -> None:
        self._beat("step")
        message = record.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        for block in content if isinstance(content, list) else ():
            if isinstance(block, dict):
                self._block(block, record)
        usage = message.get("usage") if isinstance(message, dict) else None
        silent = isinstance(usage, dict) and usage.get("output_tokens") == 0
        if silent and self._texts and _FULL in self._texts[-1].lower():
            self._is_full = True

    def _block(self, block: dict[str, Any], record: dict[str, Any]) -> None:
        kind, own = block.get("type"), not record.get("parent_tool_use_id")
        if kind == "text" and own and isinstance(block.get("text"), str) and record["type"] == "assistant":
            self._texts.append(block["text"][-_LONGEST:])
        elif kind == "tool_use" and isinstance(block.get("id"), str):
            self._calls[block["id"]] = _written(block)
            self._beat("tool_started")
        elif kind == "tool_result" and block.get("tool_use_id") in self._calls:
            written = self._calls.pop(block["tool_use_id"])
            if written is not None and not block.get("is_error"):
                self._writes.append(written)
            self._beat("tool_finished")

    def report(self, exit_code: int, stderr: str, marker: str) -> Report:
        result = self._result
        if result is None:
            subtype: SessionSubtype = "unparseable" if self._records or exit_code else "empty_output"
            return Report(
                subtype="context_exhaustion" if self._is_full else subtype,
                is_error=True,
                texts=tuple(self._texts),
                writes=tuple(self._writes),
                session_id=self._session,
                exit_code=exit_code,
                stderr=stderr,
                problem="the session ended without a result",
            )
        said = result.get("result")
        text = said if isinstance(said, str) else ""
        given = result.get("structured_output")
        submission = given if isinstance(given, dict) else None
        done = submission is not None or has_marker(text, marker)
        is_error = result.get("is_error") is True or result.get("subtype") not in ("success", None)
        return Report(
            subtype=self._subtype(result, text),
            is_error=is_error,
            text=text[-_LONGEST:],
            submission=None if is_error else submission,
            texts=tuple(self._texts),
            writes=tuple(self._writes),
            session_id=self._session,
            exit_code=exit_code,
            channel="channel_a" if done and not is_error else "unmonitored",
            stderr=stderr,
            tokens=_tokens(result),
            problem=_problem(result, text) if is_error else "",
        )

    def _subtype(self, result: dict[str, Any], text: str) -> SessionSubtype:
        errors = result.get("errors")
        words = " ".join(map(str, errors)) if isinstance(errors, list) else ""
        failed = result.get("is_error") is True or result.get("subtype") != "success"
        if self._is_full or (failed and _FULL in f"{words} {text}".lower()):
            return "context_exhaustion"
        said = result.get("subtype")
        return next((known for known in get_args(SessionSubtype) if known == said), "unknown")


def _written(block: dict[str, Any]) -> Written | None:
    name, input = block.get("name"), block.get("input")
    values = input if isinstance(input, dict) else {}
    if name == "Bash":
        return Written("Bash", str(values.get("command", ""))[:_LONGEST])
    path = values.get("file_path", values.get("notebook_path"))
    return Written(str(name), path) if name in _WRITERS and isinstance(path, str) else None


def _problem(result: dict[str, Any], text: str) -> str:
    errors = result.get("errors")
    words = "; ".join(map(str, errors)) if isinstance(errors, list) else ""
    return (words or text or str(result.get("subtype")))[:2000]


def _tokens(result: dict[str, Any]) -> Tokens:
    usage = result.get("usage")
    counts = usage if isinstance(usage, dict) else {}
    cost = result.get("total_cost_usd")
    return Tokens(
        input=_count(counts.get("input_tokens")),
        output=_count(counts.get("output_tokens")),
        cache_creation=_count(counts.get("cache_creation_input_tokens")),
        cache_read=_count(counts.get("cache_read_input_tokens")),
        cost_usd=float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else 0.0,
    )


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0

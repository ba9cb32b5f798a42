"""Where prompts come from: the command line, a pipe, a stream of JSON lines."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import UsageError

if TYPE_CHECKING:
    from checkrein.llm.port import Block

MAX_PIPED = 10 * 1024 * 1024
FIRST_BYTE_SECONDS = 3.0


def prompt(given: str | None) -> str:
    """The prompt, with what was piped in after it."""
    piped = _piped(wait=given is None)
    text = "\n\n".join(part for part in (given, piped) if part)
    if not text.strip():
        raise UsageError(
            "There is no prompt.",
            kind="prompt_missing",
            hint="Write it after the command, or pipe it in: checkrein run 'fix the failing test'.",
        )
    return text


def _piped(*, wait: bool) -> str:
    """What stands on standard input when it is a file or a pipe that says something soon."""
    try:
        descriptor = sys.stdin.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError, AttributeError):
        return ""
    if stat.S_ISCHR(kind) or not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return ""
    if not stat.S_ISREG(kind) and not wait:
        import select

        ready, _, _ = select.select([descriptor], [], [], FIRST_BYTE_SECONDS)
        if not ready:
            return ""
    data = sys.stdin.buffer.read(MAX_PIPED + 1)
    if len(data) > MAX_PIPED:
        raise UsageError(f"More than {MAX_PIPED >> 20} MiB were piped in.", kind="input_too_large")
    return data.decode("utf-8", "replace").strip()


def stream() -> Iterator[list[Block] | str]:
    """One prompt for each `user` line of stream-json input; blank lines are passed over."""
    import msgspec

    for number, line in enumerate(sys.stdin.buffer if sys.stdin is not None else (), 1):
        if not line.strip():
            continue
        try:
            frame: Any = msgspec.json.decode(line)
        except msgspec.DecodeError as error:
            raise UsageError(f"Line {number} of standard input is not JSON: {error}") from error
        if isinstance(frame, dict) and frame.get("type") == "user":
            yield _content(frame, number)


def _content(frame: dict[str, Any], number: int) -> list[Block] | str:
    import msgspec

    from checkrein.llm.port import Block

    message = frame.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if isinstance(content, str):
        return content
    try:
        return msgspec.convert(content, list[Block])
    except msgspec.ValidationError as error:
        raise UsageError(f"Line {number} of standard input has no usable content: {error}") from error

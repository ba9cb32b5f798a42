"""The prompt of a run: from the command line and from standard input."""

from __future__ import annotations

import os
import stat
import sys
from typing import Any

from checkrein.base.errors import UsageError
from checkrein.cli.run_output import warn

_MAX_PIPED = 10 * 1024 * 1024
_FIRST_BYTE_SECONDS = 3.0
FROM_INPUT = "-"


def prompt(given: str | None) -> str:
    """The prompt, then the text from standard input. `-` waits for standard input, however long it takes."""
    patient = given == FROM_INPUT
    piped = _piped(patient=patient)
    text = "\n\n".join(part for part in (None if patient else given, piped) if part)
    if not text.strip():
        raise UsageError(
            "There is no prompt.",
            kind="prompt_missing",
            hint="Write it after the command, or pipe it in: checkrein run 'fix the failing test'. "
            "`-` waits for a slow pipe.",
        )
    return text


def opens_screen(values: dict[str, Any]) -> bool:
    """Whether a run without a prompt is one at a terminal, where the person types it."""
    if values["prompt"] is not None or values["print_"] or values["output_format"] != "text":
        return False
    return all(stream is not None and stream.isatty() for stream in (sys.stdin, sys.stdout))


def _piped(*, patient: bool) -> str:
    """The text on standard input when it is a file, or a pipe that sends something soon."""
    try:
        descriptor = sys.stdin.fileno()
        kind = os.fstat(descriptor).st_mode
    except (OSError, ValueError, AttributeError):
        return ""
    if stat.S_ISCHR(kind) or not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)):
        return ""
    if not stat.S_ISREG(kind) and not patient:
        import select

        ready, _, _ = select.select([descriptor], [], [], _FIRST_BYTE_SECONDS)
        if not ready:
            warn(
                f"Nothing came on standard input within {_FIRST_BYTE_SECONDS:g} s; it is not read. "
                "Write < /dev/null if it has nothing, or `-` as the prompt to wait for it."
            )
            return ""
    data = sys.stdin.buffer.read(_MAX_PIPED + 1)
    if len(data) > _MAX_PIPED:
        raise UsageError(f"Standard input has more than {_MAX_PIPED >> 20} MiB.", kind="input_too_large")
    return data.decode("utf-8", "replace").strip()

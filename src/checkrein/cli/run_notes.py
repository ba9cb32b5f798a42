"""What a person must know of a run that prints only its answer: warnings and failing hooks, on standard
error."""

from __future__ import annotations

from checkrein.base.harmless import one_line
from checkrein.cli import out
from checkrein.runtime.session.events import Event, HookFinished, Notice

_BLOCKS = 2
"""The exit status of a hook that decides against something; that is not a failure."""
_LONGEST = 300
_HOOK_ERROR = " hook error: "


def show(event: Event) -> None:
    match event:
        case Notice(level="warning", text=text) if _HOOK_ERROR not in text:
            _print(text)
        case HookFinished() if _failed(event):
            first = event.stderr.strip().partition("\n")[0] or "no message"
            status = "" if event.exit_code is None else f" (status {event.exit_code})"
            _print(f"The hook {event.hook_name} failed{status}: {first[:_LONGEST]}")


def _failed(event: HookFinished) -> bool:
    """Whether a hook failed or took too long. An interrupt leaves no message."""
    if event.outcome == "error":
        return event.exit_code != _BLOCKS
    return event.outcome == "cancelled" and bool(event.stderr)


def _print(text: str) -> None:
    out.say(f"checkrein: {one_line(text)}", err=True)

"""What a person must know of a run that prints only its answer: warnings and failing hooks, on standard
error."""

from __future__ import annotations

import click

from checkrein.runtime.session.events import Event, HookFinished, Notice

_BLOCKS = 2
"""The exit status of a hook that decides against something; that is not a failure."""
_LONGEST = 300
_HOOK_ERROR = " hook error: "


def show(event: Event) -> None:
    match event:
        case Notice(level="warning", text=text) if _HOOK_ERROR not in text:
            _print(text)
        case HookFinished(outcome="error", exit_code=code) if code != _BLOCKS:
            first = event.stderr.strip().partition("\n")[0] or "no message"
            status = "" if code is None else f" (status {code})"
            _print(f"The hook {event.hook_name} failed{status}: {first[:_LONGEST]}")


def _print(text: str) -> None:
    click.echo(f"checkrein: {text}", err=True)

"""Timeouts of zero or less."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.timeout is not None and hook.timeout <= 0:
            message = f"`timeout: {hook.timeout:g}` leaves the `{hook.name}` hook no time"
            yield Finding(origin=field(hook, "timeout"), message=message)


CHECK = Check(
    code="HOOK014",
    name="timeout-not-positive",
    severity="error",
    summary="A hook's timeout is zero or less.",
    why="A hook that times out decides nothing: the call it should judge goes through.",
    hint="Give it the seconds it needs, or leave `timeout` out.",
    bad={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "timeout": 0})},
    good={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "timeout": 30})},
    run=run,
)

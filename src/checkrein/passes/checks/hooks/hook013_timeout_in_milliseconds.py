"""Timeouts that look like milliseconds."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks

_SUSPICIOUS = 1000
_LONGEST = 3600


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.timeout is None or hook.timeout < _SUSPICIOUS:
            continue
        if hook.timeout > _LONGEST or hook.timeout % 500 == 0:
            origin = field(hook, "timeout")
            written = f"{hook.timeout:g}" if hook.timeout < 1e6 else str(int(hook.timeout))
            minutes = hook.timeout / 60
            seconds = f"{hook.timeout / 1000:g}"
            fix = edits.swap(subject, origin, written, seconds, f"Write {seconds}", safe=False)
            message = f"`timeout: {written}` is {minutes:,.0f} minutes; hooks count in seconds"
            yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="HOOK013",
    name="timeout-in-milliseconds",
    severity="warning",
    summary="A hook's timeout looks like milliseconds.",
    why="Timeouts of hooks are in seconds. A hook that hangs holds up the session for that long.",
    hint="Give the seconds: 5000 becomes 5.",
    bad={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "timeout": 5000})},
    good={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "timeout": 5})},
    run=run,
    fixable=True,
)

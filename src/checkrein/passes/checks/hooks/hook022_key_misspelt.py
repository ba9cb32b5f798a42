"""Keys of a handler that are almost a known one."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_hooks
from checkrein.passes.checks import misspelt
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        written = ((name, field(hook, name)) for name in hook.unknown)
        yield from misspelt.keys(subject, written, claude_hooks.HANDLER_KEYS, hook.spans, "a handler")


CHECK = Check(
    code="HOOK022",
    name="hook-key-misspelt",
    severity="warning",
    summary="A key of a hook's handler is misspelt.",
    why="Claude Code silently ignores unknown keys.",
    hint="Correct the name.",
    bad={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "timeOut": 5})},
    good={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "timeout": 5})},
    run=run,
    fixable=True,
)

"""Hooks of an event that does not exist."""

from __future__ import annotations

import json
from collections.abc import Iterator

from checkrein.base.diagnostic import Severity
from checkrein.base.nearest import nearest
from checkrein.base.origin import Span
from checkrein.facts import claude_hooks
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import hooks


def run(subject: Subject) -> Iterator[Finding]:
    known = (*claude_hooks.HOOK_EVENTS, *claude_hooks.NEWER_EVENTS)
    seen: set[tuple[str, str]] = set()
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.name in known or (hook.origin.file, hook.name) in seen:
            continue
        seen.add((hook.origin.file, hook.name))
        whole = hook.origin.at(Span(1, end_line=10**6))
        origin = subject.find(whole, json.dumps(hook.name))
        if origin is whole:
            origin = subject.find(hook.origin, hook.name)
        meant = nearest(hook.name, known, 0.7)
        fix = (
            edits.rename(subject, origin, hook.name, meant, safe=edits.is_respelling(hook.name, meant))
            if meant
            else None
        )
        message = f"There is no hook event `{hook.name}`" + (f"; did you mean `{meant}`" if meant else "")
        severity: Severity = "error" if meant else "warning"
        yield Finding(origin=origin, message=message, fix=fix, severity=severity)


CHECK = Check(
    code="HOOK001",
    name="event-unknown",
    severity="error",
    summary="A hook waits for an event that does not exist.",
    why="Claude Code skips the entry; the hook never runs.",
    hint="Correct the name of the event; case matters.",
    bad={SETTINGS: hook_file("PreToolUsed", {"type": "command", "command": "date"}, "Bash")},
    good={SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "date"}, "Bash")},
    run=run,
    fixable=True,
)

"""Handlers that their event does not run."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_hooks
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        event = claude_hooks.HOOK_EVENTS.get(hook.name)
        if event is None or hook.type not in claude_hooks.HANDLERS or hook.type in event.handlers:
            continue
        message = f"`{hook.name}` does not run `{hook.type}` handlers, only {', '.join(event.handlers)}"
        yield Finding(origin=field(hook, "type"), message=message)


CHECK = Check(
    code="HOOK003",
    name="handler-not-allowed",
    severity="error",
    summary="An event does not run handlers of this type.",
    why="Prompt and agent handlers need a model, and some events have none. The hook never runs.",
    hint="Use a command handler.",
    bad={SETTINGS: hook_file("SessionStart", {"type": "prompt", "prompt": "Is the tree clean?"})},
    good={SETTINGS: hook_file("Stop", {"type": "prompt", "prompt": "Are the tests run?"})},
    run=run,
)

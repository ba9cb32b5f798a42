"""Handlers that lack what they need."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_hooks
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import hooks, top


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        for key in claude_hooks.REQUIRED_KEYS.get(hook.type, ()):
            if not getattr(hook, key) and key not in hook.unknown:
                message = f"A `{hook.type}` handler of `{hook.name}` has no `{key}`"
                yield Finding(origin=top(hook), message=message)


CHECK = Check(
    code="HOOK004",
    name="handler-incomplete",
    severity="error",
    summary="A hook's handler lacks a key that its type needs.",
    why="Claude Code skips the entry; the hook never runs.",
    hint="Add the key in the message.",
    bad={SETTINGS: hook_file("Stop", {"type": "prompt", "model": "haiku"})},
    good={SETTINGS: hook_file("Stop", {"type": "prompt", "prompt": "Are the tests run?"})},
    run=run,
)

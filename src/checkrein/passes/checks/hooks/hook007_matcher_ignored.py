"""Matchers on events that don't take one."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_hooks
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    seen: set[object] = set()
    for hooked in hooks(subject.project):
        hook = hooked.hook
        event = claude_hooks.HOOK_EVENTS.get(hook.name)
        origin = field(hook, "matcher")
        if event is None or event.matcher is not None or hook.matcher in (None, "", "*") or origin in seen:
            continue
        seen.add(origin)
        message = f"`{hook.name}` has no matcher; the hook runs every time, not only for `{hook.matcher}`"
        yield Finding(origin=origin, message=message)


CHECK = Check(
    code="HOOK007",
    name="matcher-ignored",
    severity="warning",
    summary="A hook has a matcher on an event that takes none.",
    why="Claude Code ignores the matcher, so the hook runs on every event of this kind.",
    hint="Remove the matcher, and decide inside the hook.",
    bad={SETTINGS: hook_file("UserPromptSubmit", {"type": "command", "command": "date"}, "deploy")},
    good={SETTINGS: hook_file("UserPromptSubmit", {"type": "command", "command": "date"})},
    run=run,
)

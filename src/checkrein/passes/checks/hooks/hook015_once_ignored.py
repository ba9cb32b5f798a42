"""`once` where it has no effect."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Command, Skill
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, SKILL, hook_file, skill
from checkrein.passes.checks.parts import field, hooks


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        if hook.once and not isinstance(hooked.owner, Skill | Command):
            message = f"`once` has no effect here; the `{hook.name}` hook runs every time"
            yield Finding(origin=field(hook, "once"), message=message)


CHECK = Check(
    code="HOOK015",
    name="once-ignored",
    severity="warning",
    summary="A hook outside a skill has `once`.",
    why="`once` works in the frontmatter of skills only.",
    hint="Remove it, and let the hook itself remember that it ran.",
    bad={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "once": True})},
    good={
        SKILL: skill(
            "hooks:", "  Stop:", "    - hooks:", "        - {type: command, command: date, once: true}"
        ),
        SETTINGS: hook_file("Stop", {"type": "command", "command": "date"}),
    },
    run=run,
)

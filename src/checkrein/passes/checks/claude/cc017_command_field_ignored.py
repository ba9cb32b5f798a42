"""Fields that commands do not have, though skills do."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_fields
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, command


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.commands:
        for name in claude_fields.COMMAND_IGNORED:
            value = item.unknown.get(name)
            if value is None or (name == "name" and str(value) == item.name.rpartition(":")[2]):
                continue
            origin = subject.find(item.where(name), name)
            message = f"`{name}` has no effect in a command; this one is typed /{item.name}"
            if name == "paths":
                message = f"`paths` has no effect in a command; `{item.name}` is always listed"
            yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC017",
    name="command-field-ignored",
    severity="warning",
    summary="A command has `name` or `paths`, which only skills have.",
    why="A command takes its name from its file and is always listed.",
    hint="Rename the file, or make it a skill: `.claude/skills/<name>/SKILL.md`.",
    bad={COMMAND: command("name: release")},
    good={COMMAND: command("name: ship")},
    run=run,
)

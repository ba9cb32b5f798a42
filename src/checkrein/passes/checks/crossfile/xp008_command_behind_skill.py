"""Commands that a skill of the same name replaces."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Command
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, SKILL, command, skill
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    for candidate in project.inactive:
        item = candidate.item
        if isinstance(item, Command) and item.name in project.skills:
            winner = project.skills[item.name].item
            message = f"The command `{item.name}` is never used: a skill has the same name"
            yield Finding(origin=top(item), message=message, related=(top(winner),))


CHECK = Check(
    code="XP008",
    name="command-behind-skill",
    severity="warning",
    summary="A command has the name of a skill.",
    why="The skill wins; nothing can use the command.",
    hint="Remove one of them, or rename it.",
    bad={SKILL: skill(), ".claude/commands/review.md": command()},
    good={SKILL: skill(), COMMAND: command()},
    run=run,
)

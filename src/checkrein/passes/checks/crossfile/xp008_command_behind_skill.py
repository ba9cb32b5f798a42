"""Commands that a skill of the same name replaces."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.base.files import beneath
from checkrein.facts.agent_skills import COLLECTION, SKILLS_DIR
from checkrein.model.items import Command, Skill
from checkrein.model.project import Place
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, SKILL, command, skill
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    for candidate in project.inactive:
        item = candidate.item
        if not isinstance(item, Command) or item.name not in project.skills:
            continue
        winner = project.skills[item.name].item
        if not _is_standard(winner, project.place):
            message = f"The command `{item.name}` is never used: a skill has the same name"
            yield Finding(origin=top(item), message=message, related=(top(winner),))


def _is_standard(item: Skill, place: Place) -> bool:
    """Whether a skill lies where the standard has it. Claude Code does not look there: its command leads to
    the skill."""
    folders = ((place.root, SKILLS_DIR), (place.root, COLLECTION), (place.home, SKILLS_DIR))
    return item.plugin is None and any(beneath(item.directory, os.path.join(*folder)) for folder in folders)


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

"""A skill in the folder that synced skills use."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import top


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        folder = os.path.basename(item.directory)
        if not item.plugin and folder.lower() == claude.SYNCED_SKILLS:
            yield Finding(
                origin=top(item), message=f"The folder name `{folder}` is reserved for synced skills"
            )


CHECK = Check(
    code="CC029",
    name="skill-folder-reserved",
    severity="error",
    summary="A skill is in a folder named `synced`.",
    why="Claude Code keeps that name for skills synced from claude.ai and does not load your own skill from "
    "there.",
    hint="Rename the folder.",
    bad={".claude/skills/synced/SKILL.md": skill(name="synced")},
    good={SKILL: skill()},
    run=run,
)

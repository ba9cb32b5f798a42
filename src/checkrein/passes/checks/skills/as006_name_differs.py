"""A skill name that is not its folder's."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.model.items import Skill
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import plugin_root


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        folder = os.path.basename(item.directory)
        name = item.display_name
        if not name or name == folder or item.directory == plugin_root(subject.project, item.plugin):
            continue
        if name == os.path.basename(os.path.dirname(item.directory)):
            continue  # review/claude/SKILL.md and review/codex/SKILL.md are variants of `review`
        if _is_kept_elsewhere(item, subject):
            continue
        origin = subject.find(item.where("name"), name)
        typed = name if item.plugin else folder
        message = f"The skill is named `{name}` but is in the folder `{folder}`; users type /{typed}"
        fix = edits.swap(subject, origin, name, folder, f"Name it `{folder}`", safe=False)
        yield Finding(origin=origin, message=message, fix=fix)


def _is_kept_elsewhere(item: Skill, subject: Subject) -> bool:
    """Whether a skill lies alone in a folder of other things (`docs`, `data`), from where it is installed."""
    around = os.path.dirname(item.directory)
    return "skill" not in os.path.basename(around).casefold() and not any(
        os.path.dirname(other.directory) == around
        for other in subject.project.sources.skills
        if other is not item
    )


CHECK = Check(
    code="AS006",
    name="name-differs-from-folder",
    severity="warning",
    summary="A skill's `name` is not the name of its folder.",
    why="In a project users type the folder's name and rules refer to it; in a plugin the field counts. The "
    "standard wants both equal, and strict agents skip the skill.",
    hint="Give folder and `name` the same name.",
    bad={SKILL: skill(name="code-review")},
    good={SKILL: skill()},
    run=run,
    dialects="all",
    fixable=True,
)

"""Files that a skill names but does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.prose import spot
from checkrein.passes.checks.references import missing


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        for one in missing(subject, item):
            message = f"The skill `{item.name}` names `{one.path}`, which is not in its folder"
            yield Finding(origin=spot(item, one.line, one.at, one.at + len(one.path)), message=message)


CHECK = Check(
    code="AS018",
    name="reference-missing",
    severity="warning",
    summary="A skill names a file that is not in its folder.",
    why="The model tries to read or run it and fails in the middle of the task.",
    hint="Add the file, correct the path (it is relative to the skill's folder), or remove the mention.",
    bad={SKILL: skill(body="Follow [the style guide](references/style.md).\n")},
    good={
        SKILL: skill(body="Follow [the style guide](references/style.md).\n"),
        ".claude/skills/review/references/style.md": "Short names.\n",
    },
    run=run,
    dialects="all",
)

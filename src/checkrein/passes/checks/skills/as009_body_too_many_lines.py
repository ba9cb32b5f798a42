"""A skill body over the advised number of lines."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import agent_skills
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.prose import body_start


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        count = item.body.rstrip().count("\n") + 1
        if count > agent_skills.BODY_LINES:
            message = (
                f"The body of the skill `{item.name}` has {count} lines; "
                f"keep it under {agent_skills.BODY_LINES}"
            )
            yield Finding(origin=body_start(item), message=message)


CHECK = Check(
    code="AS009",
    name="body-too-many-lines",
    severity="info",
    summary="A skill's body has more than 500 lines.",
    why="The whole body enters the context when the skill is used and stays there.",
    hint="Move details into files beside SKILL.md and name them; the model reads them only when it needs "
    "them.",
    bad={SKILL: skill(body="Step.\n" * 501)},
    good={SKILL: skill(body="Step.\n" * 500)},
    run=run,
    dialects="all",
)

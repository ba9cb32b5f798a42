"""A skill name with characters outside the standard."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        name = item.display_name
        if name and (problem := _problem(name)):
            message = f"The skill's name `{name}` {problem}"
            yield Finding(origin=subject.find(item.where("name"), name), message=message)


def _problem(name: str) -> str | None:
    if name != name.lower():
        return "has capital letters"
    if name[0] == "-" or name[-1] == "-":
        return "starts or ends with `-`"
    if "--" in name:
        return "has two `-` in a row"
    odd = next((char for char in name if not (char.isalnum() or char == "-")), None)
    return f"holds {odd!r}" if odd else None


CHECK = Check(
    code="AS005",
    name="name-characters",
    severity="warning",
    summary="A skill's name holds more than lowercase letters, digits and single `-`.",
    why="The Agent Skills standard and the Skills API refuse it; Claude Code only shows it as a label.",
    hint="Write it like `review-code`, the same as the folder.",
    bad={".claude/skills/Review_Code/SKILL.md": skill(name="Review_Code")},
    good={SKILL: skill()},
    run=run,
    dialects="all",
)

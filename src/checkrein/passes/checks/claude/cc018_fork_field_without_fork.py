"""Fields that have an effect only in a fork."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import invocables

_FIELDS = ("agent", "background")


def run(subject: Subject) -> Iterator[Finding]:
    for item in invocables(subject.project):
        if item.context is not None:
            continue
        for name in _FIELDS:
            if name in item.spans and name not in item.unknown:
                origin = subject.find(item.where(name), name)
                message = f"`{name}` of `{item.name}` has no effect without `context: fork`"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC018",
    name="fork-field-without-fork",
    severity="warning",
    summary="`agent` or `background` is set without `context: fork`.",
    why="Both say how a fork runs. Without it the skill runs in the conversation, with all its tools.",
    hint="Add `context: fork`, or remove the field.",
    bad={SKILL: skill("agent: Explore")},
    good={SKILL: skill("context: fork", "agent: Explore")},
    run=run,
)

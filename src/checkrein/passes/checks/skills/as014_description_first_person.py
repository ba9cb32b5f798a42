"""A description in the first or second person."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field

_PERSON = re.compile(r"(?:^|[.!?]\s+)(?:I|We|You)(?:'ll|'m|'re|\s+(?:can|will|am|are|help|should))\b")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        found = _PERSON.search(item.description or "")
        if found:
            words = found[0].lstrip(".!? \n")
            message = f'The description of `{item.name}` uses the first or second person: "{words}"'
            yield Finding(origin=subject.find(field(item, "description"), words), message=message)


CHECK = Check(
    code="AS014",
    name="description-first-person",
    severity="info",
    summary="A skill's description says `I` or `you`.",
    why="Descriptions become part of the model's instructions, where `I` and `you` mean somebody else. The "
    "model chooses more reliably by the third person.",
    hint='Write "Reviews changes. Use when ..." instead of "I can review".',
    bad={SKILL: skill(description="I can review code. Use when a review is asked for.")},
    good={SKILL: skill()},
    run=run,
    dialects="all",
)

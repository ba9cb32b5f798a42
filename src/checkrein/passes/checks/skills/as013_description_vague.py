"""A description that does not say when to use the skill."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field

_WHEN = re.compile(
    r"\b(?:when(?:ever)?|if|use[ds]?|using|usage|trigger\w*|invoke\w*|activat\w*|before|after|during|while|for|upon|asks?|"
    r"mentions?|must|should|always|helps?|first)\b",
    re.IGNORECASE,
)
_SHORTEST = 20


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        text = " ".join(part for part in (item.description, item.when_to_use) if part).strip()
        if not text or not item.model_invocable or not text.isascii():
            continue
        if len(text) < _SHORTEST:
            message = (
                f"The description of `{item.name}` has {len(text)} "
                "characters; the model has little to choose by"
            )
        elif not item.when_to_use and not _WHEN.search(text):
            message = f"The description of `{item.name}` does not say when to use it"
        else:
            continue
        yield Finding(origin=field(item, "description"), message=message)


CHECK = Check(
    code="AS013",
    name="description-vague",
    severity="info",
    summary="A skill's description does not say when to use it.",
    why="The model sees only the description before it uses the skill. It rarely chooses one that only names "
    "the topic.",
    hint='Add a sentence such as "Use when the user asks to review a change".',
    bad={SKILL: skill(description="Reviews code changes and reports mistakes.")},
    good={SKILL: skill()},
    run=run,
    dialects="all",
)

"""Descriptions that the listing cuts."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import field, invocables


def run(subject: Subject) -> Iterator[Finding]:
    limit = subject.project.setting("skillListingMaxDescChars", claude.LISTING_DESCRIPTION_CHARS)
    if not isinstance(limit, int) or limit <= 0:
        limit = claude.LISTING_DESCRIPTION_CHARS
    for item in invocables(subject.project):
        text = " ".join(part for part in (item.description, item.when_to_use) if part)
        if item.model_invocable and len(text) > limit:
            message = (
                f"The listing shows {limit:,} of the {len(text):,} characters that describe `{item.name}`"
            )
            yield Finding(
                origin=field(item, "when_to_use" if item.when_to_use else "description"), message=message
            )


CHECK = Check(
    code="CC010",
    name="listing-entry-cut",
    severity="warning",
    summary="The listing cuts a skill's description.",
    why="The model sees description and `when_to_use` together, up to 1,536 characters. It chooses without "
    "the rest.",
    hint="Shorten them; put when to use it first.",
    bad={SKILL: skill('when_to_use: "' + "Use when the diff touches money. " * 50 + '"')},
    good={SKILL: skill("when_to_use: Use when the diff touches money.")},
    run=run,
)

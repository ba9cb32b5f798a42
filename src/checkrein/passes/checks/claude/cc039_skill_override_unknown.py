"""Values of `skillOverrides` that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, SKILL, document, skill
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    for setting in named(subject, "skillOverrides"):
        value = setting.value
        if setting.name == "skillOverrides" or value in claude.SKILL_OVERRIDES:
            continue
        skill_name = setting.name.partition(".")[2]
        message = f"`{value}` for `{skill_name}` is not one of {', '.join(claude.SKILL_OVERRIDES)}"
        yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="CC039",
    name="skill-override-unknown",
    severity="error",
    summary="`skillOverrides` gives a skill a visibility that does not exist.",
    why="Claude Code ignores the entry, and the skill stays as visible as before.",
    hint="Use on, name-only, user-invocable-only or off.",
    bad={SKILL: skill(), SETTINGS: document({"skillOverrides": {"review": "hidden"}})},
    good={SKILL: skill(), SETTINGS: document({"skillOverrides": {"review": "off"}})},
    run=run,
    whole=True,
)

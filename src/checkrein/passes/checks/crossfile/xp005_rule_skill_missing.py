"""Rules about skills that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.facts import claude_guidance
from checkrein.passes.checks import toolnames
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, SKILL, document, skill
from checkrein.passes.checks.parts import skill_names


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    known = skill_names(project)
    for mention in toolnames.mentions(project):
        if mention.tool not in ("Skill", "SlashCommand") or not mention.specifier:
            continue
        name = mention.specifier.partition(" ")[0].removesuffix(":*").removeprefix("/")
        plugin = mention.owner.plugin if mention.owner else None
        if "*" in name or name in known or f"{plugin}:{name}" in known or ":" in name:
            continue
        if name in claude_guidance.BUILTIN_COMMANDS:
            continue
        origin = subject.find(mention.origin, mention.text)
        suggestion = nearest(name, known, 0.7)
        message = f"`{mention.text}` does not name a skill" + (
            f"; did you mean `{suggestion}`" if suggestion else ""
        )
        yield Finding(origin=origin, message=message)


CHECK = Check(
    code="XP005",
    name="rule-skill-missing",
    severity="warning",
    summary="A rule names a skill that does not exist.",
    why="It matches nothing: the skill you meant is neither allowed nor denied.",
    hint="Use the name that a user types: the folder's, or `plugin:name` in a plugin.",
    bad={SKILL: skill(), SETTINGS: document({"permissions": {"deny": ["Skill(reviews)"]}})},
    good={SKILL: skill(), SETTINGS: document({"permissions": {"deny": ["Skill(review)"]}})},
    run=run,
    whole=True,
)

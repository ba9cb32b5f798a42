"""`skillOverrides` for skills that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.dialects.claude.settings import undotted
from checkrein.facts import claude_guidance
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, SKILL, document, skill
from checkrein.passes.checks.parts import skill_names
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    known = skill_names(project)
    for setting in named(subject, "skillOverrides"):
        name = undotted(setting.name)[-1]
        if setting.name == "skillOverrides" or name in claude_guidance.BUILTIN_COMMANDS:
            continue
        found = project.skills.get(name)
        if found is not None and found.item.plugin:
            message = f"`skillOverrides` does not apply to `{name}`, a skill of a plugin"
        elif name not in known:
            suggestion = nearest(name, known, 0.7)
            message = f"`skillOverrides` names `{name}`, which is not a skill" + (
                f"; did you mean `{suggestion}`" if suggestion else ""
            )
        else:
            continue
        yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="XP013",
    name="override-skill-missing",
    severity="warning",
    summary="`skillOverrides` names a skill that does not exist or belongs to a plugin.",
    why="The entry changes nothing; the skill you meant is as visible as before.",
    hint="Use the folder's name. To switch off a plugin's skills, switch off the plugin.",
    bad={SKILL: skill(), SETTINGS: document({"skillOverrides": {"reviews": "off"}})},
    good={SKILL: skill(), SETTINGS: document({"skillOverrides": {"review": "off"}})},
    run=run,
    whole=True,
)

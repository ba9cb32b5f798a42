"""Fields with a value outside their closed set."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.diagnostic import Severity
from checkrein.base.nearest import nearest
from checkrein.facts import claude, claude_fields
from checkrein.model.items import Agent, Command, Skill
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import bodies, noun

_KINDS = {
    Skill: claude_fields.SKILL_FIELDS,
    Command: claude_fields.COMMAND_FIELDS,
    Agent: claude_fields.AGENT_FIELDS,
}


def run(subject: Subject) -> Iterator[Finding]:
    for item in bodies(subject.project):
        for known in _KINDS[type(item)]:
            if not known.values or known.name not in item.spans:
                continue
            value = getattr(item, _attribute(known.name), None)
            if not isinstance(value, str) or value in known.values:
                continue
            origin = subject.find(item.where(known.name), value)
            meant = nearest(value, known.values, 0.75)
            approves = known.name == "permissionMode" and meant not in claude.NARROW_MODES
            fix = edits.respell(subject, origin, value, meant, approves=approves) if meant else None
            message = (
                f"`{known.name}: {value}` of the {noun(item)} "
                f"`{item.name}` is not one of {', '.join(known.values)}"
            )
            severity: Severity = "info" if known.name == "color" else "warning"
            yield Finding(origin=origin, message=message, fix=fix, severity=severity)


def _attribute(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()


CHECK = Check(
    code="CC004",
    name="value-unknown",
    severity="warning",
    summary="A field has an unknown value.",
    why="Claude Code ignores the value and uses the default.",
    hint="Choose one of the listed values.",
    bad={SKILL: skill("effort: hihg")},
    good={SKILL: skill("effort: high")},
    run=run,
    fixable=True,
)

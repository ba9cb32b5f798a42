"""Frontmatter fields that only another kind of file has."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent
from checkrein.passes.checks.fieldnames import strangers
from checkrein.passes.checks.parts import a_noun, noun

_INSTEAD = {
    ("skill", "tools"): "allowed-tools",
    ("command", "tools"): "allowed-tools",
    ("agent", "allowed-tools"): "tools",
    ("agent", "disallowed-tools"): "disallowedTools",
}

_LABELS = frozenset({"metadata", "license", "compatibility"})
"""Fields without an effect anywhere."""


def run(subject: Subject) -> Iterator[Finding]:
    for found in strangers(subject.project):
        if found.other and found.name not in _LABELS:
            kind = noun(found.owner)
            instead = _INSTEAD.get((kind, found.name))
            hint = f"Use `{instead}` in {a_noun(found.owner)}." if instead else None
            message = f"`{found.name}` is not a field of {a_noun(found.owner)}; it is ignored"
            yield Finding(origin=subject.find(found.origin, found.name), message=message, hint=hint)


CHECK = Check(
    code="CC003",
    name="field-of-another-kind",
    severity="warning",
    summary="A frontmatter field belongs to another kind of file.",
    why="Skills, commands, agents and rules have different fields. Claude Code silently ignores a field of "
    "another kind: an agent with `allowed-tools` has all tools.",
    hint="Use the field that this kind of file has, or remove it.",
    bad={AGENT: agent("allowed-tools: Read, Grep")},
    good={AGENT: agent("tools: Read, Grep")},
    run=run,
)

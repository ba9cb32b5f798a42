"""Frontmatter fields that are almost a known one."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.fieldnames import strangers
from checkrein.passes.checks.parts import a_noun

_POWERS = frozenset({"allowed-tools", "hooks", "mcpServers", "permissionMode", "skills", "initialPrompt"})
"""Fields that give something: to repair one adds a permission or a capability."""


def run(subject: Subject) -> Iterator[Finding]:
    for found in strangers(subject.project):
        if found.meant is None:
            continue
        fix = None
        if found.meant not in found.owner.spans:
            fix = edits.rename(
                subject,
                found.origin,
                found.name,
                found.meant,
                safe=found.certain and found.meant not in _POWERS,
            )
        message = f"`{found.name}` is not a field of {a_noun(found.owner)}; did you mean `{found.meant}`"
        yield Finding(origin=subject.find(found.origin, found.name), message=message, fix=fix)


CHECK = Check(
    code="CC001",
    name="field-misspelt",
    severity="warning",
    summary="A frontmatter field is misspelt.",
    why="Claude Code silently ignores unknown fields, so this one has no effect.",
    hint="Correct the name.",
    bad={SKILL: skill("allowed_tools: Bash(git diff *)")},
    good={SKILL: skill("allowed-tools: Bash(git diff *)")},
    run=run,
    fixable=True,
)

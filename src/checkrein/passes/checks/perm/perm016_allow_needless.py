"""Allow rules for tools that need no approval."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.tools import TOOLS
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document

_FREE = frozenset(
    name for fact in TOOLS if fact.free and fact.effect == "use" for name in (fact.name, *fact.aliases)
)


def run(subject: Subject) -> Iterator[Finding]:
    for rule in working(subject):
        if rule.verdict == "allow" and rule.specifier is None and tool_of(rule) in _FREE:
            message = f"`{rule.text}` in `allow` changes nothing: {rule.tool} needs no approval"
            yield Finding(origin=subject.find(rule.origin, rule.text), message=message)


CHECK = Check(
    code="PERM016",
    name="allow-needless",
    severity="info",
    summary="An allow rule names a tool that needs no approval.",
    why="The list of approvals should be short enough to read.",
    hint="Remove it.",
    bad={SETTINGS: document({"permissions": {"allow": ["TodoWrite"]}})},
    good={SETTINGS: document({"permissions": {"allow": ["WebSearch"]}})},
    run=run,
)

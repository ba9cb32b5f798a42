"""Agent names that are not lowercase words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.agents:
        name = item.name.rpartition(":")[2] if item.plugin else item.name
        if "name" in item.spans and name not in claude.BUILTIN_AGENTS and not _NAME.fullmatch(name):
            origin = subject.find(item.where("name"), name)
            message = f"The agent's name `{name}` is not lowercase letters, digits and `-`"
            yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC026",
    name="agent-name-form",
    severity="info",
    summary="An agent's name is not lowercase letters, digits and `-`.",
    why="It works, but rules, hooks and mentions must spell it exactly the same.",
    hint="Write it like `code-reviewer`.",
    bad={AGENT: agent(name="Test Runner")},
    good={AGENT: agent()},
    run=run,
)

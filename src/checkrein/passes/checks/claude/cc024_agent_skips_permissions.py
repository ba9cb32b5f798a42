"""Agents that ask for no permission."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, agent


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.agents:
        if item.permission_mode == "bypassPermissions":
            origin = subject.find(item.where("permissionMode"), item.permission_mode)
            yield Finding(origin=origin, message=f"The agent `{item.name}` skips all permission questions")


CHECK = Check(
    code="CC024",
    name="agent-skips-permissions",
    severity="warning",
    summary="An agent runs with `permissionMode: bypassPermissions`.",
    why="Everything that is not denied runs without a question, even what a file or page tells the agent to "
    "do.",
    hint="Use `acceptEdits` or `dontAsk` with allow rules for what it needs.",
    bad={AGENT: agent("permissionMode: bypassPermissions")},
    good={AGENT: agent("permissionMode: acceptEdits")},
    run=run,
)

"""Agents of other dialects that do not say when to use them."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.parts import field


def run(subject: Subject) -> Iterator[Finding]:
    for agent in subject.project.sources.agents:
        if not (agent.description or "").strip():
            message = f"The agent `{agent.name}` has no description"
            yield Finding(origin=field(agent, "description"), message=message)


_FILE = ".cursor/agents/tester.md"

CHECK = Check(
    code="DIA001",
    name="agent-description-missing",
    severity="warning",
    summary="An agent of another dialect has no description.",
    why="The main agent chooses by the description. Some products refuse an agent without one.",
    hint="Add a `description` that says when to use it.",
    bad={_FILE: "---\nname: tester\n---\nYou run the tests.\n"},
    good={_FILE: "---\nname: tester\ndescription: Use when tests must be run.\n---\nYou run the tests.\n"},
    run=run,
    dialects="others",
)

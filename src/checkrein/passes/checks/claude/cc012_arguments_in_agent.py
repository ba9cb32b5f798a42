"""Placeholders in an agent's body."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, COMMAND, agent, command
from checkrein.passes.checks.prose import is_example, spot, teaches, without_spans

_PLACEHOLDER = re.compile(r"(?<!\\)\$ARGUMENTS\b(?:\[\d+\])?")

_COMMANDS = re.compile(r"(?i)\bcommands?\b|\bskills?\b|\bpass(?:es|ed)?\b|\bvariables?\b|\bsubstitut")
"""Words of a line that speaks about commands, where the placeholder is right."""


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.agents:
        if "$ARGUMENTS" not in item.body or teaches(item):
            continue
        for line in subject.body(item).lines():
            if line.fenced or line.sample or is_example(line.text) or _COMMANDS.search(line.text):
                continue
            for match in _PLACEHOLDER.finditer(without_spans(line.text)):
                message = f"`{match[0]}` in the agent `{item.name}` is not replaced"
                yield Finding(origin=spot(item, line.number, match.start(), match.end()), message=message)


CHECK = Check(
    code="CC012",
    name="placeholder-in-agent",
    severity="warning",
    summary="An agent's body holds `$ARGUMENTS`.",
    why="Claude Code replaces placeholders in skills and commands only. An agent gets its task as the first "
    "message, and reads the placeholder as text.",
    hint="Write what the agent does with its task.",
    bad={AGENT: agent(body="Run the tests of $ARGUMENTS.\n")},
    good={COMMAND: command(body="Ship $ARGUMENTS.\n"), AGENT: agent()},
    run=run,
)

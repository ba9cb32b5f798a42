"""Declared arguments that the body does not use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, command
from checkrein.passes.checks.parts import field, invocables


def run(subject: Subject) -> Iterator[Finding]:
    for item in invocables(subject.project):
        if not item.arguments or "$ARGUMENTS" in item.body:
            continue
        for position, name in enumerate(item.arguments):
            if not re.search(rf"\$\{{?{re.escape(name)}\b|\${position}\b", item.body):
                origin = subject.find(field(item, "arguments"), name)
                message = f"`{item.name}` declares the argument `{name}` but never uses `${name}`"
                yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC015",
    name="argument-unused",
    severity="warning",
    summary="The body does not use a declared argument.",
    why="The model does not see the user's value in its place.",
    hint="Use it in the body, or remove it from `arguments`.",
    bad={COMMAND: command("arguments: [issue, branch]", body="Fix $issue.\n")},
    good={COMMAND: command("arguments: [issue, branch]", body="Fix $issue on $branch.\n")},
    run=run,
)

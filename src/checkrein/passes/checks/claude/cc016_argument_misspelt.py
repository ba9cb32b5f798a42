"""Placeholders that are almost a declared argument."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, command
from checkrein.passes.checks.parts import invocables
from checkrein.passes.checks.prose import spot

_NAME = re.compile(r"(?<![\\$\w])\$([a-z_][\w-]*)")


def run(subject: Subject) -> Iterator[Finding]:
    for item in invocables(subject.project):
        if not item.arguments:
            continue
        for line in subject.body(item).lines():
            for match in _NAME.finditer(line.text):
                name = match[1].rstrip("-")
                meant = None if name in item.arguments else nearest(name, item.arguments, 0.75)
                if meant is None:
                    continue
                origin = spot(item, line.number, match.start(), match.start() + 1 + len(name))
                fix = edits.swap(subject, origin, f"${name}", f"${meant}", f"Write `${meant}`")
                message = f"`${name}` is not an argument of `{item.name}`; did you mean `${meant}`"
                yield Finding(origin=origin, message=message, fix=fix)


CHECK = Check(
    code="CC016",
    name="argument-misspelt",
    severity="warning",
    summary="A placeholder is almost the name of a declared argument.",
    why="Claude Code replaces declared names only; this one stays in the text.",
    hint="Write the name as in `arguments`.",
    bad={COMMAND: command("arguments: [branch]", body="Ship $branch.\nThen tag $brnach.\n")},
    good={COMMAND: command("arguments: [branch]", body="Ship $branch.\nThen tag $branch.\n")},
    run=run,
    fixable=True,
)

"""Files that only another referenced file names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.base.origin import Origin, Span
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import top

_LINK = re.compile(r"\]\(<?((?:\./)?[\w][\w./-]*\.md)(?:#[^)\s]{0,200})?>?\)")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        if ".md)" not in item.body and ".md#" not in item.body:
            continue
        named = {os.path.normpath(match[1]) for match in _LINK.finditer(item.body)}
        for reference in sorted(named):
            file = os.path.join(item.directory, reference)
            if not os.path.isfile(file):
                continue
            for match in _LINK.finditer(subject.text(file)):
                target = os.path.normpath(os.path.join(os.path.dirname(reference), match[1]))
                if target in named or not os.path.isfile(os.path.join(item.directory, target)):
                    continue
                origin = subject.find(Origin(file, item.origin.scope, Span(1, end_line=10**6)), match[1])
                message = f"Only `{reference}` names `{target}`, not SKILL.md"
                yield Finding(origin=origin, message=message, related=(top(item),))
                named.add(target)


_FOLDER = ".claude/skills/review/references"

CHECK = Check(
    code="AS019",
    name="reference-too-deep",
    severity="info",
    summary="Only another file of the skill names this file.",
    why="Models often read only the start of a file that another file names; keep references one step from "
    "SKILL.md.",
    hint="Name the file in SKILL.md too.",
    bad={
        SKILL: skill(body="Follow [style](references/style.md).\n"),
        f"{_FOLDER}/style.md": "See [names](names.md).\n",
        f"{_FOLDER}/names.md": "Short ones.\n",
    },
    good={
        SKILL: skill(body="Follow [style](references/style.md) and [names](references/names.md).\n"),
        f"{_FOLDER}/style.md": "See [names](names.md).\n",
        f"{_FOLDER}/names.md": "Short ones.\n",
    },
    run=run,
    dialects="all",
)

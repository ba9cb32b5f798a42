"""Files that only another referenced file names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.base.origin import Origin, Span
from checkrein.facts.claude import SKILL_FILE
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import top
from checkrein.passes.checks.prose import read_lines, without_spans

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
            if os.path.basename(reference) == SKILL_FILE:
                continue
            first: Origin | None = None
            hidden: list[str] = []
            for written, number, at in _links(subject.text(file)):
                target = os.path.normpath(os.path.join(os.path.dirname(reference), written))
                if target in named or target.startswith("..") or target in item.body:
                    continue
                if _of_another_skill(item.directory, target):
                    continue
                named.add(target)
                hidden.append(target)
                span = Span(number, at + 1, number, at + 1 + len(written))
                first = first or Origin(file, item.origin.scope, span)
            if first is not None:
                more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
                message = f"Only `{reference}` names `{hidden[0]}`{more}, not SKILL.md"
                yield Finding(origin=first, message=message, related=(top(item),))


def _links(text: str) -> Iterator[tuple[str, int, int]]:
    for line in read_lines(text) if ".md" in text else ():
        if not line.fenced and "](" in line.text:
            for match in _LINK.finditer(without_spans(line.text)):
                yield match[1], line.number, match.start(1)


def _of_another_skill(directory: str, target: str) -> bool:
    """Whether a file is missing, is a skill, or lies in the folder of a skill below this one."""
    if not os.path.isfile(os.path.join(directory, target)) or os.path.basename(target) == SKILL_FILE:
        return True
    folder = os.path.dirname(target)
    while folder:
        if os.path.isfile(os.path.join(directory, folder, SKILL_FILE)):
            return True
        folder = os.path.dirname(folder)
    return False


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

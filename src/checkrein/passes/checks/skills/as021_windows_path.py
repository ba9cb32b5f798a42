"""Paths with backslashes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.prose import spot

_PATH = re.compile(
    r"(?<![\w\\).-])(?:\.\\)?(?:scripts|references?|assets|templates|resources|examples)"
    r"\\[\w][\w\\.-]*\.(?!ps1|bat|cmd|exe)\w{1,5}\b"
)


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        if "\\" not in item.body:
            continue
        seen: set[str] = set()
        for line in subject.body(item):
            for match in _PATH.finditer(line.text) if "\\" in line.text else ():
                if match[0] in seen:
                    continue
                seen.add(match[0])
                forward = match[0].replace("\\", "/")
                origin = spot(item, line.number, match.start(), match.end())
                exists = os.path.exists(os.path.join(item.directory, forward.removeprefix("./")))
                title = f"Write `{forward}`"
                fix = edits.swap(subject, origin, match[0], forward, title) if exists else None
                yield Finding(origin=origin, message=f"`{match[0]}` is written with backslashes", fix=fix)


CHECK = Check(
    code="AS021",
    name="windows-path",
    severity="warning",
    summary="A skill names its own file with backslashes.",
    why="Outside Windows the path leads nowhere, and in a shell the backslashes vanish.",
    hint="Write it with `/`; that works everywhere.",
    bad={
        SKILL: skill(body="Read `references\\style.md` first.\n"),
        ".claude/skills/review/references/style.md": "Short names.\n",
    },
    good={
        SKILL: skill(body="Read `references/style.md` first.\n"),
        ".claude/skills/review/references/style.md": "Short names.\n",
    },
    run=run,
    dialects="all",
    fixable=True,
)

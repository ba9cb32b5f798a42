"""Paths with backslashes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.prose import spot, warns

_PATH = re.compile(
    r"(?<![\w\\).-])(?:\.\\)?(?:scripts|references?|assets|templates|resources|examples)"
    r"\\[\w][\w\\.-]*\.(?!ps1|bat|cmd|exe)\w{1,5}\b"
)

_FOLDERS = tuple(
    f"{name}\\"
    for name in ("scripts", "references", "reference", "assets", "templates", "resources", "examples")
)


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        if "\\" not in item.body or not any(folder in item.body for folder in _FOLDERS):
            continue
        seen: set[str] = set()
        for hit in subject.body(item).hits(_PATH):
            path = hit.match[0]
            if path in seen:
                continue
            seen.add(path)
            forward = path.replace("\\", "/")
            origin = spot(item, hit.line.number, hit.start, hit.end)
            exists = os.path.exists(os.path.join(item.directory, forward.removeprefix("./")))
            if not exists and (forward in hit.line.text or warns(hit.line.text)):
                continue
            fix = edits.swap(subject, origin, path, forward, f"Write `{forward}`") if exists else None
            yield Finding(origin=origin, message=f"`{path}` is written with backslashes", fix=fix)


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

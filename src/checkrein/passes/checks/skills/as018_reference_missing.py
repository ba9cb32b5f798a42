"""Files that a skill names but does not have."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.prose import code_spans, spot

_LINK = re.compile(r"\]\(<?((?:\./)?[\w][\w./-]*\.\w{1,5})(?:#[^)\s]{0,200})?>?\)")
_PATH = re.compile(
    r"(?:\./)?(?:scripts|references?|assets|templates|resources|examples)/[\w][\w./-]*\.\w{1,5}"
)
_HYPOTHETICAL = re.compile(r"(?i)\bexamples?\b(?!/)|\be\.g\.|\bsuch as\b|\blike\b|\bfor instance\b")
_ROOTED = re.compile(r"\$\{CLAUDE_SKILL_DIR\}/([\w][\w./-]*\.\w{1,5})")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        seen: set[str] = set()
        for line in subject.body(item):
            for path, at in _references(line.text, line.fenced):
                name = path.removeprefix("./")
                if name in seen or os.path.exists(os.path.join(item.directory, name)):
                    continue
                seen.add(name)
                message = f"The skill `{item.name}` names `{path}`, which is not in its folder"
                yield Finding(origin=spot(item, line.number, at, at + len(path)), message=message)


def _references(text: str, fenced: bool) -> Iterator[tuple[str, int]]:
    """Links, `${CLAUDE_SKILL_DIR}/...`, and code spans that are a path below the usual folders."""
    if "." not in text:
        return
    if "${CLAUDE_SKILL_DIR}" in text:
        for match in _ROOTED.finditer(text):
            yield match[1], match.start(1)
    if fenced:
        return
    if "](" in text:
        for match in _LINK.finditer(text):
            yield match[1], match.start(1)
    if "`" in text and "/" in text:
        for span, at in code_spans(text):
            if _PATH.fullmatch(span) and not _HYPOTHETICAL.search(text):
                yield span, at


CHECK = Check(
    code="AS018",
    name="reference-missing",
    severity="warning",
    summary="A skill names a file that is not in its folder.",
    why="The model tries to read or run it and fails in the middle of the task.",
    hint="Add the file, correct the path (it is relative to the skill's folder), or remove the mention.",
    bad={SKILL: skill(body="Follow [the style guide](references/style.md).\n")},
    good={
        SKILL: skill(body="Follow [the style guide](references/style.md).\n"),
        ".claude/skills/review/references/style.md": "Short names.\n",
    },
    run=run,
    dialects="all",
)

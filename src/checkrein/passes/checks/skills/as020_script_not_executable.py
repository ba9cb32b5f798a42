"""Scripts that a skill runs directly but that are not executable."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.prose import Line, code_spans, spot

_RUN = (
    re.compile(r"\./([\w][\w./-]*)(?=$|[\s`)])", re.M),
    re.compile(r"\$\{CLAUDE_SKILL_DIR\}/([\w][\w./-]*)(?=$|[\s`)])", re.M),
)

_VERB = re.compile(r"(?i)\b(?:run|execute|start|invoke|call)s?:?\s+`$")
_PROGRAMS = (".sh", ".bash", ".py", ".js", ".mjs", ".rb", ".pl", ".ts")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        if "./" not in item.body and "${CLAUDE_SKILL_DIR}/" not in item.body:
            continue
        seen: set[str] = set()
        body = subject.body(item)
        for match in (match for pattern in _RUN for match in pattern.finditer(item.body)):
            word = match[0]
            path = os.path.join(item.directory, match[1])
            if path in seen or not _is_refused(path, subject):
                continue
            line, at = body.place(match.start())
            if not _runs(line, word):
                continue
            seen.add(path)
            message = f"The skill runs `{word}` directly, but it is not executable"
            origin = spot(item, line.number, at, at + len(word))
            yield Finding(origin=origin, message=message)


def _runs(line: Line, word: str) -> bool:
    """Whether a line starts the script itself: a command of a shell, or a code span after "run"."""
    if line.fenced:
        return (line.shell or not line.language) and _starts(line.text.strip().removeprefix("$ "), word)
    spans = ((span, line.text[:at]) for span, at in code_spans(line.text))
    return any(
        _starts(span, word) and (" " in span or _VERB.search(before) is not None) for span, before in spans
    )


def _starts(text: str, word: str) -> bool:
    return text == word or text.startswith(word + " ")


def _is_refused(path: str, subject: Subject) -> bool:
    """Whether the shell would refuse to start a file that is meant to be a program."""
    if not os.path.isfile(path) or os.access(path, os.X_OK):
        return False
    return path.endswith(_PROGRAMS) or subject.text(path).startswith("#!")


CHECK = Check(
    code="AS020",
    name="script-not-executable",
    severity="warning",
    summary="A skill runs its own script, but the script is not executable.",
    why="The shell answers `Permission denied`.",
    hint="Run `chmod +x` on it (and commit the mode), or name the interpreter: `bash scripts/x.sh`.",
    bad={
        SKILL: skill(body="Run:\n\n```bash\n./scripts/lint.sh\n```\n"),
        ".claude/skills/review/scripts/lint.sh": "#!/bin/sh\nexit 0\n",
    },
    good={
        SKILL: skill(body="Run:\n\n```bash\nbash scripts/lint.sh\n```\n"),
        ".claude/skills/review/scripts/lint.sh": "#!/bin/sh\nexit 0\n",
    },
    run=run,
    dialects="all",
)

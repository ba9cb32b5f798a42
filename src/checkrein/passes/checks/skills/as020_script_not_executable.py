"""Scripts that a skill runs directly but that are not executable."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.prose import code_spans, spot

_RUN = re.compile(r"(?:^|[\s`$(])((?:\./|\$\{CLAUDE_SKILL_DIR\}/)(?:scripts/)?[\w][\w./-]*)(?=$|[\s`)])")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        if "./" not in item.body and "${CLAUDE_SKILL_DIR}/" not in item.body:
            continue
        seen: set[str] = set()
        for line in subject.body(item):
            start = line.text.lstrip().removeprefix("$ ")
            for match in _RUN.finditer(line.text) if "/" in line.text else ():
                word = match[1]
                runs = start.startswith(word) or any(
                    span.startswith(word) for span, _ in code_spans(line.text)
                )
                path = os.path.join(
                    item.directory, word.removeprefix("${CLAUDE_SKILL_DIR}/").removeprefix("./")
                )
                if not runs or path in seen or not os.path.isfile(path) or os.access(path, os.X_OK):
                    continue
                seen.add(path)
                message = f"The skill runs `{word}` directly, but it is not executable"
                yield Finding(origin=spot(item, line.number, match.start(1), match.end(1)), message=message)


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

"""Skills that talk to `origin` whatever it is."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.prose import spot
from checkrein.passes.checks.recipe_cases import fenced, named_skills

_STEPS = "ship: {tool: run_skill, with: {skill_command: /ship, cwd: .}}"
_BODY = """
Publish the branch.

```bash
git push REMOTE HEAD
```
"""


_REMOTE = re.compile(
    r"\bgit\s+(?:-C\s+\S+\s+)?(?:push|pull|fetch|ls-remote)\b[^;&|#\n]{0,200}?(?<![\w/.:$-])(origin)(?![\w/.:-])"
)


def run(subject: Subject) -> Iterator[Finding]:
    for skill, _ in named_skills(subject):
        for line in fenced(subject, skill, "bash", "sh", "shell", "zsh"):
            match = _REMOTE.search(line.text)
            if match is not None:
                origin = spot(skill, line.number, match.start(1), match.end(1))
                yield Finding(
                    origin=origin, message=f"`{skill.name}` names the remote `origin` in `{match[0].strip()}`"
                )


CHECK = Check(
    code="RCP058",
    name="hardcoded-origin-remote",
    severity="warning",
    summary="A shell block of a skill names the remote `origin`.",
    why="In the clone of a run `origin` is the clone itself, and the real remote is `upstream`. "
    "What is pushed to `origin` goes nowhere.",
    hint="Find the remote first: `REMOTE=$(git remote | grep -qx upstream && echo upstream || echo origin)`.",
    bad=example(_STEPS, skills={"ship": ""}, bodies={"ship": _BODY.replace("REMOTE", "origin")}),
    good=example(_STEPS, skills={"ship": ""}, bodies={"ship": _BODY.replace("REMOTE", '"$REMOTE"')}),
    run=run,
)

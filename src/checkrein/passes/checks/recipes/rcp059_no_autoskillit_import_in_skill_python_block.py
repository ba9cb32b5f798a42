"""Skills whose Python needs the toolchain itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.prose import spot
from checkrein.passes.checks.recipe_cases import fenced, named_skills

_STEPS = "ship: {tool: run_skill, with: {skill_command: /ship, cwd: .}}"
_BODY = """
Read the report.

```python
import PACKAGE
```
"""


_IMPORT = re.compile(r"\s*(?:import|from)\s+(checkrein|autoskillit)(?![\w-])")


def run(subject: Subject) -> Iterator[Finding]:
    for skill, _ in named_skills(subject):
        for line in fenced(subject, skill, "python", "python3", "py"):
            match = _IMPORT.match(line.text)
            if match is not None:
                origin = spot(skill, line.number, match.start(1), match.end(1))
                yield Finding(
                    origin=origin,
                    message=f"`{skill.name}` imports `{match[1]}`, which a worker's Python lacks",
                )


CHECK = Check(
    code="RCP059",
    name="no-autoskillit-import-in-skill-python-block",
    severity="error",
    summary="A Python block of a skill imports Checkrein or AutoSkillit.",
    why="The worker runs it with the project's Python, which does not have that package.",
    hint="Use the standard library or the project's own packages, or call a tool.",
    bad=example(_STEPS, skills={"ship": ""}, bodies={"ship": _BODY.replace("PACKAGE", "autoskillit")}),
    good=example(_STEPS, skills={"ship": ""}, bodies={"ship": _BODY.replace("PACKAGE", "json")}),
    run=run,
)

"""Placeholders that a skill never explains."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.prose import spot
from checkrein.passes.checks.recipe_cases import fenced, named_skills

_STEPS = "ship: {tool: run_skill, with: {skill_command: /ship, cwd: .}}"
_BODY = """
TEXT

```bash
git log {base_branch}..HEAD
```
"""


_PLACEHOLDER = re.compile(r"(?<![\w$#{%@\\])\{([a-z][a-z0-9_]*)\}(?![\w}])")
_OTHER_BRACES = re.compile(
    r"\b(?:awk|jq|gawk|perl|gh\s+api|xargs|find|printf|python3?|node|docker|kubectl)\b"
    r"|--(?:format|jq|template)\b|-f\b"
)
"""Programs whose own words have braces."""


def run(subject: Subject) -> Iterator[Finding]:
    for skill, contract in named_skills(subject):
        known = {one.name for one in contract.inputs} if contract is not None else set()
        prose = "\n".join(line.text for line in subject.body(skill).lines() if not line.fenced)
        for line in fenced(subject, skill, "bash", "sh", "shell", "zsh"):
            if "{" not in line.text or _OTHER_BRACES.search(line.text):
                continue
            for match in _PLACEHOLDER.finditer(line.text):
                if match[1] in known or match[1] in skill.arguments or _is_named(match[1], prose, skill.body):
                    continue
                origin = spot(skill, line.number, match.start(), match.end())
                yield Finding(origin=origin, message=f"`{match[0]}` in `{skill.name}` is defined nowhere")


def _is_named(name: str, prose: str, body: str) -> bool:
    """Whether the prose speaks of the value, or a block assigns it."""
    words = re.escape(name).replace("_", "[_ -]")
    return re.search(rf"(?i)\b{words}\b", prose) is not None or re.search(rf"\b{name}=", body) is not None


CHECK = Check(
    code="RCP057",
    name="undefined-bash-placeholder",
    severity="warning",
    summary="A shell block of a skill has a placeholder that nothing defines.",
    why="The worker has to guess the value, or runs the command with the braces in it.",
    hint="Say in the skill where the value comes from, or use a variable of the shell.",
    bad=example(_STEPS, skills={"ship": ""}, bodies={"ship": _BODY.replace("TEXT", "Show the state.")}),
    good=example(
        _STEPS,
        skills={"ship": ""},
        bodies={"ship": _BODY.replace("TEXT", "Show the state of the base branch.")},
    ),
    run=run,
)

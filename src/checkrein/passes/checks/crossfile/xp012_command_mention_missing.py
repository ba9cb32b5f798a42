"""Instructions that name a command that does not exist."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.base.origin import Span
from checkrein.facts import claude_guidance
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import COMMAND, command
from checkrein.passes.checks.parts import skill_names

_MENTION = re.compile(
    r"(?i:\b(?:run|invoke|type|(?:use|call|execute)\s+(?:the\s+)?(?:slash\s+)?(?:skill|command))\s+)"
    r"`/([a-z][\w:-]*)(?: [^`]*)?`"
)

_ROOT_FOLDERS = ("tmp", "etc", "usr", "var", "home", "dev", "opt", "bin", "root", "mnt")


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    known = {*skill_names(project), *claude_guidance.BUILTIN_COMMANDS}
    known |= {name.partition(":")[2] for name in known if ":" in name}
    for item in project.instructions:
        if "`/" not in item.text or item.origin.scope != "project":
            continue
        for number, text in enumerate(subject.lines(item.name), 1):
            for match in _MENTION.finditer(text):
                name = match[1]
                if name in known or name.startswith("mcp__") or name in _ROOT_FOLDERS:
                    continue
                suggestion = nearest(name, known, 0.75)
                hint = f"Did you mean `/{suggestion}`?" if suggestion else None
                origin = item.origin.at(Span(number, match.start(1), number, match.end(1) + 1))
                yield Finding(origin=origin, message=f"There is no command or skill `/{name}`", hint=hint)


CHECK = Check(
    code="XP012",
    name="command-mention-missing",
    severity="info",
    summary="The instructions name a command that does not exist.",
    why="The model looks for it, does not find it, and does something else.",
    hint="Correct the name, add the command, or remove the sentence.",
    bad={COMMAND: command(), "CLAUDE.md": "Before a release run `/shp`.\n"},
    good={COMMAND: command(), "CLAUDE.md": "Before a release run `/ship`.\n"},
    run=run,
    whole=True,
)

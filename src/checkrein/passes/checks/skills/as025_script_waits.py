"""Scripts of a skill that ask a question nobody answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.origin import Origin, Span
from checkrein.passes.checks.bundled import texts_of
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SKILL, skill
from checkrein.passes.checks.parts import top

_SHELL = re.compile(r"(?:^|[;&|]\s*|\b(?:then|do|else|if|while|until|!)\s+)read\s+(?:-\w+\s+)*-\w*p\w*\b")
_ASKS: dict[str, re.Pattern[str]] = {
    ".sh": _SHELL,
    ".bash": _SHELL,
    ".zsh": _SHELL,
    ".py": re.compile(r"(?<![\w.\"'#])(?:input|getpass\.getpass|getpass)\s*\((?!\s*\w+\s*:)"),
    ".js": re.compile(r"\brl\.question\(|\breadline\.question\("),
    ".mjs": re.compile(r"\brl\.question\(|\breadline\.question\("),
    ".ts": re.compile(r"\brl\.question\(|\breadline\.question\("),
    ".rb": re.compile(r"\b(?:STDIN|\$stdin)\.gets\b"),
}
_COMMENT = re.compile(r"\s*(?:#|//|\*|\"\"\"|''')")
_GUARD = re.compile(
    r"-t 0\b|isatty|isTTY|--yes\b|--force\b|--non-?interactive|--no-?input|NON_?INTERACTIVE|DEBIAN_FRONTEND"
    r"|non-interactive\b|/dev/tty|--batch\b|--auto|ASSUME_YES|\bCI\b|def input\(|unittest|mock"
)
_ON_DEMAND = "--interactive"


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.skills:
        for path, ending, text in texts_of(subject, item, tuple(_ASKS)):
            if _GUARD.search(text) or (_ON_DEMAND in text and _ON_DEMAND not in item.body):
                continue
            for number, line in enumerate(text.split("\n"), 1):
                match = None if _COMMENT.match(line) else _ASKS[ending].search(line)
                if match is not None and "<" not in line[match.end() :]:
                    span = Span(number, match.start() + 1, number, match.end() + 1)
                    message = f"The script asks for input, and the skill `{item.name}` has nobody to answer"
                    yield Finding(
                        origin=Origin(path, item.origin.scope, span), message=message, related=(top(item),)
                    )
                    break


CHECK = Check(
    code="AS025",
    name="script-waits-for-input",
    severity="warning",
    summary="A script of a skill waits for input.",
    why="The agent starts it without a terminal: it waits until the call times out, or reads nothing and "
    "goes on with an empty answer.",
    hint="Take the answer as an argument or a variable, and fail with a message without it.",
    bad={
        SKILL: skill(body="Run `bash scripts/setup.sh`.\n"),
        ".claude/skills/review/scripts/setup.sh": '#!/bin/sh\nread -p "Name: " name\necho "$name"\n',
    },
    good={
        SKILL: skill(body="Run `bash scripts/setup.sh NAME`.\n"),
        ".claude/skills/review/scripts/setup.sh": '#!/bin/sh\nname="$1"\necho "$name"\n',
    },
    run=run,
    dialects="all",
)

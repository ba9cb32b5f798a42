"""Secrets in instructions, skills and agents."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.origin import Span
from checkrein.base.secrets import secret_lines
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.parts import bodies, noun

_EXAMPLE = re.compile(
    r"(?i)x{4,}|\*{3,}|\.{3}|…|your|example|placeholder|sample|dummy|fake|demo|test[-_]|mock|redacted|changeme|invalid|/g,"
    r"|abc123|1234567|abcdefg|deadbeef|user:|\$\{?\w|\{\{|<\w|//(\w+):\1@|@localhost|@127\.|@0\.0\.0\.0|0{6,}"
)
_PATTERN = re.compile(r"\[\^|\[[A-Za-z0-9]-|\\[sdwb]|\{\d+,?\d*\}|\.\*|\(\?|\]\+|\|")
"""What only a pattern for keys has."""
_PASSWORD = re.compile(r"://[^\s/:@]+:([^\s/@]+)@")
_PLAIN = re.compile(
    r"(?i)[a-z]*(?:pass|secret|word|admin|root|postgres|mysql|mongo|redis|guest|token|pw|key)\w*|[a-z]{1,12}"
    r"|\[.*\]|\(.*\)|%\w+%|[a-z]+(?:[_-][a-z]+)+"
)
_KEY_HEADER = "-----BEGIN "
_KEY_TEXT = re.compile(r"[\s>|\"'+]*(?:\\n)?[A-Za-z0-9+/]{20,}")


def run(subject: Subject) -> Iterator[Finding]:
    for item in subject.project.sources.instructions:
        text = subject.text(item.name)
        for number in secret_lines(text):
            if not _is_example(subject.line(item.name, number)) and not _is_outline(text, number):
                message = "The instructions hold what looks like a secret"
                yield Finding(origin=item.origin.at(Span(number)), message=message)
    for owner in bodies(subject.project):
        for number in secret_lines(owner.body):
            line = subject.body(owner).line(owner.body_line + number - 1)
            if not (line.sample or _is_example(line.text) or _is_outline(owner.body, number)):
                message = f"The {noun(owner)} `{owner.name}` holds what looks like a secret"
                yield Finding(origin=owner.origin.at(Span(line.number), "body"), message=message)


def _is_example(text: str) -> bool:
    """Placeholders, patterns and test accounts are no secrets: `ghp_xxxx`, `sk-[a-z]{9}`, `app:secret@db`."""
    if _EXAMPLE.search(text) or _PATTERN.search(text):
        return True
    found = _PASSWORD.search(text)
    return found is not None and _PLAIN.fullmatch(found[1]) is not None


def _is_outline(text: str, number: int) -> bool:
    """Whether a line is the header of a private key without the key: a file format, not a secret."""
    line, *after = text.split("\n")[number - 1 : number + 8]
    if _KEY_HEADER not in line or secret_lines(line.partition(_KEY_HEADER)[0]):
        return False
    rest = line.partition("KEY")[2].partition("-----")[2]
    return not any(_KEY_TEXT.match(one) for one in (rest, *after))


CHECK = Check(
    code="MEM010",
    name="secret-in-text",
    severity="warning",
    summary="A text that the model reads holds what looks like a secret.",
    why="It is in the repository and in every transcript, and the model may repeat it.",
    hint="Remove it, name the variable that holds it, and replace the secret.",
    bad={"CLAUDE.md": "Deploy with the key AKIA" + "QW3ERTY7UIOPASD2" + ".\n"},
    good={"CLAUDE.md": "Deploy with the key in DEPLOY_KEY.\n"},
    run=run,
    dialects="all",
)

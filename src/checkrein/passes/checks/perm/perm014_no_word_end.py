"""Allow rules whose `*` also continues the word before it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document

_OPEN_WORD = re.compile(r"[A-Za-z0-9_-]+(?: [A-Za-z0-9_-]+)?\*")


def run(subject: Subject) -> Iterator[Finding]:
    for rule in working(subject):
        spec = (rule.specifier or "").strip()
        if rule.verdict == "allow" and tool_of(rule) == "Bash" and _OPEN_WORD.fullmatch(spec):
            word = spec[:-1].rpartition(" ")[2]
            yield Finding(
                origin=subject.find(rule.origin, rule.text),
                message=f"`{rule.text}` in `allow` also approves commands that merely begin with `{word}`",
                hint=f"Write `{rule.tool}({spec[:-1]} *)`; it matches with and without arguments.",
            )


CHECK = Check(
    code="PERM014",
    name="no-word-end",
    severity="warning",
    summary="An allow rule's `*` follows a word without a blank.",
    why="`Bash(ls*)` approves `lsof` too: the `*` continues the word.",
    hint="Put a blank before the `*`.",
    bad={SETTINGS: document({"permissions": {"allow": ["Bash(ls*)"]}})},
    good={SETTINGS: document({"permissions": {"allow": ["Bash(ls *)"]}})},
    run=run,
)

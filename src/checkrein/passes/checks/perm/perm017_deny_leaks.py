"""Deny and ask rules that another spelling of the same thing escapes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec.structs import replace

from checkrein.model.rule import Rule, parse_rule
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import covers, tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document

_CLUSTER = re.compile(r"(?P<program>rm|git clean) -(?P<flags>[A-Za-z]{2,4})(?P<rest>.*)")
_TWINS = {
    "git push --force": "git push -f",
    "git push -f": "git push --force",
    "git commit --no-verify": "git commit -n",
    "git branch -D": "git branch --delete --force",
}
_ENV = re.compile(r"(?P<before>(?:.*/)?)\.env")


def run(subject: Subject) -> Iterator[Finding]:
    rules = list(working(subject))
    strict = [rule for rule in rules if rule.verdict != "allow"]
    for rule in strict:
        missed = next((text for text in _variants(rule) if not _is_covered(text, rule, strict)), None)
        if missed is not None:
            yield Finding(
                origin=subject.find(rule.origin, rule.text),
                message=f"`{rule.text}` in `{rule.verdict}` does not match `{missed}`",
            )


def _is_covered(text: str, rule: Rule, strict: list[Rule]) -> bool:
    other = replace(parse_rule(f"{rule.tool}({text})", rule.verdict, rule.origin), anchor=rule.anchor)
    return any(covers(one, other) for one in strict)


def _variants(rule: Rule) -> Iterator[str]:
    """Other spellings of what a rule denies."""
    spec = (rule.specifier or "").strip()
    tool = tool_of(rule)
    if tool == "Bash":
        end = ":*" if spec.endswith(":*") else ""
        plain = spec.removesuffix(":*")
        cluster = _CLUSTER.fullmatch(plain)
        if cluster is not None:
            flags, rest = cluster["flags"], cluster["rest"]
            yield f"{cluster['program']} -{flags[::-1]}{rest}{end}"
            yield f"{cluster['program']} {' '.join(f'-{flag}' for flag in flags)}{rest}{end}"
        for one, other in _TWINS.items():
            if plain == one or plain.startswith(one + " "):
                yield other + plain[len(one) :] + end
    elif tool in ("Read", "Edit") and (match := _ENV.fullmatch(spec)):
        yield f"{match['before']}.env.local"


CHECK = Check(
    code="PERM017",
    name="deny-leaks",
    severity="warning",
    summary="Another spelling of the same thing escapes a deny or ask rule.",
    why="A rule compares text: `rm -rf` is not `rm -fr`, and `.env` is not `.env.local`. What you meant to "
    "stop goes through.",
    hint="Deny the program (`Bash(rm *)`), add the other spellings, or write `.env*`.",
    bad={SETTINGS: document({"permissions": {"deny": ["Bash(rm -rf *)", "Read(./.env)"]}})},
    good={SETTINGS: document({"permissions": {"deny": ["Bash(rm *)", "Read(./.env*)"]}})},
    run=run,
)

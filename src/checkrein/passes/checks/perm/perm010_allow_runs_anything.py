"""Allow rules for programs that run any code they get."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.shell_code import INTERPRETERS
from checkrein.facts.shell_wrappers import FOREIGN_SHELLS, SHELLS, WRAPPERS
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.covers import tool_of, working
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.policy.patterns import normal

# Checkrein judges the arguments of these as a separate command, or they are not programs.
_TAME = frozenset(
    """
    sed gsed sqlite3 psql mysql time timeout nice nohup stdbuf view flock ionice setsid watch xargs parallel
    sg
    """.split()  # noqa: SIM905
)
_FETCHERS = frozenset({"npx", "bunx", "uvx", "pipx run"})
_PROGRAMS = (frozenset(INTERPRETERS) | SHELLS | FOREIGN_SHELLS | frozenset(WRAPPERS) | _FETCHERS) - _TAME


def run(subject: Subject) -> Iterator[Finding]:
    for rule in working(subject):
        if rule.verdict != "allow" or tool_of(rule) != "Bash" or rule.specifier is None:
            continue
        program = _program(rule.specifier)
        if program in _PROGRAMS and not program.startswith("git "):
            message = f"`{rule.text}` in `allow` lets {program} run anything"
            yield Finding(origin=subject.find(rule.origin, rule.text), message=message)


def _program(specifier: str) -> str:
    """The program that gets the arguments of `*`: `python` for `/usr/bin/python3 -c *`."""
    spec = normal(specifier)
    open_end = next((spec[: -len(end)] for end in (":*", " *") if spec.endswith(end)), "")
    words = [word for word in open_end.split(" ") if not word.startswith("-")]
    words[0] = words[0].rpartition("/")[2]
    name = " ".join(words)
    return name if name in _PROGRAMS else name.rstrip("0123456789.")


CHECK = Check(
    code="PERM010",
    name="allow-runs-anything",
    severity="warning",
    summary="An allow rule approves a program that runs any code it gets.",
    why="`python -c`, `bash -c`, `npx` and similar commands start any program. The rule is as wide as `Bash` "
    "alone, and deny rules see only the interpreter.",
    hint="Allow the script, not the interpreter: `Bash(python scripts/report.py *)`.",
    bad={SETTINGS: document({"permissions": {"allow": ["Bash(python3 *)", "Bash(uv run:*)"]}})},
    good={SETTINGS: document({"permissions": {"allow": ["Bash(python3 scripts/report.py *)"]}})},
    run=run,
)

"""Matchers that are no regular expression."""

from __future__ import annotations

from collections.abc import Iterator

from bridle.passes.checks.check import Check, Finding, Subject
from bridle.passes.checks.examples import (
    SETTINGS,
    hook_file,
)
from bridle.passes.checks.matchers import compile_regex, is_exact
from bridle.passes.checks.parts import (
    field,
    hooks,
)


def run(subject: Subject) -> Iterator[Finding]:
    seen: set[object] = set()
    for hooked in hooks(subject.project):
        hook = hooked.hook
        origin = field(hook, "matcher")
        if not hook.matcher or hook.matcher == "*" or is_exact(hook.matcher, hook.name) or origin in seen:
            continue
        seen.add(origin)
        problem = compile_regex(hook.matcher)
        if isinstance(problem, str):
            message = f"The matcher `{hook.matcher}` is no regular expression: {problem}"
            yield Finding(origin=subject.find(origin, hook.matcher), message=message)


CHECK = Check(
    code="HOOK005",
    name="matcher-invalid",
    severity="error",
    summary="A hook's matcher is not a valid regular expression.",
    why="A matcher with other characters than names use is a regular expression. A broken one matches "
    "nothing.",
    hint="Correct it; `*` by itself matches everything, inside an expression write `.*`.",
    bad={SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "date"}, "(Bash|Edit")},
    good={SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "date"}, "^(Bash|Edit)$")},
    run=run,
)

"""Matchers that are not regular expressions."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, hook_file
from checkrein.passes.checks.parts import field, hooks
from checkrein.policy import matchers


def run(subject: Subject) -> Iterator[Finding]:
    seen: set[object] = set()
    for hooked in hooks(subject.project):
        hook = hooked.hook
        origin = field(hook, "matcher")
        if origin in seen:
            continue
        seen.add(origin)
        problem = matchers.problem(hook.matcher, hook.name)
        if problem is not None:
            message = f"The matcher `{hook.matcher}` is not a regular expression: {problem}"
            yield Finding(origin=subject.find(origin, str(hook.matcher)), message=message)


CHECK = Check(
    code="HOOK005",
    name="matcher-invalid",
    severity="error",
    summary="A hook's matcher is not a valid regular expression.",
    why="A matcher with characters that names don't have is a regular expression. A broken one matches "
    "nothing.",
    hint="Correct it; `*` by itself matches everything, inside an expression write `.*`.",
    bad={SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "date"}, "(Bash|Edit")},
    good={SETTINGS: hook_file("PreToolUse", {"type": "command", "command": "date"}, "^(Bash|Edit)$")},
    run=run,
)

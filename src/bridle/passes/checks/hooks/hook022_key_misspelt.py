"""Keys of a handler that are almost a known one."""

from __future__ import annotations

from collections.abc import Iterator

from bridle.base.nearest import nearest
from bridle.facts import (
    claude_hooks,
)
from bridle.passes.checks import edits
from bridle.passes.checks.check import Check, Finding, Subject
from bridle.passes.checks.examples import (
    SETTINGS,
    hook_file,
)
from bridle.passes.checks.parts import (
    field,
    hooks,
)

_KNOWN = tuple(claude_hooks.HANDLER_KEYS)


def run(subject: Subject) -> Iterator[Finding]:
    for hooked in hooks(subject.project):
        hook = hooked.hook
        for name in hook.unknown:
            meant = None if name in _KNOWN else nearest(name, _KNOWN, 0.8)
            if meant is None:
                continue
            origin = field(hook, name)
            fix = edits.rename(subject, origin, name, meant) if meant not in hook.spans else None
            message = f"`{name}` is no key of a handler; did you mean `{meant}`"
            yield Finding(origin=subject.find(origin, name), message=message, fix=fix)


CHECK = Check(
    code="HOOK022",
    name="hook-key-misspelt",
    severity="warning",
    summary="A key of a hook's handler is misspelt.",
    why="Unknown keys are ignored without a word.",
    hint="Correct the name.",
    bad={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "timeOut": 5})},
    good={SETTINGS: hook_file("Stop", {"type": "command", "command": "date", "timeout": 5})},
    run=run,
    fixable=True,
)

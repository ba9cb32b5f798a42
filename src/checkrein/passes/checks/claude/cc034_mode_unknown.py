"""A default permission mode that does not exist."""

from __future__ import annotations

import json
from collections.abc import Iterator

from checkrein.base.nearest import nearest
from checkrein.facts import claude
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    for setting in named(subject, "permissions.defaultMode"):
        mode = setting.value
        if not isinstance(mode, str) or mode in claude.PERMISSION_MODES:
            continue
        meant = nearest(mode, claude.PERMISSION_MODES, 0.7)
        origin = setting.origin
        fix = None
        if meant:
            fix = edits.swap(
                subject,
                origin,
                json.dumps(mode),
                json.dumps(meant),
                f"Write `{meant}`",
                safe=meant in claude.NARROW_MODES,
            )
        modes = ", ".join(claude.PERMISSION_MODES)
        message = f"`permissions.defaultMode: {mode}` is not one of {modes}"
        yield Finding(origin=subject.find(origin, mode), message=message, fix=fix)


CHECK = Check(
    code="CC034",
    name="mode-unknown",
    severity="error",
    summary="`permissions.defaultMode` is not a permission mode.",
    why="Claude Code rejects the value, and sessions start in another mode.",
    hint="Choose one of the listed modes.",
    bad={SETTINGS: document({"permissions": {"defaultMode": "acceptedits"}})},
    good={SETTINGS: document({"permissions": {"defaultMode": "acceptEdits"}})},
    run=run,
    fixable=True,
)

"""Hooks that a setting switches off."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.items import Hook
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document, group


def run(subject: Subject) -> Iterator[Finding]:
    project = subject.project
    effective = project.settings.get("disableAllHooks")
    if effective is None or effective.value is not True:
        return
    dead = sum(
        isinstance(candidate.item, Hook) and "disableAllHooks" in (candidate.lost or "")
        for candidate in project.inactive
    )
    setting = next((candidate.item for candidate in effective.candidates if not candidate.lost), None)
    if dead and setting is not None:
        message = f"`disableAllHooks` switches off {dead} hook{'s' if dead > 1 else ''}"
        yield Finding(origin=setting.origin, message=message)


_STOP = {"Stop": [group({"type": "command", "command": "date"})]}

CHECK = Check(
    code="HOOK023",
    name="hooks-switched-off",
    severity="warning",
    summary="`disableAllHooks` is set while hooks are defined.",
    why="None of them runs, not even those that guard something.",
    hint="Remove the setting, or the hooks.",
    bad={SETTINGS: document({"disableAllHooks": True, "hooks": _STOP})},
    good={SETTINGS: document({"disableAllHooks": False, "hooks": _STOP})},
    run=run,
)

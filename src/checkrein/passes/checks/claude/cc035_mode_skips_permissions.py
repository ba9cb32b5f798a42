"""A repository that switches permission questions off."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    for setting in named(subject, "permissions.defaultMode"):
        if setting.value == "bypassPermissions" and setting.origin.scope in ("project", "user"):
            origin = subject.find(setting.origin, "bypassPermissions")
            who = (
                "everyone who opens the project" if setting.origin.scope == "project" else "all your projects"
            )
            message = f"`permissions.defaultMode` switches permission questions off for {who}"
            yield Finding(origin=origin, message=message)


CHECK = Check(
    code="CC035",
    name="mode-skips-permissions",
    severity="warning",
    summary="Settings start every session with `bypassPermissions`.",
    why="Everything that is not denied runs without a question, on the machine of everyone who opens the "
    "project.",
    hint="Choose the mode on the command line, in a container, when you need it.",
    bad={SETTINGS: document({"permissions": {"defaultMode": "bypassPermissions"}})},
    good={SETTINGS: document({"permissions": {"defaultMode": "acceptEdits"}})},
    run=run,
)

"""Additional directories that do not exist."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    place = subject.project.place
    for setting in named(subject, "permissions.additionalDirectories"):
        path = setting.value
        if not isinstance(path, str) or "$" in path or "*" in path:
            continue
        target = (
            os.path.join(place.home, path[2:]) if path.startswith("~/") else os.path.join(place.cwd, path)
        )
        if not os.path.isdir(target):
            message = f"`permissions.additionalDirectories` names `{path}`, which does not exist"
            yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="CC040",
    name="directory-missing",
    severity="warning",
    summary="An additional directory does not exist.",
    why="The entry gives access to nothing now, but to anything that appears there later.",
    hint="Correct the path or remove it.",
    bad={SETTINGS: document({"permissions": {"additionalDirectories": ["../shared-docs-gone"]}})},
    good={SETTINGS: document({"permissions": {"additionalDirectories": ["docs"]}}), "docs/a.md": "Text.\n"},
    run=run,
    whole=True,
)

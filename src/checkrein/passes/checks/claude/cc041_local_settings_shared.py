"""Local settings that git does not ignore."""

from __future__ import annotations

import os
from collections.abc import Iterator

from checkrein.base.origin import Span
from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import LOCAL, document
from checkrein.passes.checks.ignored import is_ignored


def run(subject: Subject) -> Iterator[Finding]:
    seen: set[str] = set()
    for setting in subject.project.sources.settings:
        file = setting.origin.file
        local = setting.origin.scope == "local" and os.path.basename(file) == claude.LOCAL_SETTINGS_FILE
        if not local or file in seen:
            continue
        seen.add(file)
        if not is_ignored(file, subject.project.place):
            message = f"Git does not ignore {claude.LOCAL_SETTINGS_FILE}"
            yield Finding(origin=setting.origin.at(Span(1), "$"), message=message)


CHECK = Check(
    code="CC041",
    name="local-settings-shared",
    severity="warning",
    summary="Git does not ignore settings.local.json.",
    why="Your own approvals and paths end up in the repository. Once git tracks the file, its allow rules "
    "count like the project's: they have no effect in an untrusted folder.",
    hint="Add `.claude/settings.local.json` to .gitignore.",
    bad={LOCAL: document({"model": "sonnet"})},
    good={LOCAL: document({"model": "sonnet"}), ".gitignore": ".claude/settings.local.json\n"},
    run=run,
)

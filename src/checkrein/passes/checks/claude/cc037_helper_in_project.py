"""Helper commands in a repository."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.settingkeys import named


def run(subject: Subject) -> Iterator[Finding]:
    for setting in named(subject, *claude.CREDENTIAL_SETTINGS):
        if setting.origin.scope == "project":
            message = (
                f"`{setting.name}` in project settings runs a command for everyone who opens the project"
            )
            yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="CC037",
    name="helper-in-project",
    severity="warning",
    summary="Project settings name a credential helper.",
    why="The command runs with the user's rights whenever Claude Code needs a credential, before any tool "
    "asks.",
    hint="Move it to your user settings.",
    bad={SETTINGS: document({"apiKeyHelper": "./scripts/key.sh"})},
    good={"~/.claude/settings.json": document({"apiKeyHelper": "~/bin/key.sh"})},
    run=run,
)

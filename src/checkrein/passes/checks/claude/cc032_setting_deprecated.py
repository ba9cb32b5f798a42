"""Settings keys that have a successor."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts import claude_settings
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document


def run(subject: Subject) -> Iterator[Finding]:
    for setting in subject.project.sources.settings:
        successor = claude_settings.DEPRECATED_KEYS.get(setting.name)
        if successor:
            message = f"`{setting.name}` is deprecated; use `{successor}`"
            yield Finding(origin=setting.origin, message=message)


CHECK = Check(
    code="CC032",
    name="setting-deprecated",
    severity="info",
    summary="A settings key is deprecated.",
    why="It still works, but Claude Code will remove it.",
    hint="Use the key in the message.",
    bad={SETTINGS: document({"includeCoAuthoredBy": False})},
    good={SETTINGS: document({"attribution": {"commit": ""}})},
    run=run,
)

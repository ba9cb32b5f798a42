"""Settings keys that do not exist."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.diagnostic import Severity
from checkrein.base.nearest import nearest
from checkrein.facts import claude, claude_settings
from checkrein.passes.checks import edits
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document
from checkrein.passes.checks.settingkeys import key_place


def run(subject: Subject) -> Iterator[Finding]:
    seen: set[tuple[str, str]] = set()
    for setting in subject.project.sources.settings:
        unknown = _unknown(setting.name)
        if unknown is None or (setting.origin.file, unknown) in seen:
            continue
        seen.add((setting.origin.file, unknown))
        key = unknown.rpartition(".")[2]
        origin = key_place(subject, setting, key)
        if unknown in claude_settings.GLOBAL_KEYS:
            message = f"`{unknown}` is not a key of a settings file; it belongs in ~/{claude.STATE_FILE}"
            yield Finding(origin=origin, message=message, hint="Change it with /config.")
            continue
        holder = unknown.rpartition(".")[0]
        siblings = _siblings(holder)
        meant = nearest(key, siblings, 0.75)
        fix = edits.rename(subject, origin, key, meant, safe=False) if meant else None
        message = f"`{unknown}` is not a key of Claude Code's settings" + (
            f"; did you mean `{meant}`" if meant else ""
        )
        severity: Severity = "warning" if meant else "info"
        yield Finding(origin=origin, message=message, fix=fix, severity=severity)


def _unknown(name: str) -> str | None:
    """The part of a dotted name up to the first unknown key."""
    if name.startswith("[") or claude_settings.is_known(name):
        return None
    parts = name.split(".")
    prefixes = (".".join(parts[: end + 1]) for end in range(len(parts)))
    return next((prefix for prefix in prefixes if not claude_settings.is_known(prefix)), None)


def _siblings(holder: str) -> set[str]:
    if not holder:
        return set(claude_settings.TOP_LEVEL_KEYS)
    start = holder + "."
    return {
        key[len(start) :].partition(".")[0] for key in claude_settings.SETTINGS_KEYS if key.startswith(start)
    }


CHECK = Check(
    code="CC030",
    name="setting-unknown",
    severity="warning",
    summary="A settings key does not exist.",
    why="Claude Code silently ignores unknown keys, so this one has no effect.",
    hint="Correct the name, or remove the key.",
    bad={SETTINGS: document({"permissons": {"deny": ["Read(.env*)"]}})},
    good={SETTINGS: document({"permissions": {"deny": ["Read(.env*)"]}})},
    run=run,
    fixable=True,
)

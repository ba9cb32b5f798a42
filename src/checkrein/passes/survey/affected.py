"""Which findings a change can have caused."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import beneath
from checkrein.dialects.claude.files import kind_of
from checkrein.facts import claude, claude_plugins

_WIDE = frozenset({"settings", "mcp", "hooks", "plugin", "marketplace"})
_NAMED = frozenset({"skill", "agent", "command"})
_CROSS_FILE = ("XP", "PERM", "HOOK", "MCP", "PL", "CC009", "CC010", "CC011", "CC023")


def affected(found: Iterable[Diagnostic], changed: Collection[str]) -> list[Diagnostic]:
    """Findings in a changed file, in a skill or plugin with a changed file, or about other files when a file
    changed that many depend on: settings, hooks, servers, manifests, or one that brings or takes a name."""
    folders = {folder for file in changed for folder in _units(file)}
    kinds = {kind_of(file) for file in changed}
    gone = {file for file in changed if not os.path.exists(file)}
    wide = bool(kinds & (_WIDE | _NAMED)) or any(kind_of(file) in _NAMED for file in gone)
    return [one for one in found if _is_affected(one, changed, folders, wide)]


def _is_affected(finding: Diagnostic, changed: Collection[str], folders: Collection[str], wide: bool) -> bool:
    file = os.path.realpath(finding.origin.file)
    if file in changed or any(os.path.realpath(one.file) in changed for one in finding.related):
        return True
    if any(beneath(file, folder) for folder in folders):
        return True
    return wide and finding.code.startswith(_CROSS_FILE)


def _units(file: str) -> Iterable[str]:
    """The folder of the skill that holds a file, and that of a plugin whose manifest it is."""
    directory = os.path.dirname(file)
    if os.path.basename(directory) == claude_plugins.MANIFEST_DIR:
        yield os.path.dirname(directory)
    for _ in range(6):
        if os.path.isfile(os.path.join(directory, claude.SKILL_FILE)):
            yield directory
            return
        directory = os.path.dirname(directory)

"""Whose material a folder holds: Claude Code's and everybody's, or that of one other agent."""

from __future__ import annotations

import os
from typing import Any

from checkrein.base.files import beneath
from checkrein.dialects import jsonfile
from checkrein.dialects.codes import Log
from checkrein.facts import claude_plugins, codex_plugins
from checkrein.model.project import Place

_PRODUCTS = frozenset(
    """
    codex copilot cursor gemini opencode qwen windsurf kiro antigravity amp roo cline kilo kilocode goose trae
    kimi vibe droid crush openclaw qoder
    """.split()  # noqa: SIM905
)
_PROGRAMS = _PRODUCTS | {"pi"}
_SECTIONS = frozenset({"pi", "openclaw", "clawdbot", "moltbot"})
"""Agents that a package.json speaks to in a section of its own, which makes the package their extension."""


class Owners:
    """Answers for folders at or below the root of `place`."""

    def __init__(self, place: Place) -> None:
        self._root = place.root
        self._within = place.within
        self._packages: dict[str, dict[str, Any]] = {}

    def of(self, directory: str) -> str | None:
        """The other agent: by the names of the folders, a manifest of Codex, or the package. A plugin of
        Claude Code belongs to nobody else."""
        below = os.path.relpath(directory, self._root)
        for part in below.split(os.sep) if not below.startswith("..") else ():
            if (named := _named(part)) is not None:
                return named
        while beneath(directory, self._root):
            if os.path.isdir(os.path.join(directory, claude_plugins.MANIFEST_DIR)):
                return None
            if os.path.isdir(os.path.join(directory, codex_plugins.MANIFEST_DIR)):
                return "codex"
            if (packed := _packed(self._package(directory))) is not None:
                return packed
            directory = os.path.dirname(directory)
        return None

    def _package(self, directory: str) -> dict[str, Any]:
        """The package.json of a folder; empty when there is none, or a broken one."""
        if directory not in self._packages:
            read = jsonfile.read(os.path.join(directory, "package.json"), "project", Log(self._within))
            self._packages[directory] = read.value if read else {}
        return self._packages[directory]


def _packed(package: dict[str, Any]) -> str | None:
    """The agent that a package is, or is for."""
    programs = package.get("bin")
    if isinstance(programs, dict) and (found := programs.keys() & _PROGRAMS):
        return str(min(found))
    for section in sorted(_SECTIONS & package.keys()):
        if isinstance(package[section], dict):
            return section
    name = package.get("name")
    return _named(name.replace("/", "-").replace("@", "")) if isinstance(name, str) else None


def _named(name: str) -> str | None:
    """The agent whose name is a word of this one, unless it names Claude too."""
    words = set(name.casefold().lstrip(".").replace("_", "-").split("-"))
    return None if "claude" in words else min(words & _PRODUCTS, default=None)

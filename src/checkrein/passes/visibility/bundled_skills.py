"""The skills that Checkrein brings: a Claude Code plugin with `skills/`, and `skills_extended/` beside it.

An agent that loads the plugin finds the first directory only. Sessions of ours read both, and the rules of
visibility decide.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from checkrein.base.errors import InternalError
from checkrein.model.items import Invocable, Skill
from checkrein.model.project import TIERS, Tier

PLUGIN = Path(__file__).parents[2] / "plugin"
"""The root of the plugin: what `--plugin-dir` takes."""

ENTRY = "skills"
EXTENDED = "skills_extended"
_USUAL: Tier = 2


def bundled_skills(root: Path = PLUGIN) -> tuple[Skill, ...]:
    """The skills of both directories. Raises InternalError for a name that is in both."""
    from checkrein.dialects.claude.read import read_skills
    from checkrein.dialects.codes import Log

    log = Log()
    found = [
        skill
        for name in (ENTRY, EXTENDED)
        for skill in read_skills(os.fspath(root / name), "bundled", log, set())
    ]
    twice = {one.name for one in found if sum(one.name == other.name for other in found) > 1}
    if twice:
        raise InternalError(f"A bundled skill is in {ENTRY}/ and in {EXTENDED}/: {', '.join(sorted(twice))}.")
    return tuple(found)


def bundled_names(root: Path = PLUGIN) -> frozenset[str]:
    """The names alone, without reading the files."""
    return frozenset(bundled_files(root))


def bundled_files(root: Path = PLUGIN) -> dict[str, str]:
    """Names to their SKILL.md."""
    files = (file for part in (ENTRY, EXTENDED) for file in root.glob(f"{part}/*/SKILL.md"))
    return {file.parent.name: os.fspath(file) for file in files}


def default_tiers(items: Iterable[Invocable]) -> dict[str, Tier]:
    """The tiers of the bundled skills in `skills_extended/`: what their `metadata` says, else 2. All other
    skills are in tier 1 until the configuration moves them."""
    return {
        item.name: next((tier for tier in TIERS if str(item.metadata.get("tier")) == str(tier)), _USUAL)
        for item in items
        if isinstance(item, Skill)
        and item.origin.scope == "bundled"
        and os.path.basename(os.path.dirname(item.directory)) == EXTENDED
    }

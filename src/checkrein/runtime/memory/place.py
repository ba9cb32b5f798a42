"""Where a project's memory is, whether it is on, and the rules that let a session use it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from checkrein.base.files import beneath
from checkrein.base.origin import BUNDLED, Origin
from checkrein.dialects.claude.place import main_checkout
from checkrein.model.project import Project
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.paths import inside
from checkrein.runtime.store.layout import default_root, project_name

INDEX = "MEMORY.md"
_KEEP = ("0", "false", "no", "off")


def memory_dir(project: Project, env: Mapping[str, str]) -> str | None:
    """The directory; None when memory is off. All worktrees of a repository share one.

    `CLAUDE_CODE_DISABLE_AUTO_MEMORY` decides when it is set, then `autoMemoryEnabled`. The directory is
    `autoMemoryDirectory` (absolute, or below the home), else `memory` beside the project's sessions. Writing
    there needs no approval, so a directory that holds the home or the project does not count, and a shared
    settings file names it only inside the project.
    """
    switch = env.get("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "").strip().lower()
    if switch not in ("", *_KEEP) or (not switch and project.setting("autoMemoryEnabled") is False):
        return None
    place = project.place
    chosen = project.setting("autoMemoryDirectory")
    shared = _is_shared(project)
    if isinstance(chosen, str) and chosen.startswith("~/"):
        chosen = place.home + chosen[1:]
    if isinstance(chosen, str) and os.path.isabs(chosen) and not _too_wide(chosen, project):
        real = os.path.realpath(chosen)
        if not shared or any(beneath(real, root) for root in place.within):
            return real
    owner = main_checkout(place.repo_root) if place.repo_root else place.cwd
    return os.path.realpath(Path(default_root(env)) / project_name(owner, env) / "memory")


def _is_shared(project: Project) -> bool:
    found = project.settings.get("autoMemoryDirectory")
    candidates = found.candidates if found is not None else ()
    return any(one.lost is None and one.item.origin.scope in ("project", "plugin") for one in candidates)


def memory_rules(directory: str) -> tuple[Rule, ...]:
    """Reading and writing there needs no approval; deny rules hold there as anywhere."""
    origin = Origin(BUNDLED, "bundled")
    return tuple(parse_rule(f"{tool}(/{directory}/**)", "allow", origin) for tool in ("Read", "Edit"))


def _too_wide(directory: str, project: Project) -> bool:
    real = os.path.realpath(directory)
    place = project.place
    return any(inside(os.path.realpath(held), (real,)) for held in (place.home, place.cwd, place.config_dir))

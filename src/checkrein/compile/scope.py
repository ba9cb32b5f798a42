"""How far around a spec compile looks: its own directory, its project, or the whole repository.

A skill of a plugin, a marketplace or a collection stands alone: whoever installs it gets its directory. What
the repository around it says is for those who work on that repository.
"""

from __future__ import annotations

import os
from typing import Literal, get_args

from checkrein.compile.values import Spec
from checkrein.facts import claude

WorkspaceScope = Literal["skill", "project", "repo"]
WORKSPACE_SCOPES: tuple[WorkspaceScope, ...] = get_args(WorkspaceScope)
_ALONE = ("skill", "command", "agent")


def default_scope(spec: Spec) -> WorkspaceScope:
    """`project` for what is below `.claude/` and for other runtimes, else `skill`."""
    if spec.detection.dialect == "agent_skills_std":
        return "skill"
    inside = claude.CONFIG_DIR in spec.directory.split(os.sep)
    return "skill" if spec.kind in _ALONE and not inside else "project"


def instruction_root(spec: Spec, scope: WorkspaceScope) -> str | None:
    """The outermost directory whose instructions count; None for the root of the repository."""
    return {"skill": spec.directory, "project": spec.workspace, "repo": None}[scope]


def import_roots(spec: Spec, scope: WorkspaceScope) -> tuple[str, ...]:
    """The directories that an imported file may be in."""
    if scope == "skill":
        return (spec.directory,)
    if scope == "project":
        return (spec.workspace, spec.directory)
    return (spec.workspace, spec.directory, spec.place.repo_root or spec.workspace)

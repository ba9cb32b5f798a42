"""The memory of an agent: a directory for its user, for the project, or for this checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from checkrein.base.files import beneath
from checkrein.model.project import Project
from checkrein.passes.agents import AgentType
from checkrein.runtime.memory.place import memory_dir

_FOLDERS = {"project": ".claude/agent-memory", "local": ".claude/agent-memory-local"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def agent_memory(kind: AgentType, project: Project, env: Mapping[str, str]) -> str | None:
    """The directory; None when the agent has no memory, or memory is off. One that a link leads out of the
    project does not count."""
    if kind.memory is None or memory_dir(project, env) is None:
        return None
    place, name = project.place, _UNSAFE.sub("-", kind.name).strip(".-") or "agent"
    if kind.memory == "user":
        return os.path.join(place.config_dir, "agent-memory", name)
    found = os.path.realpath(os.path.join(place.root, _FOLDERS[kind.memory], name))
    return found if any(beneath(found, root) for root in place.within) else None

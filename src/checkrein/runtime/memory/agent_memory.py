"""The memory of an agent: a directory for its user, for the project, or for this checkout."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from checkrein.model.project import Project
from checkrein.passes.agents import AgentType
from checkrein.policy.policy import Directory
from checkrein.runtime.memory.place import memory_dir

_FOLDERS = {"project": ".claude/agent-memory", "local": ".claude/agent-memory-local"}
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


def agent_memory(kind: AgentType, project: Project, env: Mapping[str, str]) -> Directory | None:
    """The directory, with the scope of the definition; None when the agent has no memory, or memory is off.
    The agent writes there without approval, so in a project one behind a link does not count."""
    if kind.memory is None or memory_dir(project, env) is None:
        return None
    place, name = project.place, _UNSAFE.sub("-", kind.name).strip(".-") or "agent"
    if kind.memory == "user":
        found = os.path.realpath(os.path.join(place.config_dir, "agent-memory", name))
        return Directory(found, kind.origin.scope)
    found = os.path.join(os.path.realpath(place.root), _FOLDERS[kind.memory], name)
    return Directory(found, kind.origin.scope) if os.path.realpath(found) == found else None

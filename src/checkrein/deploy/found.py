"""What a project has when deploy has nothing to write, and why none of it was taken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checkrein.deploy.gather import Gathered
from checkrein.model.project import Project

_SINGULAR = {"skills": "skill", "commands": "command", "agents": "agent", "hooks": "hook", "rules": "rule"}
_SINGULAR |= {"servers": "server", "instructions": "instruction", "plugins": "plugin", "settings": "setting"}
_WAYS = {"user": "--scope user", "local": "--scope local", "plugin": "--plugin NAME"}


def what_was_found(project: Project, gathered: Gathered, targets: Sequence[str]) -> str:
    """One or a few lines in place of "Nothing to do"."""
    mine = {
        kind: len(getattr(gathered.sources, kind)) for kind in _SINGULAR if getattr(gathered.sources, kind)
    }
    agents = ", ".join(targets)
    if mine:
        return f"Nothing to do: {_counted(mine)} found in {gathered.root}, and {agents} can take none of it."
    lines = [f"Nothing to do: {gathered.root} has no items of the project's own."]
    for scope, counts in gathered.beside.items():
        way = _WAYS.get(scope)
        lines.append(f"  scope {scope}: {_counted(counts)}, not asked for{f' ({way})' if way else ''}")
    for name, other in project.others.items():
        counts = {kind: len(getattr(other.sources, kind)) for kind in _SINGULAR}
        shown = _counted({kind: number for kind, number in counts.items() if number})
        if shown:
            lines.append(
                f"  files of {name}: {shown}; `checkrein import --from {name}` makes them the project's"
            )
    if project.place.root_reason == "fallback":
        lines.append("  no directory above has `.claude/` or `.git`, so the project is this directory alone")
    return "\n".join(lines)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{number} {_SINGULAR[kind] if number == 1 else kind}" for kind, number in counts.items() if number
    )

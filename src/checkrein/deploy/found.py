"""What a project has when deploy has nothing to write, and why none of it was taken."""

from __future__ import annotations

from collections.abc import Mapping

from checkrein.deploy.gather import Gathered
from checkrein.dialects.generic.written import Written
from checkrein.model.project import Project

_SINGULAR = {"skills": "skill", "commands": "command", "agents": "agent", "hooks": "hook", "rules": "rule"}
_SINGULAR |= {"servers": "server", "instructions": "instruction", "plugins": "plugin", "settings": "setting"}
_WAYS = {"user": "--scope user", "local": "--scope local", "plugin": "--plugin NAME"}


def what_was_found(project: Project, gathered: Gathered, written: Mapping[str, Written]) -> str:
    """One or a few lines in place of "Nothing to do"."""
    mine = {
        kind: len(getattr(gathered.sources, kind)) for kind in _SINGULAR if getattr(gathered.sources, kind)
    }
    if mine:
        ends = [
            f"{name} reads it where it is" if _is_read(answer) else f"{name} can take none of it"
            for name, answer in written.items()
        ]
        return f"Nothing to do: {_counted(mine)} found in {gathered.root}; {'; '.join(ends)}."
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


def _is_read(answer: Written) -> bool:
    return any(outcome.status == "kept" and not outcome.field for outcome in answer.outcomes)


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{number} {_SINGULAR[kind] if number == 1 else kind}" for kind, number in counts.items() if number
    )

"""SKILL.md and command files: one reader for both, and for every dialect that has skills."""

from __future__ import annotations

from typing import Any

from checkrein.base.frontmatter import Frontmatter
from checkrein.base.origin import Origin, Scope
from checkrein.dialects import hooks, markdown
from checkrein.dialects.codes import Log
from checkrein.facts.claude_fields import COMMAND_FIELDS, SKILL_FIELDS, names
from checkrein.model.items import Command, Skill

_RENAMED = {"name": "display_name", "disable-model-invocation": "manual"}
_SKILL = markdown.table(SKILL_FIELDS, _RENAMED)
_COMMAND = markdown.table(COMMAND_FIELDS, _RENAMED)
_KNOWN = names(SKILL_FIELDS)


def read_skill(
    path: str, directory: str, name: str, scope: Scope, log: Log, *, plugin: str | None = None
) -> Skill | None:
    """The skill in `path`; `name` is what the user types. None when the file can't be read."""
    front = markdown.read(path, scope, _KNOWN, log)
    if front is None:
        return None
    return parse_skill(front, path, directory, name, scope, log, plugin)


def parse_skill(
    front: Frontmatter,
    path: str,
    directory: str,
    name: str,
    scope: Scope,
    log: Log,
    plugin: str | None = None,
) -> Skill:
    return Skill(
        name=name,
        directory=directory,
        plugin=plugin,
        **_invocable(front, _SKILL, Origin(path, scope), plugin, log),
    )


def read_command(
    path: str, name: str, scope: Scope, log: Log, *, plugin: str | None = None
) -> Command | None:
    front = markdown.read(path, scope, _KNOWN, log)
    if front is None:
        return None
    return Command(name=name, plugin=plugin, **_invocable(front, _COMMAND, Origin(path, scope), plugin, log))


def _invocable(
    front: Frontmatter, fields: markdown.Table, origin: Origin, plugin: str | None, log: Log
) -> dict[str, Any]:
    taken, rest = markdown.take(front, fields, origin, log)
    if "manual" in taken:
        taken["model_invocable"] = not taken.pop("manual")
    if "hooks" in rest:
        written = rest.pop("hooks")
        if written is not None:
            taken["hooks"] = hooks.in_frontmatter(written, front, origin, log, plugin=plugin)
            if not isinstance(written, dict):
                rest["hooks"] = written
    taken["origin"] = origin
    taken["spans"] = front.spans
    taken["unknown"] = rest
    taken["body"] = front.body
    taken["body_line"] = front.body_line
    taken["has_frontmatter"] = front.present
    return taken

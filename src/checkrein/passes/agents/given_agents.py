"""Agents as a command line gives them: JSON, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkrein.base.nearest import nearest
from checkrein.base.origin import COMMAND_LINE, Origin
from checkrein.dialects import agents
from checkrein.dialects.codes import Log
from checkrein.facts.claude_fields import AGENT_FIELDS, names

_BODY = "prompt"
_CLOSE = 0.75


def mistake(given: Mapping[str, Any]) -> str | None:
    """The first thing that is wrong with agents, with the agent and the field. A field that nobody knows is
    wrong when it looks like one that exists."""
    for name, entry in given.items():
        wrong = _wrong(name, entry)
        if wrong is not None:
            return f"the agent {name!r}: {wrong}."
    return None


def _wrong(name: str, entry: Any) -> str | None:
    if not isinstance(entry, dict):
        return "it must be an object with `description` and `prompt`"
    known = {*names(AGENT_FIELDS), _BODY} - {"name"}
    for field in entry:
        meant = nearest(field, known, _CLOSE) if field not in known and field != "name" else None
        if meant is not None:
            return f"`{field}` is not a field; write `{meant}`"
    if not isinstance(entry.get(_BODY), str):
        return f"`{_BODY}` must be text"
    log = Log()
    agents.from_json(name, entry, Origin(COMMAND_LINE, "cli"), log)
    return log[0].message.partition(";")[0] if log else None

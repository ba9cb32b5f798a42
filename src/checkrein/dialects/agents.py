"""Agent files: Markdown with frontmatter, or the JSON of a command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.frontmatter import Frontmatter
from checkrein.base.origin import Origin, Scope
from checkrein.dialects import hooks, markdown, servers
from checkrein.dialects.codes import Log, diagnose
from checkrein.facts.claude_fields import AGENT_FIELDS, PLUGIN_AGENT_IGNORED, names
from checkrein.model.items import Agent, Server

_TABLE = markdown.table(AGENT_FIELDS, {})
_KNOWN = names(AGENT_FIELDS)


def read(
    path: str, scope: Scope, log: Log, *, plugin: str | None = None, fallback: str | None = None
) -> Agent | None:
    """The agent in `path`, or None with the reason in `log`.

    A plugin's agent without a name gets the name `fallback`; any other file without a name is documentation.
    """
    front = markdown.read(path, scope, _KNOWN, log)
    if front is None:
        return None
    return build(front, Origin(path, scope), log, plugin=plugin, fallback=fallback)


def build(
    front: Frontmatter,
    origin: Origin,
    log: Log,
    *,
    plugin: str | None = None,
    fallback: str | None = None,
) -> Agent | None:
    taken, rest = markdown.take(front, _TABLE, origin, log)
    name = taken.pop("name", "").strip() or fallback
    refusal = None if plugin else _refusal(name, taken.get("description"), front, origin)
    if refusal is not None:
        log.append(refusal)
    if name is None or refusal is not None:
        return None
    if plugin:
        ignored = {key: front.values[key] for key in PLUGIN_AGENT_IGNORED if key in front.values}
        taken.pop("permission_mode", None)
        rest.update(ignored)
    else:
        _take_hooks(taken, rest, front, origin, log)
        _take_servers(taken, rest, front, origin, log)
    return Agent(
        name=name,
        origin=origin,
        spans=front.spans,
        unknown=rest,
        body=front.body,
        body_line=front.body_line,
        plugin=plugin,
        **taken,
    )


def from_json(name: str, entry: Mapping[str, Any], origin: Origin, log: Log) -> Agent | None:
    """An agent given as an object, its body under `prompt`."""
    values = {key: value for key, value in entry.items() if key != "prompt"}
    body = entry.get("prompt")
    front = Frontmatter({**values, "name": name}, {}, body if isinstance(body, str) else "", 1)
    return build(front, origin, log)


def _refusal(
    name: str | None, description: str | None, front: Frontmatter, origin: Origin
) -> Diagnostic | None:
    if not name:
        if any(problem.kind in ("unparsable", "unterminated", "not_mapping") for problem in front.problems):
            return diagnose("AGENT001", "This file gives no agent: its frontmatter is broken", origin)
        return diagnose("AGENT001", "The file has no `name`, so it counts as documentation", origin)
    if name.startswith("-") or ":" in name:
        place = origin.at(front.spans.get("name"), "frontmatter.name")
        return diagnose("AGENT002", f"The agent name `{name}` can't be used; the agent is not loaded", place)
    if not description or not description.strip():
        return diagnose("AGENT003", f"The agent `{name}` has no description and is not loaded", origin)
    return None


def _take_hooks(
    taken: dict[str, Any], rest: dict[str, Any], front: Frontmatter, origin: Origin, log: Log
) -> None:
    written = rest.get("hooks")
    if written is None:
        rest.pop("hooks", None)
        return
    taken["hooks"] = hooks.in_frontmatter(written, front, origin, log)
    if isinstance(written, dict):
        del rest["hooks"]


def _take_servers(
    taken: dict[str, Any], rest: dict[str, Any], front: Frontmatter, origin: Origin, log: Log
) -> None:
    """`mcpServers`: a list whose elements are names or `{name: entry}`, or one such map."""
    written = rest.pop("mcpServers", None)
    if written is None:
        return
    place = origin.at(front.spans.get("mcpServers"), "frontmatter.mcpServers")
    elements = [{key: value} for key, value in written.items()] if isinstance(written, dict) else written
    if isinstance(elements, str):
        elements = [part.strip() for part in elements.split(",") if part.strip()]
    if not isinstance(elements, list):
        rest["mcpServers"] = written
        log.append(markdown.wrong("mcpServers", "servers", front, origin))
        return
    references: list[str] = []
    own: list[Server] = []
    for element in elements:
        if isinstance(element, str):
            references.append(element)
        elif isinstance(element, dict) and element:
            for name, entry in element.items():
                path = f"frontmatter.mcpServers.{name}"
                server = servers.read_entry(str(name), entry, place, path, {}, log)
                if server is not None:
                    own.append(server)
        else:
            log.append(markdown.wrong("mcpServers", "servers", front, origin))
    taken["server_names"] = tuple(references)
    taken["servers"] = tuple(own)

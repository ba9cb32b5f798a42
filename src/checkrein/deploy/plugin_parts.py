"""The parts of a plugin as items of a project: names without a colon, paths that other agents can follow."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import NotFoundError
from checkrein.base.files import beneath
from checkrein.base.origin import Origin, Span
from checkrein.dialects.claude.plugins import is_open_plugin, is_plugin, read
from checkrein.dialects.generic.loss_codes import CODES
from checkrein.model.project import Project, Sources

_ROOT = re.compile(r"\$(?:CLAUDE_PLUGIN_ROOT\b|\{CLAUDE_PLUGIN_ROOT\})")
_KINDS = ("skills", "commands", "agents", "hooks", "servers")
OUTSIDE = "DEP017"


def own_plugins(project: Project) -> tuple[str, ...]:
    """The plugins that the project itself is made of: its own directory, if it is one, and those that its
    marketplace has in it."""
    places = dict.fromkeys((project.place.cwd, project.place.root))
    own = [root for root in places if is_plugin(root) or is_open_plugin(root)]
    listed = {one.name for one in project.sources.marketplaces}
    offered = (
        os.path.realpath(plugin.root)
        for plugin in project.sources.plugins
        if plugin.marketplace in listed and beneath(os.path.realpath(plugin.root), project.place.root)
    )
    return tuple(dict.fromkeys((*own, *offered)))


def find_plugin(project: Project, name: str) -> str:
    """The directory of a plugin, by its path or its name. Raises NotFoundError."""
    if os.path.isdir(name):
        return os.path.realpath(name)
    known = {plugin.name: plugin.root for plugin in project.sources.plugins}
    root = known.get(name) or next((root for key, root in known.items() if key.split("@")[0] == name), None)
    if root is None:
        shown = ", ".join(sorted(known)) or "none"
        raise NotFoundError(
            f"There is no plugin {name!r}.",
            kind="plugin_not_found",
            hint=f"name its directory, or one of the project's plugins: {shown}",
        )
    return os.path.realpath(root)


def plugin_item(root: str, name: str) -> str:
    """The file of a plugin's skill, command or agent, by its name with or without the plugin's. Raises
    NotFoundError."""
    parts = read(root)
    items = (*parts.skills, *parts.commands, *parts.agents)
    found = next((one for one in items if name in (one.name, one.name.rpartition(":")[2])), None)
    if found is None:
        shown = ", ".join(sorted(one.name for one in items)) or "nothing"
        raise NotFoundError(
            f"The plugin in {root} has no {name!r}.", kind="plugin_not_found", hint=f"it has {shown}"
        )
    return found.origin.file


def plugin_parts(sources: Sources, roots: Iterable[str], project: str, log: list[Diagnostic]) -> Sources:
    """What the plugins in `roots` bring, with paths relative to `project`."""
    found = Sources()
    chosen_roots = tuple(roots)
    by_kind = {kind: _of_plugins(getattr(sources, kind), chosen_roots) for kind in _KINDS}
    for root in chosen_roots:
        inside = beneath(root, project)
        chosen = {kind: tuple(by_kind[kind][root]) for kind in _KINDS}
        place = os.path.relpath(root, project).replace(os.sep, "/") if inside else root
        made = Sources(**{kind: tuple(_settled(items, kind, place)) for kind, items in chosen.items()})
        if not inside and made != Sources(**chosen):
            message = f"the plugin is outside the project; what it names is at {root}, on this machine only"
            origin = Origin(root, "plugin", Span(1))
            log.append(Diagnostic(OUTSIDE, "warning", message, origin, hint=CODES[OUTSIDE].hint))
        found += made
    return found


def _is_of(item: Any, root: str) -> bool:
    return item.origin.scope == "plugin" and beneath(os.path.realpath(item.origin.file), root)


def _of_plugins(items: Iterable[Any], roots: Collection[str]) -> dict[str, list[Any]]:
    """Each item under the innermost plugin that holds it: one with `source: "./"` holds all the others."""
    found: dict[str, list[Any]] = {root: [] for root in roots}
    deepest = sorted(roots, key=len, reverse=True)
    for item in items:
        root = next((root for root in deepest if _is_of(item, root)), None)
        if root is not None:
            found[root].append(item)
    return found


def _settled(items: Iterable[Any], kind: str, place: str) -> Iterator[Any]:
    for item in items:
        if kind == "servers":
            item = replace(_replaced(item, place), name=item.name.removeprefix("plugin:").replace(":", "-"))
        elif kind == "hooks":
            start = "$CLAUDE_PROJECT_DIR" if place == "." else f"$CLAUDE_PROJECT_DIR/{place}"
            item = replace(_replaced(item, place if os.path.isabs(place) else start), plugin=None)
        else:
            item = replace(item, body=_ROOT.sub(lambda _: place, item.body))
        yield item


def _replaced(item: Any, place: str) -> Any:
    fields = ("command", "args", "env", "url", "headers", "cwd", "prompt")
    changed = {name: _text(getattr(item, name), place) for name in fields if hasattr(item, name)}
    return replace(item, **changed)


def _text(value: Any, place: str) -> Any:
    if isinstance(value, str):
        return _ROOT.sub(lambda _: place, value)
    if isinstance(value, tuple):
        return tuple(_text(one, place) for one in value)
    if isinstance(value, dict):
        return {key: _text(one, place) for key, one in value.items()}
    return value

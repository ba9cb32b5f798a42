"""What explains a thing: its value, its place, and all candidates for it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from checkrein.base.errors import NotFoundError
from checkrein.base.nearest import nearest
from checkrein.base.origin import Origin, Scope
from checkrein.base.secrets import REDACTED, redact
from checkrein.dialects.claude import memory_excludes
from checkrein.facts import claude
from checkrein.facts.claude_settings import SETTINGS_KEYS, TOP_LEVEL_KEYS
from checkrein.model.items import AnyItem, Instruction, Item, Plugin, Setting
from checkrein.model.project import Candidate, Effective, Project, Resolved
from checkrein.model.rule import Rule, split_rule
from checkrein.passes.rows import kind_of, summary, visible

ThingKind = Literal["call", "path", "name", "key"]
THING_KINDS: tuple[ThingKind, ...] = ("call", "path", "name", "key")


class Match(Struct, frozen=True):
    """A thing with the given name.

    `lost` says why it is not in effect. `dialect` is set when it comes from another agent's files.
    """

    kind: str
    item: Item | Rule
    lost: str | None = None
    dialect: str | None = None


class Link(Struct, frozen=True):
    """One candidate, highest precedence first; `lost` is None if it is part of the value.

    `key` is set if the explained thing is an object: the key below it that the candidate sets.
    """

    origin: Origin
    scope: Scope
    value: Any
    lost: str | None = None
    key: str | None = None


class Explanation(Struct, frozen=True):
    """`order` is the rule of precedence that decided, `chain` all candidates, `notes` further facts."""

    kind: str
    name: str
    value: Any
    origin: Origin | None
    order: str
    chain: tuple[Link, ...]
    notes: tuple[str, ...] = ()


_ORDERS = {
    "skill": "managed > user > project (nearest first) > added directory > bundled; plugins have own names",
    "command": "a skill of the same name wins; then managed > user > project > added directory",
    "agent": "managed > command line > project (nearest first) > user > plugin",
    "server": "managed alone if present; else command line > local > project > user > plugin",
    "plugin": "command line > project > user",
    "recipe": "project (nearest first, .checkrein before .autoskillit) > bundled",
    "setting": "managed > command line > local > project > user; lists are joined, objects merged",
    "instruction": "managed, user, then each directory from the root down; all are joined, none overrides",
    "rule": "deny > ask > allow; the scope does not matter",
    "hook": "hooks of all scopes run together",
}


def thing_kind(project: Project, thing: str) -> ThingKind:
    """What a word most likely names: a call, a path, a name, a key, in this order. The name of a tool alone
    is a call when it is none of the others."""
    tool, specifier, problem = split_rule(thing)
    if specifier is not None and problem is None and tool.replace("_", "").isalnum():
        return "call"
    if thing.startswith("mcp__"):
        return "call"
    if os.path.exists(os.path.join(project.place.cwd, os.path.expanduser(thing))) or os.sep in thing:
        return "path"
    if any(match.kind not in ("setting", "instruction") for match in _by_name(project, thing)):
        return "name"
    if any(name == thing or name.startswith(f"{thing}.") for name in project.settings):
        return "key"
    if any(_is_under(item, thing) for _, item in _foreign_items(project)):
        return "key"
    if thing.partition(".")[0] in TOP_LEVEL_KEYS:
        return "key"
    if _is_tool(project, thing):
        return "call"
    if thing[:1] != "." and nearest(thing, SETTINGS_KEYS, cutoff=0.85):  # likely a typing error
        return "key"
    return "path" if thing.startswith((".", "~")) or os.path.splitext(thing)[1] else "key"


def _is_tool(project: Project, name: str) -> bool:
    from checkrein.passes.tools import added_tools

    return name in added_tools(project.place.root).registry()


def find(project: Project, name: str, also: Iterable[str] = ()) -> list[Match]:
    """Everything called `name`, in effect or not; raises when there is nothing.

    `also` are other words the user may have meant, besides the names of the project.
    """
    found = list(_by_name(project, name)) or list(_in_file(project, name))
    if not found:
        raise _nothing(project, name, also)
    return found


def explain_name(project: Project, name: str) -> list[Explanation]:
    found: list[Explanation] = []
    for kind, group in _groups(project):
        found += [_resolved(project, kind, resolved) for resolved in _called(group, name)]
    for rule in project.rules:
        if name in (rule.text, rule.tool):
            found.append(_single("rule", rule.text, rule, f"{rule.verdict} {rule.text}", rule.problem))
    for hook in project.hooks:
        if hook.event == name:
            found.append(_single("hook", name, hook, summary(hook), None))
    found += [_inactive(candidate) for candidate in project.inactive if name in _names(candidate.item)]
    found += [_foreign(dialect, item) for dialect, item in _foreign_items(project) if name in _names(item)]
    if not found:
        raise _nothing(project, name)
    return found


def explain_key(project: Project, key: str) -> list[Explanation]:
    effective = project.settings.get(key)
    foreign = [_foreign(dialect, item) for dialect, item in _foreign_items(project) if _is_under(item, key)]
    if effective is None:
        below = [value for name, value in project.settings.items() if name.startswith(key + ".")]
        if not below and foreign:
            return foreign
        if not below and key in SETTINGS_KEYS:
            raise NotFoundError(
                f"{key!r} is a settings key that no file sets; the default holds.", kind="thing_not_found"
            )
        if not below:
            raise _nothing(project, key, SETTINGS_KEYS)
        return [*(_setting(value) for value in below), *foreign]
    return [_setting(effective), *foreign]


def explain_path(project: Project, path: str) -> list[Explanation]:
    """What a file contributes: its instruction, items or settings."""
    file = os.path.normpath(os.path.join(project.place.cwd, os.path.expanduser(path)))
    real = os.path.realpath(file)
    found = [_instruction(project, item) for item in project.instructions if item.origin.file in (file, real)]
    for kind, group in _groups(project):
        for resolved in group.values():
            if any(candidate.item.origin.file in (file, real) for candidate in resolved.candidates):
                found.append(_resolved(project, kind, resolved))
    found += [_inactive(one) for one in project.inactive if one.item.origin.file in (file, real)]
    found += [
        _setting(effective)
        for effective in project.settings.values()
        if any(
            candidate.item.origin.file in (file, real) and candidate.item.name == effective.name
            for candidate in effective.candidates
        )
    ]
    for hook in project.hooks:
        if (
            hook.origin.file in (file, real)
            and hook.origin.field
            and not hook.origin.field.startswith("$.hooks")
        ):
            found.append(_single("hook", hook.event, hook, summary(hook), None))
    found += [
        _foreign(dialect, item)
        for dialect, item in _foreign_items(project)
        if item.origin.file in (file, real)
    ]
    return found or list(_below(project, file))


def _below(project: Project, file: str) -> Iterator[Explanation]:
    """A memory file below the working directory. It does not load at the start, so the project lacks it."""
    cwd = project.place.cwd.rstrip(os.sep) + os.sep
    if os.path.basename(file) not in (claude.MEMORY_FILE, claude.LOCAL_MEMORY_FILE) or not file.startswith(
        cwd
    ):
        return
    if not os.path.isfile(file):
        return
    listed = project.setting("claudeMdExcludes", [])
    patterns = [pattern for pattern in listed if isinstance(pattern, str)] if isinstance(listed, list) else []
    if memory_excludes.matcher(patterns)(file):
        note = "not in effect: `claudeMdExcludes` names it"
    else:
        note = "not loaded at the start; loaded when a file beside or below it is read"
    origin = Origin(file, "project")
    value = f"{os.path.getsize(file)} bytes"
    yield Explanation("instruction", file, value, origin, _ORDERS["instruction"], (), (note,))


def _called(group: dict[str, Resolved[Any]], name: str) -> list[Resolved[Any]]:
    """The items with this name. A plugin's name without the marketplace counts too, and the name of a
    plugin's item without the plugin's."""
    if name in group:
        return [group[name]]
    return [
        resolved
        for full, resolved in group.items()
        if (resolved.item.name if isinstance(resolved.item, Plugin) else full.rpartition(":")[2]) == name
    ]


def _foreign_items(project: Project) -> Iterator[tuple[str, Any]]:
    """(dialect, item) of everything in the files of other agents."""
    for dialect, other in project.others.items():
        for kind in ("instructions", "skills", "commands", "agents", "rules", "hooks", "servers"):
            yield from ((dialect, item) for item in getattr(other.sources, kind))


def _foreign(dialect: str, item: Any) -> Explanation:
    name = item.text if isinstance(item, Rule) else item.name
    value = redact(f"{item.verdict} {item.text}" if isinstance(item, Rule) else summary(item))
    chain = (Link(item.origin, item.origin.scope, value),)
    notes = (f"{dialect} reads it; a session of Checkrein does not",)
    return Explanation(kind_of(item), name, value, item.origin, f"as {dialect} orders it", chain, notes)


def _is_under(item: Any, key: str) -> bool:
    """Whether the item is under a key of its file; `permissions.deny` means deny rules of any file."""
    if isinstance(item, Rule) and key in ("permissions", f"permissions.{item.verdict}"):
        return True
    field = item.origin.field or ""
    return bool(field == f"$.{key}" or field.startswith((f"$.{key}.", f"$.{key}[")))


def _names(item: AnyItem) -> tuple[str, ...]:
    if isinstance(item, Rule):
        return item.text, item.tool
    if isinstance(item, Instruction):
        return item.name, os.path.basename(item.name)
    return (item.name,)


def _inactive(candidate: Candidate[Any]) -> Explanation:
    item = candidate.item
    kind = kind_of(item)
    name = item.text if isinstance(item, Rule) else item.name
    value = redact(summary(item))
    chain = (Link(item.origin, item.origin.scope, value, candidate.lost),)
    notes = (f"not in effect: {candidate.lost}",)
    return Explanation(kind, name, value, item.origin, _ORDERS.get(kind, ""), chain, notes)


def _brings(project: Project, plugin: Plugin) -> Iterator[str]:
    """How many items of each kind a plugin has."""
    inside = plugin.root.rstrip(os.sep) + os.sep
    parts = Counter(
        kind
        for kind in ("skills", "commands", "agents", "hooks", "servers")
        for item in getattr(project.sources, kind)
        if item.plugin == plugin.name and item.origin.file.startswith(inside)
    )
    if not plugin.enabled:
        yield "not enabled: none of its parts are in effect"
    elif parts:
        yield "brings " + ", ".join(f"{n} {kind if n > 1 else kind[:-1]}" for kind, n in parts.items())


def _resolved(project: Project, kind: str, resolved: Resolved[Any]) -> Explanation:
    item = resolved.item
    notes = tuple(_brings(project, item)) if isinstance(item, Plugin) else ()
    chain = tuple(
        Link(c.item.origin, c.item.origin.scope, redact(summary(c.item)), c.lost) for c in resolved.candidates
    )
    return Explanation(kind, resolved.name, redact(summary(item)), item.origin, _ORDERS[kind], chain, notes)


def _setting(effective: Effective) -> Explanation:
    def shown(item: Setting) -> Any:
        return REDACTED if item.sensitive else redact(item.value, item.name)

    chain = tuple(
        Link(
            c.item.origin,
            c.item.origin.scope,
            shown(c.item),
            c.lost,
            c.item.name if c.item.name != effective.name else None,
        )
        for c in effective.candidates
    )
    origin = next((link.origin for link in chain if link.lost is None), None)
    return Explanation("setting", effective.name, visible(effective), origin, _ORDERS["setting"], chain)


def _instruction(project: Project, item: Instruction) -> Explanation:
    notes = list(_importers(project, item))
    if item.paths:
        notes.append(f"loaded when a file matching {', '.join(item.paths)} is read")
    elif item.lazy:
        notes.append("loaded when a file beside or below it is read")
    position = project.instructions.index(item) + 1
    notes.append(f"number {position} of {len(project.instructions)} in loading order")
    chain = (Link(item.origin, item.origin.scope, summary(item)),)
    return Explanation(
        "instruction", item.name, summary(item), item.origin, _ORDERS["instruction"], chain, tuple(notes)
    )


def _importers(project: Project, item: Instruction) -> Iterator[str]:
    """The chain of imports that brought a file in, nearest first."""
    by_file = {one.origin.file: one for one in project.instructions}
    seen: set[str] = set()
    while item.imported_by is not None and item.imported_by not in seen:
        seen.add(item.imported_by)
        parent = by_file.get(item.imported_by)
        if parent is None:
            yield f"imported by {item.imported_by}"
            return
        line = next((one.span.line for one in parent.imports if one.target == item.origin.file), None)
        yield f"imported by {item.imported_by}" + (f":{line}" if line else "")
        item = parent


def _single(kind: str, name: str, item: Item | Rule, value: Any, lost: str | None) -> Explanation:
    chain = (Link(item.origin, item.origin.scope, redact(value), lost),)
    return Explanation(kind, name, redact(value), item.origin, _ORDERS[kind], chain)


def _groups(project: Project) -> Iterator[tuple[str, dict[str, Resolved[Any]]]]:
    for kind in ("skill", "command", "agent", "server", "plugin", "recipe"):
        yield kind, getattr(project, f"{kind}s")
    yield "recipe", project.sub_recipes


def _by_name(project: Project, name: str) -> Iterator[Match]:
    for kind, group in _groups(project):
        for resolved in _called(group, name):
            for candidate in resolved.candidates:
                yield Match(kind, candidate.item, candidate.lost)
    for rule in project.rules:
        if name in (rule.text, rule.tool):
            yield Match("rule", rule, rule.problem)
    for hook in project.hooks:
        if hook.event == name:
            yield Match("hook", hook)
    for item in project.instructions:
        if name in (item.name, os.path.basename(item.name)):
            yield Match("instruction", item)
    for candidate in project.inactive:
        if name in _names(candidate.item):
            yield Match(kind_of(candidate.item), candidate.item, candidate.lost)
    effective = project.settings.get(name)
    for candidate in effective.candidates if effective else ():
        yield Match("setting", candidate.item, candidate.lost)
    for dialect, foreign in _foreign_items(project):
        if name in _names(foreign):
            yield Match(kind_of(foreign), foreign, None, dialect)


def _in_file(project: Project, path: str) -> Iterator[Match]:
    """The skill, command, agent, instruction or plugin of a file."""
    file = os.path.realpath(os.path.join(project.place.cwd, os.path.expanduser(path)))
    for kind, group in _groups(project):
        for resolved in group.values():
            for candidate in resolved.candidates:
                if candidate.item.origin.file == file and kind != "server":
                    yield Match(kind, candidate.item, candidate.lost)
    for item in project.instructions:
        if item.origin.file == file:
            yield Match("instruction", item)
    for dialect, foreign in _foreign_items(project):
        if foreign.origin.file == file and kind_of(foreign) not in ("server", "hook", "rule"):
            yield Match(kind_of(foreign), foreign, None, dialect)


def _nothing(project: Project, name: str, also: Iterable[str] = ()) -> NotFoundError:
    known = [*also, *(key for _, group in _groups(project) for key in group)]
    known += [
        *project.settings,
        *(rule.text for rule in project.rules),
        *(hook.event for hook in project.hooks),
        *(item.name for _, item in _foreign_items(project) if isinstance(item, Item)),
    ]
    close = nearest(name, known)
    if name in known:
        hint = "It is of another kind than --kind says; leave --kind out."
    else:
        hint = f"Did you mean {close!r}?" if close else "`checkrein show` lists what there is."
    return NotFoundError(
        f"There is nothing called {name!r} in this project.", kind="thing_not_found", hint=hint
    )

"""A project as rows: one line for each thing in it, effective or not. `show` prints them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Origin, Scope
from checkrein.base.secrets import REDACTED, redact, redact_command, redact_text, redact_url, redact_words
from checkrein.dialects.claude.settings import dotted, undotted
from checkrein.model.items import Agent, Command, Hook, Instruction, Item, Plugin, Server, Setting, Skill
from checkrein.model.project import Candidate, Effective, Project, Resolved
from checkrein.model.recipe import Recipe
from checkrein.model.rule import Rule

KINDS = ("instruction", "skill", "command", "agent", "rule", "hook", "server", "plugin", "recipe", "setting")
PLURALS = {f"{kind}s": kind for kind in KINDS} | {
    "instructions": "instruction",
    "memory": "instruction",
    "mcp": "server",
    "permissions": "rule",
}

State = Literal["effective", "shadowed", "lazy", "disabled", "offered"]
_IN_EFFECT: tuple[State, ...] = ("effective", "lazy")


class Row(Struct, frozen=True):
    """One thing.

    `state` says whether it is in effect; `note` says why not, or under which condition. What a marketplace
    has for others to install is `offered`. `dialect` is set for the content of another agent's files: that
    agent uses it, a session of ours does not.
    """

    kind: str
    name: str
    summary: str
    scope: Scope
    origin: Origin
    state: State = "effective"
    note: str | None = None
    dialect: str | None = None


def rows(project: Project, kinds: Iterable[str] = KINDS) -> list[Row]:
    """By kind, the things in effect with what they shadow, then switched-off ones; then other dialects."""
    chosen = tuple(kinds)
    elsewhere = {item.origin.file for other in project.others.values() for item in other.instructions}
    off = [_off(one) for one in project.inactive if not _is_of_another(one.item, elsewhere)]
    offered = _offered(project)
    found = [
        row
        for kind in chosen
        for row in (*_BY_KIND[kind](project), *(one for one in off if one.kind == kind))
    ]
    for name, other in project.others.items():
        found += [replace(row, dialect=name) for kind in chosen for row in _BY_KIND[kind](other)]
    return [replace(row, state="offered") if _is_below(row, offered) else row for row in found]


def _offered(project: Project) -> tuple[str, ...]:
    """The roots of the plugins that this project, a marketplace, has for others."""
    names = {one.name for one in project.sources.marketplaces}
    plugins = project.sources.plugins if names else ()
    return tuple(
        plugin.root.rstrip("/") + "/"
        for plugin in plugins
        if plugin.marketplace in names and not plugin.enabled and plugin.switch is None
    )


def _is_below(row: Row, roots: tuple[str, ...]) -> bool:
    return row.state == "disabled" and row.scope == "plugin" and f"{row.origin.file}/".startswith(roots)


def _is_of_another(item: object, files: Collection[str]) -> bool:
    return isinstance(item, Instruction) and item.kind == "agents_md" and item.origin.file in files


def counts(project: Project) -> dict[str, int]:
    """How many of each kind are in effect."""
    return {kind: sum(row.state in _IN_EFFECT for row in _BY_KIND[kind](project)) for kind in KINDS}


def kind_of(item: object) -> str:
    return type(item).__name__.lower()


def _off(candidate: Candidate[Any]) -> Row:
    item = candidate.item
    name = item.text if isinstance(item, Rule) else _hook_name(item) if isinstance(item, Hook) else item.name
    return Row(kind_of(item), name, summary(item), item.origin.scope, item.origin, "disabled", candidate.lost)


def _instructions(project: Project) -> Iterator[Row]:
    for item in project.instructions:
        note = None
        if item.imported_by:
            note = f"imported by {item.imported_by}"
        elif item.paths:
            note = f"when a file matching {', '.join(item.paths)} is read"
        elif item.lazy:
            note = "when a file beside or below it is read"
        state: State = "lazy" if item.lazy else "effective"
        summary = f"{item.size or len(item.text.encode())} bytes"
        yield Row("instruction", item.name, summary, item.origin.scope, item.origin, state, note)


def _named(kind: str, group: dict[str, Resolved[Any]]) -> Iterator[Row]:
    for resolved in group.values():
        for candidate in resolved.candidates:
            yield _candidate(kind, resolved.name, candidate)


def _candidate(kind: str, name: str, candidate: Candidate[Any]) -> Row:
    item = candidate.item
    state: State = "shadowed" if candidate.lost else "effective"
    if state == "effective" and isinstance(item, Plugin) and not item.enabled:
        state = "disabled"
    return Row(kind, name, summary(item), item.origin.scope, item.origin, state, candidate.lost)


def _rules(project: Project) -> Iterator[Row]:
    for verdict in ("deny", "ask", "allow"):
        for rule in project.rules:
            if rule.verdict == verdict:
                state: State = "disabled" if rule.problem else "effective"
                yield Row("rule", rule.text, verdict, rule.origin.scope, rule.origin, state, rule.problem)


def _hooks(project: Project) -> Iterator[Row]:
    for hook in project.hooks:
        yield Row("hook", _hook_name(hook), summary(hook), hook.origin.scope, hook.origin)


def _hook_name(hook: Hook) -> str:
    return f"{hook.event} on {hook.matcher}" if hook.matcher else hook.event


def _settings(project: Project) -> Iterator[Row]:
    """The leaves; an object's own row would only repeat them."""
    parents = {name.rpartition(".")[0] for name in project.settings}
    for effective in project.settings.values():
        if effective.name in parents:
            continue
        for candidate in effective.candidates[:1] or ():
            origin = candidate.item.origin
            yield Row("setting", effective.name, _shown_value(effective), origin.scope, origin)


_BY_KIND = {
    "instruction": _instructions,
    "skill": lambda project: _named("skill", project.skills),
    "command": lambda project: _named("command", project.commands),
    "agent": lambda project: _named("agent", project.agents),
    "server": lambda project: _named("server", project.servers),
    "plugin": lambda project: _named("plugin", project.plugins),
    "recipe": lambda project: _named("recipe", {**project.sub_recipes, **project.recipes}),
    "rule": _rules,
    "hook": _hooks,
    "setting": _settings,
}


def summary(item: object) -> str:
    """One line about an item; never a secret."""
    match item:
        case Skill() | Command():
            return _first_line(item.description) or _first_line(item.body) or "no description"
        case Agent():
            return _first_line(item.description) or "no description"
        case Server():
            line = " ".join((redact_command(item.command or ""), *redact_words(item.args))).strip()
            return line or redact_url(item.url or "") or item.problem or ""
        case Hook():
            line = " ".join((redact_command(item.command or ""), *redact_words(item.args or ()))).strip()
            return line or redact_text(item.url or item.prompt or f"{item.server}/{item.tool}")
        case Plugin():
            return " ".join(filter(None, (item.version, _first_line(item.description))))
        case Recipe():
            return _first_line(item.description or item.summary) or "no description"
        case Instruction():
            return f"{len(item.text.encode())} bytes"
        case Rule():
            return item.verdict
        case Setting():
            return REDACTED if item.sensitive else msgspec.json.encode(item.value, enc_hook=str).decode()
    return ""


def _shown_value(effective: Effective) -> str:
    value = visible(effective)
    return value if value == REDACTED else msgspec.json.encode(value, enc_hook=str).decode()


def visible(effective: Effective) -> Any:
    """The value with secrets redacted; the names in an object stay."""
    sensitive = {candidate.item.name for candidate in effective.candidates if candidate.item.sensitive}
    return _masked(redact(effective.value, effective.name), undotted(effective.name), sensitive)


def _masked(value: Any, path: tuple[str, ...], sensitive: set[str]) -> Any:
    if dotted(path) in sensitive:
        return REDACTED
    if isinstance(value, dict):
        return {key: _masked(item, (*path, key), sensitive) for key, item in value.items()}
    return value


def full(item: Item | Rule) -> dict[str, Any]:
    """Everything an item holds, with the places of fields: secrets are redacted, empty fields left out."""
    value: dict[str, Any] = msgspec.to_builtins(item, enc_hook=str)
    value = {k: part for k, part in value.items() if k != "item" and part not in (None, "", [], {}, ())}
    if isinstance(item, Setting) and item.sensitive:
        value["value"] = REDACTED
    if isinstance(item, Server):
        for field in ("env", "headers"):
            value.update(
                {field: dict.fromkeys(getattr(item, field), REDACTED)} if getattr(item, field) else {}
            )
    redacted: dict[str, Any] = redact(value)
    return redacted


def _first_line(text: str | None) -> str:
    stripped = (text or "").strip().lstrip("# ")
    return " ".join(stripped.split("\n\n")[0].split()) if stripped else ""

"""The writer that a row of facts drives. A dialect adds what a row can't express."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, structs

from checkrein.base.diagnostic import Diagnostic
from checkrein.dialects.generic import emit
from checkrein.dialects.generic.hook_entries import (
    claude_groups,
    group_hooks,
    known_fields,
    safe_hook,
    write_hook,
)
from checkrein.dialects.generic.invocables import write_invocable
from checkrein.dialects.generic.memory_texts import write_instructions
from checkrein.dialects.generic.rules import write_rules
from checkrein.dialects.generic.server_entries import SERVER_KEYS, clean, goose_extensions, server_entry
from checkrein.dialects.generic.subagents import write_agent
from checkrein.dialects.generic.vocabulary import findings
from checkrein.dialects.generic.written import (
    File,
    Ledger,
    Options,
    Outcome,
    Variables,
    Written,
    content_fields,
    finish,
)
from checkrein.facts.agents import DocumentForm, Target, find_target
from checkrein.model.items import Hook, Item, Server, Setting
from checkrein.model.project import Sources
from checkrein.model.rule import Rule

Documents = dict[str, dict[str, Any]]


class Draft(Struct):
    """The output so far. `documents` are JSON or TOML files that several kinds of items share."""

    files: list[File]
    documents: Documents
    outcomes: list[Outcome]
    notes: list[Diagnostic]
    variables: Variables

    def ledger(self, target: Target, kind: str, item: Item | Rule) -> Ledger:
        """The account of an item. Rules are counted by verdict: `rule.deny`."""
        kind = f"{kind}.{item.verdict}" if isinstance(item, Rule) else kind
        return Ledger(target, kind, item, variables=self.variables)

    def close(self, ledger: Ledger) -> None:
        self.outcomes.extend(ledger.close())


SettingsWriter = Callable[[tuple[Setting, ...], Target, Draft], None]


def write_for(
    key: str, sources: Sources, options: Options, settings: SettingsWriter | None = None
) -> Written:
    """Write `sources` for the agent with this key. `settings` writes settings if the agent takes them."""
    target = find_target(key)
    assert target is not None
    draft = Draft([], {}, [], [], Variables())
    if target.home and not options.home:
        return _lose_all(sources, target)
    sources = _without_native(sources, target, options, draft)
    if target.key == "goose":
        options = structs.replace(
            options, extensions=goose_extensions(sources.servers, target, draft.variables)
        )
    files, outcomes = write_instructions(sources.instructions, target, options)
    draft.files += files
    draft.outcomes += outcomes
    for kind, items in (("skill", sources.skills), ("command", sources.commands)):
        for item in items:
            ledger = draft.ledger(target, kind, item)
            draft.notes += findings(item)
            draft.files += write_invocable(item, target, options, ledger)
            draft.close(ledger)
    for agent in sources.agents:
        ledger = draft.ledger(target, "agent", agent)
        draft.notes += findings(agent)
        draft.files += write_agent(agent, target, options, ledger)
        draft.close(ledger)
    _servers(sources.servers, target, options, draft)
    _hooks(sources.hooks, target, draft)
    _rules(sources.rules, target, options, draft)
    (settings or _lose_settings)(sources.settings, target, draft)
    for kind, others in _OTHERS.items():
        for other in getattr(sources, others):
            _lose(other, kind, target, draft)
    for path, document in draft.documents.items():
        text = emit.toml_text(document) if path.endswith(".toml") else emit.json_text(document)
        draft.files.append(File(path, emit.encode(text), shared=target.dialect != "claude"))
    return finish(draft.files, draft.outcomes, draft.notes)


_KINDS = {
    "skills": "skill",
    "commands": "command",
    "agents": "agent",
    "servers": "server",
    "instructions": "instruction",
    "hooks": "hook",
    "rules": "rule",
    "settings": "setting",
}
_OTHERS = {"plugin": "plugins", "marketplace": "marketplaces", "recipe": "recipes"}


def _without_native(sources: Sources, target: Target, options: Options, draft: Draft) -> Sources:
    """Leave out items that the agent reads in their place, unless they have `behavior` or `agents`."""
    if not target.reads or not options.root:
        return sources
    left: dict[str, tuple[Item | Rule, ...]] = {}
    for name, kind in _KINDS.items():
        rest: list[Item | Rule] = []
        for item in getattr(sources, name):
            if isinstance(item, Setting) and _is_elsewhere(item.name):
                rest.append(item)
            elif _is_native(item, target, options):
                ledger = draft.ledger(target, kind, item)
                ledger.kept(*content_fields(item))
                draft.close(ledger)
            else:
                rest.append(item)
        left[name] = tuple(rest)
    return structs.replace(sources, **left)


def _is_native(item: Item | Rule, target: Target, options: Options) -> bool:
    if getattr(item, "behavior", None) or getattr(item, "agents", None):
        return False
    return _lies_in(item, target.reads, options)


def _lies_in(item: Item | Rule, places: tuple[str, ...], options: Options) -> bool:
    """Whether the item's file is one of these files of the project, or below one of these folders."""
    path = item.origin.file.replace("\\", "/")
    root = options.root.rstrip("/") + "/"
    short = path.removeprefix(root)
    inside = bool(options.root) and path.startswith(root)
    return inside and any(short == place or short.startswith(f"{place}/") for place in places)


def _lose_all(sources: Sources, target: Target) -> Written:
    draft = Draft([], {}, [], [], Variables())
    names = {**_KINDS, **{name: kind for kind, name in _OTHERS.items()}}
    for name, kind in names.items():
        for item in getattr(sources, name):
            ledger = draft.ledger(target, kind, item)
            ledger.item_lost(
                f"{target.label} reads only from the home directory, where deploy does not write"
            )
            draft.close(ledger)
    return finish((), draft.outcomes)


def _lose(item: Item, kind: str, target: Target, draft: Draft) -> None:
    ledger = draft.ledger(target, kind, item)
    ledger.item_lost(f"deploy does not copy the {kind} `{item.name}` to {target.label}", "info")
    draft.close(ledger)


def _servers(servers: tuple[Server, ...], target: Target, options: Options, draft: Draft) -> None:
    form = target.servers
    native = {
        server.name for server in servers if form is not None and _lies_in(server, form.native, options)
    }
    for server in servers:
        ledger = draft.ledger(target, "server", server)
        if form is None and target.key == "goose" and options.extensions:
            clean(server, ledger)
            ledger.kept(*content_fields(server))
        elif form is None:
            ledger.item_lost(
                f"{target.label} has no project file for MCP servers; {ledger.subject} is not written"
            )
        elif server.problem:
            ledger.item_lost(f"{ledger.subject} can't be used: {server.problem}")
        else:
            if server.name not in native:
                _server_file(server, target, form, ledger, draft)
                if native:
                    said = f"{ledger.subject} went to {form.file}, which is not read beside {form.native[0]}"
                    ledger.approximated("", f"{said}; add it there")
            for more in target.more_servers:
                _server_file(server, target, more, ledger, draft)
            if server.name in native:
                ledger.kept(*content_fields(server))
        draft.close(ledger)


def _server_file(server: Server, target: Target, form: DocumentForm, ledger: Ledger, draft: Draft) -> None:
    key = SERVER_KEYS.get(form.shape, "mcpServers")
    held = draft.documents.setdefault(form.file, {}).setdefault(key, {})
    held[server.name] = server_entry(server, target, form, ledger)


def _hooks(hooks: tuple[Hook, ...], target: Target, draft: Draft) -> None:
    if target.dialect == "claude":
        safe = []
        for hook in hooks:
            ledger = draft.ledger(target, "hook", hook)
            safe.append(safe_hook(hook, ledger))
            ledger.kept(*known_fields(hook))
            draft.close(ledger)
        if safe and target.hooks is not None:
            draft.documents.setdefault(target.hooks.file, {})["hooks"] = claude_groups(safe)
        return
    written = []
    for hook in hooks:
        ledger = draft.ledger(target, "hook", hook)
        found = write_hook(hook, target, ledger)
        draft.close(ledger)
        if found is not None:
            written.append(found)
    form = target.hooks
    if written and form is not None:
        draft.documents.setdefault(form.file, {}).update(_HOOK_SHAPES[form.shape](written))


def _grouped(written: list[tuple[str, dict[str, Any], str | None]]) -> dict[str, Any]:
    return {"hooks": group_hooks(written)}


def _flat(written: list[tuple[str, dict[str, Any], str | None]], command: str) -> dict[str, Any]:
    """`version: 1` and, for each event, handlers without groups."""
    events: dict[str, list[dict[str, Any]]] = {}
    for event, handler, matcher in written:
        entry = {command if key == "command" else key: value for key, value in handler.items()}
        if command == "command":
            entry.pop("type")
        if matcher is not None:
            entry["matcher"] = matcher
        events.setdefault(event, []).append(entry)
    return {"version": 1, "hooks": events}


_HOOK_SHAPES: dict[str, Callable[[list[tuple[str, dict[str, Any], str | None]]], dict[str, Any]]] = {
    "codex": _grouped,
    "gemini": _grouped,
    "qwen": _grouped,
    "copilot": lambda written: _flat(written, "bash"),
    "cursor": lambda written: _flat(written, "command"),
}


def _rules(rules: tuple[Rule, ...], target: Target, options: Options, draft: Draft) -> None:
    pairs = [(rule, draft.ledger(target, "rule", rule)) for rule in rules]
    draft.files += write_rules(pairs, target, draft.documents, options.root)
    for _, ledger in pairs:
        draft.close(ledger)


def _lose_settings(settings: tuple[Setting, ...], target: Target, draft: Draft) -> None:
    for setting in settings:
        if _is_elsewhere(setting.name):
            continue
        _lose(setting, "setting", target, draft)


def _is_elsewhere(name: str) -> bool:
    """Whether items of their own stand for a setting: hooks, servers, rules."""
    rules = ("permissions.allow", "permissions.ask", "permissions.deny")
    return name.split(".")[0] in ("hooks", "mcpServers") or name in rules

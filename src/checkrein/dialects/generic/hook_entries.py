"""Hooks in each agent's shape. A command sees that agent's input, so elsewhere a hook is an approximation."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import structs

from checkrein.dialects.generic.references import PROJECT_DIR, safe_text, safe_tree, safe_value
from checkrein.dialects.generic.tools import convert_tool
from checkrein.dialects.generic.written import WHOLE, Ledger, content_fields
from checkrein.facts.agents import Target
from checkrein.facts.claude_hooks import HANDLER_KEYS
from checkrein.model.items import Hook

_EXACT = re.compile(r"[\w|, -]+")
_VARIABLE = re.compile(r"""[${%:'"](CLAUDE_[A-Z_]+)""")

_FIELDS = frozenset(HANDLER_KEYS.values()) | {"matcher"}


def known_fields(hook: Hook) -> tuple[str, ...]:
    """The fields of a hook that Claude Code has a key for."""
    return tuple(name for name in content_fields(hook) if name in _FIELDS or name.startswith("unknown."))


def claude_groups(hooks: Iterable[Hook]) -> dict[str, list[dict[str, Any]]]:
    """Hooks as Claude Code writes them: event, then groups of one matcher, then handlers."""
    events: dict[str, list[dict[str, Any]]] = {}
    for hook in hooks:
        groups = events.setdefault(hook.event, [])
        if not groups or groups[-1].get("matcher") != hook.matcher:
            groups.append(
                {"matcher": hook.matcher, "hooks": []} if hook.matcher is not None else {"hooks": []}
            )
        groups[-1]["hooks"].append(_claude_handler(hook))
    return events


def _claude_handler(hook: Hook) -> dict[str, Any]:
    handler: dict[str, Any] = {}
    for key, field in HANDLER_KEYS.items():
        value = getattr(hook, field)
        if value is None or value is False or value == {} or (value == () and field != "args"):
            continue
        if isinstance(value, tuple):
            value = list(value)
        handler[key] = _number(value) if isinstance(value, float) else value
    return {**handler, **hook.unknown}


def safe_hook(hook: Hook, ledger: Ledger) -> Hook:
    """The hook without anything that looks like a secret."""

    def clean(field: str, value: str | None) -> str | None:
        return None if value is None else safe_text(field, value, ledger)

    return structs.replace(
        hook,
        command=clean("command", hook.command),
        url=clean("url", hook.url),
        args=None if hook.args is None else tuple(safe_text("args", one, ledger) for one in hook.args),
        prompt=clean("prompt", hook.prompt),
        headers={name: safe_value("headers", name, value, ledger) for name, value in hook.headers.items()},
        input=safe_tree("input", "", hook.input, ledger),
        unknown=safe_tree("unknown", "", hook.unknown, ledger),
    )


def write_hook(hook: Hook, target: Target, ledger: Ledger) -> tuple[str, dict[str, Any], str | None] | None:
    """(event, handler, matcher) for agents other than Claude Code; None when the hook is lost."""
    form = target.hooks
    hook = safe_hook(hook, ledger)
    if form is None:
        ledger.item_lost(f"{target.label} has no hooks (event {hook.event})")
        return None
    event = form.events.get(hook.event)
    if event is None:
        ledger.item_lost(f"{target.label} has no event like `{hook.event}`")
        return None
    if hook.type not in form.types or not hook.command:
        ledger.item_lost(f"{target.label} has no hooks of type `{hook.type}`")
        return None
    matcher = _matcher(hook, target, ledger)
    if WHOLE in ledger.outcomes:
        return None
    if hook.args is not None:
        command = " ".join(_quoted(word) for word in (hook.command, *hook.args))
        ledger.approximated("args", "the hook's arguments became quoted words of its command")
    else:
        command = hook.command
    if form.project_dir:
        command = PROJECT_DIR.sub(lambda _: form.project_dir, command)
    _unset(hook, command, target, ledger)
    ledger.kept("command")
    handler: dict[str, Any] = {"type": "command", "command": command}
    if hook.timeout is not None:
        handler[form.timeout] = _number(hook.timeout * (1000 if form.timeout_unit == "ms" else 1))
        ledger.kept("timeout")
    if hook.plugin:
        ledger.approximated("command", f"the hook of plugin `{hook.plugin}` names files by the plugin's root")
    ledger.approximated("", f"the command of the {hook.event} hook gets {target.label}'s own input")
    return event, handler, matcher


def _quoted(word: str) -> str:
    """One word of a shell command; the project's directory in it stays a variable."""
    import shlex

    if not PROJECT_DIR.search(word):
        return shlex.quote(word)
    parts = [re.sub(r'([$`"\\])', r"\\\1", part) for part in PROJECT_DIR.split(word)]
    return '"' + "$CLAUDE_PROJECT_DIR".join(parts) + '"'


def _unset(hook: Hook, command: str, target: Target, ledger: Ledger) -> None:
    """Say which of Claude Code's variables a command names that nothing sets there."""
    named = set(_VARIABLE.findall(command))
    if target.hooks is not None and not target.hooks.project_dir:
        named.discard("CLAUDE_PROJECT_DIR")
    if named:
        shown = ", ".join(f"${name}" for name in sorted(named))
        ledger.approximated(
            "command", f"the {hook.event} hook names {shown}, which {target.label} does not set"
        )


def _matcher(hook: Hook, target: Target, ledger: Ledger) -> str | None:
    """The matcher with the agent's tool names; None (and the hook is lost) when there is no such form."""
    matcher = hook.matcher
    if matcher in (None, "", "*"):
        if matcher is not None:
            ledger.kept("matcher")
        return None
    assert matcher is not None
    if target.hooks is not None and not target.hooks.matcher:
        ledger.approximated(
            "matcher", f"the {hook.event} hook runs for every tool there, not only `{matcher}`"
        )
        return None
    if not hook.event.endswith("ToolUse") or target.dialect == "codex":
        ledger.kept("matcher")
        return matcher
    if not _EXACT.fullmatch(matcher):
        ledger.item_lost(
            f"the matcher `{matcher}` of the {hook.event} hook has no form with {target.label}'s tool names"
        )
        return None
    parts = [part for part in re.split(r"[|, ]+", matcher) if part]
    names = [convert_tool(part, target) for part in parts]
    known = list(dict.fromkeys(name for name in names if name is not None))
    if len(known) < len(set(parts)):
        missing = ", ".join(part for part, name in zip(parts, names, strict=True) if name is None)
        if not known:
            ledger.item_lost(
                f"{target.label} has no tool like `{missing}`, which the {hook.event} hook watches"
            )
            return None
        if missing:
            ledger.approximated("matcher", f"the {hook.event} hook does not see `{missing}` there")
    ledger.approximated("matcher", f"the {hook.event} hook watches {', '.join(known)} there")
    return "|".join(known)


def _number(value: float) -> float | int:
    return int(value) if value == int(value) else value


def group_hooks(written: Iterable[tuple[str, dict[str, Any], str | None]]) -> dict[str, list[dict[str, Any]]]:
    """Event, groups of one matcher, handlers: the shape of Codex, Gemini CLI and Qwen Code."""
    events: dict[str, list[dict[str, Any]]] = {}
    for event, handler, matcher in written:
        groups = events.setdefault(event, [])
        if not groups or groups[-1].get("matcher") != matcher:
            groups.append({"matcher": matcher, "hooks": []} if matcher is not None else {"hooks": []})
        groups[-1]["hooks"].append(handler)
    return events

"""Source items -> Claude Code's files, settings included."""

from __future__ import annotations

from typing import Any

from checkrein.dialects.claude.settings import undotted
from checkrein.dialects.generic.references import safe_tree
from checkrein.dialects.generic.write import Draft, write_for
from checkrein.dialects.generic.written import Options, Written
from checkrein.facts.agents import Target
from checkrein.model.items import Setting
from checkrein.model.project import Sources

SETTINGS = ".claude/settings.json"
_ELSEWHERE = ("hooks", "mcpServers")
_RULES = (("permissions", "allow"), ("permissions", "ask"), ("permissions", "deny"))


def write(sources: Sources, options: Options) -> Written:
    """Commands and skills become skills; hooks, rules and settings share settings.json."""
    return write_for("claude", sources, options, settings=_write_settings)


def _write_settings(settings: tuple[Setting, ...], target: Target, draft: Draft) -> None:
    """One settings file out of its leaves. Hooks and permission rules are written from their own items."""
    for setting in settings:
        keys = undotted(setting.name)
        if not keys or keys[0] in _ELSEWHERE or keys[:2] in _RULES:
            continue
        ledger = draft.ledger(target, "setting", setting)
        value = safe_tree("value", keys[-1], setting.value, ledger)
        _put(draft.documents.setdefault(SETTINGS, {}), keys, value, setting.element)
        ledger.kept("value")
        draft.close(ledger)


def _put(holder: dict[str, Any], keys: tuple[str, ...], value: Any, element: bool) -> None:
    for key in keys[:-1]:
        inner = holder.setdefault(key, {})
        if not isinstance(inner, dict):
            return
        holder = inner
    if element:
        held = holder.setdefault(keys[-1], [])
        if isinstance(held, list):
            held.append(value)
    else:
        holder.setdefault(keys[-1], value)

"""Which hooks an event selects after their matchers: `if` conditions, copies of one handler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from checkrein.facts.claude_hooks import HOOK_EVENTS
from checkrein.model.items import Hook

RuleMatches = Callable[[str, str, dict[str, Any]], bool]
"""(rule text, tool, input): whether a permission rule names this call. An exception counts as yes."""


def condition_holds(
    hook: Hook, event: str, payload: dict[str, Any], rule_matches: RuleMatches | None
) -> bool:
    """Whether `if` lets the hook run. It may only skip hooks that certainly don't concern the call."""
    if not hook.condition:
        return True
    if not HOOK_EVENTS[event].tool_event:
        return False
    if rule_matches is None:
        return True
    try:
        return rule_matches(
            hook.condition, str(payload.get("tool_name", "")), payload.get("tool_input") or {}
        )
    except Exception:  # a guard that can't be judged must run
        return True


def without_copies(hooks: Iterable[Hook]) -> list[Hook]:
    """One handler in several settings files runs once; the handlers of plugins and skills all stay."""
    seen: set[str] = set()
    kept = []
    for hook in hooks:
        key = _identity(hook)
        if key not in seen:
            seen.add(key)
            kept.append(hook)
    return kept


_NOT_IDENTITY = frozenset({"name", "origin", "spans", "unknown", "matcher", "status_message"})


def _identity(hook: Hook) -> str:
    handler = [getattr(hook, field) for field in hook.__struct_fields__ if field not in _NOT_IDENTITY]
    own = hook.origin if is_component(hook) else None
    return repr((handler, own))


def is_component(hook: Hook) -> bool:
    """True for hooks of plugins, skills and agents, as opposed to those of settings files."""
    return hook.plugin is not None or hook.origin.scope == "plugin" or in_frontmatter(hook)


def in_frontmatter(hook: Hook) -> bool:
    return (hook.origin.field or "").startswith("frontmatter")

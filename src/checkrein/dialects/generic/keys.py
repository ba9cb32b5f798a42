"""The spelling of the model's fields in frontmatter, and the order in which frontmatter is written."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NOT_CONTENT = frozenset(
    {"spans", "unknown", "body_line", "has_frontmatter", "plugin", "directory", "problem", "size", "lazy"}
    | {"imported_by", "root", "format", "enabled", "sensitive", "element", "kind", "injected"}
)
"""Fields about the place of an item, or computed facts about it, not about its content."""

_WRITTEN = {
    "model_invocable": "disable-model-invocation",
    "user_invocable": "user-invocable",
    "argument_hint": "argument-hint",
    "allowed_tools": "allowed-tools",
    "display_name": "name",
    "timeout_ms": "timeout",
    "headers_helper": "headersHelper",
    "always_load": "alwaysLoad",
}
_WITH_UNDERSCORE = ("when_to_use", "activate_deps")
_AGENT_WRITTEN = {
    "permission_mode": "permissionMode",
    "max_turns": "maxTurns",
    "server_names": "mcpServers",
    "servers": "mcpServers",
    "initial_prompt": "initialPrompt",
}

_ORDER = [
    "name",
    "description",
    "compatibility",
    "metadata",
    "license",
    "when_to_use",
    "argument-hint",
    "arguments",
    "mode",
    "context",
    "agent",
    "background",
    "model",
    "effort",
    "allowed-tools",
    "tools",
    "disallowed-tools",
    "disallowedTools",
    "disable-model-invocation",
    "user-invocable",
    "color",
    "paths",
    "shell",
]
_RANK = {key: rank for rank, key in enumerate(_ORDER)}


def written_key(field: str) -> str:
    """The frontmatter key of a model field: `allowed_tools` is written `allowed-tools`."""
    if field.startswith("unknown."):
        return field.removeprefix("unknown.")
    return (
        _WRITTEN.get(field)
        or _AGENT_WRITTEN.get(field)
        or (field if field in _WITH_UNDERSCORE else field.replace("_", "-"))
    )


def ordered(values: Mapping[str, Any]) -> dict[str, Any]:
    """Known keys in their fixed order, then the others in the given order."""
    known = sorted((key for key in values if key in _RANK), key=_RANK.__getitem__)
    return {key: values[key] for key in (*known, *(key for key in values if key not in _RANK))}

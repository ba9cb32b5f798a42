"""The fields of skills and commands as frontmatter, for the fields an agent takes."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from checkrein.dialects.generic.written import Ledger
from checkrein.facts.agents import Target
from checkrein.facts.claude import MODEL_ALIASES
from checkrein.model.items import Invocable
from checkrein.model.rule import split_rule_list

STANDARD = ("description", "license", "compatibility", "metadata", "allowed_tools")
"""The fields besides the name that every client of the Agent Skills standard takes."""

_PLAIN = (
    ("description", "description"),
    ("when_to_use", "when_to_use"),
    ("argument_hint", "argument-hint"),
    ("effort", "effort"),
    ("context", "context"),
    ("agent", "agent"),
    ("background", "background"),
    ("shell", "shell"),
    ("license", "license"),
    ("compatibility", "compatibility"),
)
_LISTS = (
    ("arguments", "arguments"),
    ("paths", "paths"),
    ("categories", "categories"),
    ("activate_deps", "activate_deps"),
)
_TOOLS = (("allowed_tools", "allowed-tools"), ("disallowed_tools", "disallowed-tools"))


def explicit_fields(
    item: Invocable, target: Target, taken: Collection[str], ledger: Ledger, limit: int | None = None
) -> dict[str, Any]:
    """The item's own values for the fields in `taken` (`*`: all). The ledger lists the others."""
    every = "*" in taken
    values: dict[str, Any] = {}
    for field, key in _PLAIN:
        value = getattr(item, field)
        if value is not None and (every or field in taken):
            values[key] = value
            ledger.kept(field)
    for field, key in _LISTS:
        value = getattr(item, field)
        if value and (every or field in taken):
            values[key] = list(value)
            ledger.kept(field)
    for field, key in _TOOLS:
        value = getattr(item, field)
        if value and (every or field in taken):
            values[key] = tool_text(value) if every else " ".join(value)
            ledger.kept(field)
    if not item.model_invocable and (every or "model_invocable" in taken):
        values["disable-model-invocation"] = True
        ledger.kept("model_invocable")
    if not item.user_invocable and (every or "user_invocable" in taken):
        values["user-invocable"] = False
        ledger.kept("user_invocable")
    if item.metadata and (every or "metadata" in taken):
        values["metadata"] = item.metadata if every else _flat(item.metadata)
        if values["metadata"] == item.metadata:
            ledger.kept("metadata")
        else:
            ledger.approximated("metadata", f"`metadata` of {ledger.subject} maps text to text there")
    if item.model is not None and (every or "model" in taken):
        model = model_name(item.model, target)
        if model is not None:
            values["model"] = model
            account_model(item.model, model, target, ledger)
    if every:
        values |= item.unknown
        ledger.kept(*(f"unknown.{key}" for key in item.unknown))
    if item.when_to_use and "when_to_use" not in values and "description" in taken:
        values["description"] = f"{item.description or ''} {item.when_to_use}".strip()
        ledger.approximated("when_to_use", f"`when_to_use` of {ledger.subject} was added to the description")
    if limit and len(values.get("description", "")) > limit:
        values["description"] = values["description"][: limit - 1].rstrip() + "…"
        ledger.outcomes.pop("description", None)
        ledger.approximated(
            "description", f"the description of {ledger.subject} was cut to {limit} characters"
        )
    return values


def own_tools(item: Invocable) -> tuple[str, ...] | None:
    """What the file itself says an agent made of it may use: `tools`, `allowed-tools`, or what both allow."""
    said = item.unknown.get("tools")
    listed: tuple[str, ...] | None = None
    if isinstance(said, str):
        listed = tuple(split_rule_list(said))
    elif isinstance(said, list):
        listed = tuple(str(tool) for tool in said)
    if listed is None or "*" in listed:
        return item.allowed_tools or listed
    if item.allowed_tools:
        return tuple(tool for tool in listed if tool in item.allowed_tools)
    return listed


def tool_text(tools: Collection[str]) -> str | list[str]:
    """Tools joined by one blank; a list if a name itself holds a blank, as in `Bash(git log:*)`."""
    return list(tools) if any(" " in tool or "," in tool for tool in tools) else " ".join(tools)


def model_name(model: str, target: Target) -> str | None:
    """The agent's name for the model; None if it has none."""
    row = target.models.get(model)
    if row is None and (target.dialect == "claude" or model.startswith("claude-")):
        row = target.models.get("*")
    elif row is None and model not in MODEL_ALIASES:
        row = target.models.get("?")
    return None if row is None else row.format(value=model)


def read_model(name: str, target: Target) -> str | None:
    """The inverse of `model_name`: our name for a model of `target`; None if we have none."""
    prefix = target.models.get("*", "").partition("{")[0]
    if prefix and name.startswith(f"{prefix}claude-"):
        return name.removeprefix(prefix)
    return next((ours for ours, theirs in target.models.items() if theirs == name), None)


def account_model(model: str, name: str, target: Target, ledger: Ledger) -> None:
    if target.dialect == "claude" or read_model(name, target) == model:
        ledger.kept("model")
    elif name == model:
        ledger.approximated("model", f"`model: {model}` of {ledger.subject} is passed on as it is")
    else:
        ledger.approximated("model", f"`model: {model}` of {ledger.subject} is `{name}` there")


def _flat(metadata: dict[str, Any]) -> dict[str, str]:
    """The standard's metadata maps text to text."""
    import json

    return {
        str(key): value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        for key, value in metadata.items()
    }

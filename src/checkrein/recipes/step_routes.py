"""Where a step leads, and what it leaves in the context: pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from checkrein.model.expression import Failure
from checkrein.model.expression_value import Scope, holds, render, truthy
from checkrein.model.recipe_plan import PlanStep
from checkrein.recipes.journal import Entry

Route = str | Failure


def target(step: PlanStep, entry: Entry, scope: Scope) -> Route:
    """The next step. The levels of failure differ: a call that failed never looks at `on_result`."""
    match entry.state:
        case "skipped":
            return step.skipped_to
        case "context_limit":
            return step.on_context_limit
        case "again" | "later":
            return step.on_exhausted
        case "failure":
            return step.on_failure
    if step.on_success is not None and not step.on_result:
        return step.on_success
    for arm in step.on_result:
        met = True if arm.when is None else holds(arm.when, scope)
        if isinstance(met, Failure):
            return met
        if met:
            return arm.route
    return step.on_success or step.on_failure


def is_skipped(step: PlanStep, scope: Scope) -> bool:
    """A condition without a value skips, as a false one does."""
    if step.skip_when_false is None:
        return False
    met = holds(step.skip_when_false, scope)
    return isinstance(met, Failure) or not met


def captured(step: PlanStep, entry: Entry, scope: Scope) -> dict[str, Any] | Failure:
    """The variables that the step sets. A step that failed sets those that its result has."""
    found: dict[str, Any] = {}
    for name, text in step.capture.items():
        value = render(text, scope)
        if isinstance(value, Failure):
            if entry.state == "success":
                return replace(value, where=f"capture.{name}")
            continue
        found[name] = value
    for name, text in step.capture_list.items():
        value = render(text, scope)
        if isinstance(value, Failure):
            if entry.state == "success":
                return replace(value, where=f"capture_list.{name}")
            continue
        found[name] = as_list(value)
    return found


def as_list(value: Any) -> list[Any]:
    """The items of a value: a list, the lines or the comma-separated words of a text, or JSON in it."""
    if isinstance(value, (list, tuple)):
        return list(value)
    if isinstance(value, Mapping):
        return [{"key": name, "value": item} for name, item in value.items()]
    if not isinstance(value, str):
        return [value] if truthy(value) else []
    text = value.strip()
    if text.startswith("["):
        try:
            read = msgspec.json.decode(text)
        except (ValueError, RecursionError):
            read = None
        if isinstance(read, list):
            return read
    parts = text.splitlines() if "\n" in text else text.split(",")
    return [part.strip() for part in parts if part.strip()]

"""Settings that the program which drives a session changes while it runs: all of a request, or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.base.errors import UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.facts.claude import EFFORTS
from checkrein.model.rule import Verdict
from checkrein.policy.updates import (
    AddDirectories,
    ReplaceRules,
    RuleText,
    SetMode,
    Update,
    problem_of,
)
from checkrein.runtime.context import styles
from checkrein.runtime.session.events import Event
from checkrein.runtime.turn.config_command import restyle

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

KEYS = ("model", "effortLevel", "outputStyle", "alwaysThinkingEnabled", "permissions")
_BEHAVIORS: tuple[Verdict, ...] = ("allow", "ask", "deny")
_PERMISSIONS = (*_BEHAVIORS, "defaultMode", "additionalDirectories")
Change = Callable[[], object]


def apply(conversation: Conversation, settings: dict[str, Any]) -> Iterator[Event]:
    """Change what the session goes by; None takes a value back. A setting that can't be changed here, or a
    value of no known form, is an error, and nothing changes."""
    changes: list[Change] = []
    updates: list[Update] = []
    for key, value in settings.items():
        if key == "permissions":
            updates += _permissions(conversation, value)
        else:
            changes.append(_change(conversation, key, value))
    for change in changes:
        change()
    yield from conversation.host.permissions.take(updates, "asker")


def _change(conversation: Conversation, key: str, value: Any) -> Change:
    match key, value:
        case "model", str() | None:
            conversation.services.choose(value or "default")
            return partial(conversation.control.set_model, value)
        case "effortLevel", None:
            return partial(setattr, conversation.state, "effort", None)
        case "effortLevel", str() if value in EFFORTS:
            return partial(setattr, conversation.state, "effort", value)
        case "outputStyle", str() | None:
            name = value or styles.chosen(conversation.view.project)
            found = (styles.DEFAULT, *styles.styles(conversation.view.project.place))
            if name not in found:
                raise UsageError(f"outputStyle: there is no style {name!r}.{did_you_mean(name, found)}")
            return partial(restyle, conversation, name)
        case "alwaysThinkingEnabled", bool() | None:
            return partial(conversation.backdrop.prompt.think, 0 if value is False else None)
    if key in KEYS:
        raise UsageError(f"The setting {key} can't be {value!r}.")
    raise UsageError(
        f"The setting {key} can't be changed while the session runs.{did_you_mean(key, KEYS)}",
        hint=f"These can: {', '.join(KEYS)}.",
    )


def _permissions(conversation: Conversation, value: Any) -> Iterator[Update]:
    """Rules take the place of those of an earlier request; a deny holds until the session ends."""
    given = {} if value is None else value
    if not isinstance(given, dict):
        raise UsageError("The setting permissions must be an object.")
    for key in given:
        if key not in _PERMISSIONS:
            raise UsageError(f"permissions.{key} can't be changed.{did_you_mean(key, _PERMISSIONS)}")
    updates: list[Update] = []
    for behavior in _BEHAVIORS:
        rules = tuple(_rule(text) for text in _texts(given, behavior))
        updates.append(ReplaceRules(rules=rules, behavior=behavior, destination="session"))
    if given.get("additionalDirectories"):
        found = tuple(_texts(given, "additionalDirectories"))
        updates.append(AddDirectories(directories=found, destination="session"))
    mode = given.get("defaultMode")
    if mode is not None:
        if not isinstance(mode, str) or not conversation.may_enter(mode):
            raise UsageError(f"The mode {mode!r} is not available here.")
        updates.append(msgspec.convert({"type": "setMode", "mode": mode, "destination": "session"}, SetMode))
    for update in updates:
        problem = problem_of(update)
        if problem is not None:
            raise UsageError(f"permissions: {problem}.")
    yield from updates


def _texts(given: dict[str, Any], key: str) -> list[str]:
    found = given.get(key) or []
    if not isinstance(found, list) or not all(isinstance(one, str) for one in found):
        raise UsageError(f"permissions.{key} must be a list of texts.")
    return found


def _rule(text: str) -> RuleText:
    name, bracket, rest = text.partition("(")
    return RuleText(name, rest.removesuffix(")") if bracket else None)

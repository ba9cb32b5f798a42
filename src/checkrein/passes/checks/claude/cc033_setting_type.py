"""Settings whose value has the wrong type."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from checkrein.facts import claude_guidance
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import SETTINGS, document

_EXPECTED: tuple[tuple[frozenset[str], tuple[type, ...], str], ...] = (
    (claude_guidance.BOOLEAN_SETTINGS, (bool,), "true or false"),
    (claude_guidance.OBJECT_SETTINGS, (dict,), "an object"),
    (claude_guidance.NUMBER_SETTINGS, (int, float), "a number"),
    (claude_guidance.TEXT_SETTINGS, (str,), "text"),
)


def run(subject: Subject) -> Iterator[Finding]:
    for setting in subject.project.sources.settings:
        if setting.origin.scope == "plugin":
            continue
        problem = _problem(setting.name, setting.value, setting.element)
        if problem:
            yield Finding(origin=setting.origin, message=f"`{setting.name}` must be {problem}")


def _problem(name: str, value: Any, element: bool) -> str | None:
    if name in claude_guidance.LIST_SETTINGS:
        return None if element or value == [] else "a list"
    for names, types, words in _EXPECTED:
        if name in names:
            wrong = element or not isinstance(value, types) or (isinstance(value, bool) and bool not in types)
            return words if wrong else None
    return None


CHECK = Check(
    code="CC033",
    name="setting-type",
    severity="error",
    summary="A setting has a value of the wrong type.",
    why='Claude Code rejects the value, and with it possibly the whole file. The text "true" is not true.',
    hint="Give it the type in the message.",
    bad={SETTINGS: document({"disableAllHooks": "true"})},
    good={SETTINGS: document({"autoMemoryEnabled": True})},
    run=run,
)

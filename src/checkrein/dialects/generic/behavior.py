"""`behavior:` and `agents:` turned into one agent's frontmatter.

Precedence, highest first: what the file says itself, `agents.<agent>`, `behavior`. The two flags about who
may invoke an item are the exception: there `agents` and `behavior` win over the file.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from checkrein.dialects.generic.written import Ledger, Options
from checkrein.facts.agents import Target
from checkrein.facts.behavior import VOCABULARY, FormKind, profile
from checkrein.model.items import Agent, Invocable

_INVOCATION_KEYS = ("disable-model-invocation", "user-invocable")
_NOT_IN_AGENTS = (
    "user-invocable",
    "disable-model-invocation",
    "context",
    "metadata",
    "agent",
    "compatibility",
)
"""Keys that an agent definition never holds."""


def execution_of(item: Invocable) -> str:
    value = item.behavior.get("execution", "command")
    return value if value in VOCABULARY["execution"].values else "command"


def is_valid(field: str, value: Any) -> bool:
    """Whether the vocabulary has the value. Any other value is reported and writes nothing."""
    known = VOCABULARY.get(field)
    if known is None:
        return False
    if known.open and isinstance(value, list):
        return all(isinstance(item, str) for item in value)
    if isinstance(value, str):
        return known.open or value in known.values
    return False


def translate(
    item: Invocable | Agent, target: Target, options: Options, ledger: Ledger, form: FormKind
) -> dict[str, Any]:
    """The frontmatter for the item's `behavior`; the ledger gets the losses."""
    table = profile(options.profile)
    emitted: dict[str, Any] = {}
    for field, value in item.behavior.items():
        entry = f"behavior.{field}"
        if not is_valid(field, value):
            ledger.lost(entry, f"`{entry}: {value}` of {ledger.subject} is not in the vocabulary")
            continue
        if field == "tools" and value == []:
            value = "none"
        found = table.emitted(target.key, field, value)
        if field == "capability" and isinstance(value, str):
            own = options.models.get(target.key, {}).get(value)
            found = {"model": own} if own else found
        if found is None:
            if table.is_implied(field, value) or (field == "execution" and value == "agent"):
                ledger.kept(entry)
            else:
                said = f"{target.label} has no word for `{entry}: {_shown(value)}` of {ledger.subject}"
                limits = field == "tools" and form == "agent" and value != "full"
                (ledger.guard_lost if limits else ledger.lost)(entry, said)
            continue
        emitted |= found
        if form == "agent" and target.dialect == "claude" and set(found) & set(_NOT_IN_AGENTS):
            ledger.lost(entry, f"`{entry}` of {ledger.subject} has no effect on an agent definition")
        else:
            ledger.kept(entry)
    return emitted


def hatch_of(item: Invocable | Agent, target: Target) -> dict[str, Any]:
    """The item's `agents.<agent>` section for this agent; sections of other agents are not for it."""
    for name in (target.key, *target.aliases):
        section = item.agents.get(name)
        if isinstance(section, dict):
            return section
    return {}


def account_hatch(item: Invocable | Agent, target: Target, ledger: Ledger) -> None:
    """Other agents keep their own sections; only a broken section is lost."""
    for name, section in item.agents.items():
        if isinstance(section, dict):
            ledger.kept(f"agents.{name}")
        else:
            ledger.lost(
                f"agents.{name}", f"`agents.{name}` of {ledger.subject} is not a list of `field: value`"
            )


def merge(
    explicit: Mapping[str, Any], hatch: Mapping[str, Any], emitted: Mapping[str, Any]
) -> dict[str, Any]:
    """One frontmatter out of the three, by the order of precedence above."""
    merged = {**emitted, **hatch, **explicit}
    for key in _INVOCATION_KEYS:
        if key in hatch or key in emitted:
            merged[key] = hatch.get(key, emitted.get(key))
    return merged


def as_agent(values: Mapping[str, Any]) -> dict[str, Any]:
    """Skill frontmatter as that of an agent definition: `allowed-tools` is `tools`, forbidden keys go."""
    renamed = {("tools" if key == "allowed-tools" else key): value for key, value in values.items()}
    return {key: value for key, value in renamed.items() if key not in _NOT_IN_AGENTS}


def _shown(value: Any) -> str:
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)

"""The behavior vocabulary and its translation tables, read from the TOML files beside this module.

The tables are data: a profile says for every agent, field and value which frontmatter to write, and for every
`execution` what kind of file to write.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

FormKind = Literal["skill", "agent", "command"]
Emitted = dict[str, Any]

_DEFAULT_PROFILE = "seed"
ANY_VALUE, ANY_TEXT, ANY_LIST = "*", "<text>", "<list>"
OTHERS = "others"

_HERE = Path(__file__).parent


class Field(Struct, frozen=True):
    """One key of `behavior:`. `default` is the value of a missing key, None when it means nothing."""

    values: tuple[str, ...]
    code: str
    help: str
    default: str | None = None
    open: bool = False


class Profile(Struct, frozen=True):
    """One revision of the tables. Look things up with `emitted` and `form_of`."""

    name: str
    translate: dict[str, dict[str, dict[str, Emitted]]]
    route: dict[str, dict[str, FormKind]]
    implied: dict[str, dict[str, tuple[str, ...]]]

    def emitted(self, agent: str, field: str, value: Any) -> Emitted | None:
        """The frontmatter for `field: value`; None when the agent has no such concept."""
        rows = self.translate.get(agent, {}).get(field)
        if rows is None:
            return None
        if isinstance(value, list):
            return _fill(rows.get(ANY_LIST), value)
        if value in VOCABULARY[field].values:
            return _fill(rows.get(value, rows.get(ANY_VALUE)), value)
        return _fill(rows.get(ANY_TEXT), value)

    def form_of(self, agent: str, execution: str) -> FormKind | None:
        """The kind of file for an item with this `execution`; None when the agent does not support it."""
        return self.route.get(agent, self.route[OTHERS]).get(execution)

    def is_implied(self, field: str, value: Any) -> bool:
        """True for values that describe what every agent does without them."""
        return isinstance(value, str) and value in self.implied[OTHERS].get(field, ())


def _fill(template: Emitted | None, value: Any) -> Emitted | None:
    if template is None:
        return None
    items = " ".join(str(item) for item in value) if isinstance(value, list) else ""
    return {
        key: text.format(value=value, items=items)
        if isinstance(text, str) and text in ("{value}", "{items}")
        else text
        for key, text in template.items()
    }


@cache
def profile(name: str = _DEFAULT_PROFILE) -> Profile:
    """The profile with this name; KeyError when it does not exist (`PROFILES` lists the names)."""
    if name not in PROFILES:
        raise KeyError(name)
    raw = _read(name)
    base = raw.pop("base", None)
    if base is not None:
        raw = _overlay(_read(base), raw)
    return msgspec.convert({"name": name, **raw}, Profile)


def _overlay(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    merged = {table: {agent: dict(rows) for agent, rows in agents.items()} for table, agents in below.items()}
    for table, agents in above.items():
        for agent, rows in agents.items():
            merged.setdefault(table, {}).setdefault(agent, {}).update(rows)
    return merged


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((_HERE / f"{name}.toml").read_text(encoding="utf-8"))


VOCABULARY: dict[str, Field] = msgspec.convert(_read("vocabulary"), dict[str, Field])
PROFILES: tuple[str, ...] = ("seed", "pr2103")

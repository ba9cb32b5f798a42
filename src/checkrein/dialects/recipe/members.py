"""The members of a YAML mapping as fields of a model type. What does not fit is reported and kept."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from checkrein.base.nearest import nearest
from checkrein.base.origin import Origin
from checkrein.base.yamltree import Tree
from checkrein.dialects.codes import Log
from checkrein.dialects.coerce import WRONG, as_flag, as_int, as_scalar
from checkrein.facts.recipe_codes import recipe_finding
from checkrein.facts.recipe_fields import LATER_FIELDS, Form, RecipeField

_MEANT: dict[Form, str] = {
    "text": "a text",
    "flag": "true or false",
    "integer": "a whole number",
    "seconds": "a number of seconds",
    "texts": "a list of texts",
    "mapping": "a mapping",
    "captures": "a mapping from names to expressions",
}


class Fields:
    """One mapping. `origin` is that of the item; `taken` are the values by attribute."""

    def __init__(self, tree: Tree, origin: Origin, table: Iterable[RecipeField], log: Log) -> None:
        self.tree = tree
        self.origin = origin
        self.log = log
        self.taken: dict[str, Any] = {}
        self.unknown: dict[str, Any] = {}
        self.table = {field.key: field for field in table}
        for key, member in tree.members.items():
            known = self.table.get(key)
            if known is None:
                self._keep(key, member)
            elif known.form != "special" and member.value is not None:
                self._take(known, member)

    def at(self, key: str, tree: Tree | None = None) -> Origin:
        found = tree or self.tree.members.get(key)
        return self.origin.at(found.span, f"{self.origin.field}.{key}") if found else self.origin

    def member(self, key: str) -> Tree | None:
        """The member, unless it is empty."""
        found = self.tree.members.get(key)
        return None if found is None or found.value is None else found

    def text(self, key: str) -> str | None:
        """A special field that is a text after all."""
        found = self.member(key)
        if found is None:
            return None
        text = as_scalar(found.value)
        if text is WRONG:
            self.refuse(key, "a text", found)
            return None
        return text

    def refuse(self, key: str, meant: str, member: Tree) -> None:
        self.unknown[key] = member.value
        self.log.append(recipe_finding("RECIPE002", f"`{key}` must be {meant}", self.at(key, member)))

    def _take(self, field: RecipeField, member: Tree) -> None:
        value = _converted(field.form, member.value)
        if value is WRONG:
            self.refuse(field.key, _MEANT[field.form], member)
        else:
            self.taken[field.name] = value

    def _keep(self, key: str, member: Tree) -> None:
        self.unknown[key] = member.value
        if key == "retry":
            fix = f"Write {_retries(member.value)} instead, or run `checkrein recipe migrate`."
            message = "The block `retry` of old recipes is not read"
            self.log.append(recipe_finding("RECIPE004", message, self.at(key, member), hint=fix))
            return
        meant = nearest(key, self.table, 0.75)
        message = f"`{key}` is not a field here" + (f"; `{meant}` is" if meant else "")
        if key in LATER_FIELDS:
            message = f"`{key}` of later versions has no effect"
        hint = f"Write `{meant}`." if meant else None
        self.log.append(recipe_finding("RECIPE003", message, self.at(key, member), hint=hint))


def _converted(form: Form, value: Any) -> Any:
    match form:
        case "text":
            return as_scalar(value)
        case "flag":
            return as_flag(value)
        case "integer":
            return as_int(value)
        case "seconds":
            return as_seconds(value)
        case "texts":
            return as_texts(value)
        case "captures":
            return as_captures(value)
        case _:
            return value if isinstance(value, dict) else WRONG


def as_seconds(value: Any) -> Any:
    if isinstance(value, float):
        return value
    return as_int(value)


def as_texts(value: Any) -> Any:
    """A list of scalars, or one scalar."""
    items = value if isinstance(value, list) else [value]
    texts = tuple(as_scalar(item) for item in items)
    return WRONG if WRONG in texts else texts


def as_captures(value: Any) -> Any:
    """Names to expressions; an expression may stand in a mapping under `from` or `value`."""
    if not isinstance(value, dict):
        return WRONG
    found: dict[str, str] = {}
    for name, written in value.items():
        inner = written.get("from", written.get("value")) if isinstance(written, dict) else written
        text = as_scalar(inner)
        if text is WRONG:
            return WRONG
        found[name] = text
    return found


def _retries(block: Any) -> str:
    known = block if isinstance(block, dict) else {}
    attempts = known.get("max_attempts", known.get("attempts", 3))
    exhausted = known.get("on_exhausted")
    route = f" and `on_exhausted: {exhausted}`" if isinstance(exhausted, str) else ""
    return f"`retries: {attempts}`{route}"

"""Markdown files with frontmatter: from the file to named, coerced fields."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from checkrein.base import frontmatter
from checkrein.base.diagnostic import Diagnostic
from checkrein.base.frontmatter import Frontmatter
from checkrein.base.origin import Origin, Scope
from checkrein.dialects import text
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.coerce import COERCIONS, EXPECTED, WRONG, Coercion, plain
from checkrein.facts.claude_fields import Field

_CODES = {
    "quoted": "FM001",
    "folded": "FM002",
    "unparsable": "FM003",
    "unterminated": "FM004",
    "not_mapping": "FM005",
    "duplicate": "FM006",
}
# Field name -> (attribute of the item, how its value is read, the shape's name).
Table = Mapping[str, tuple[str, Coercion, str]]


def table(fields: Collection[Field], renamed: Mapping[str, str]) -> dict[str, tuple[str, Coercion, str]]:
    """The plain fields of a kind; `renamed` maps a field to the attribute that is not its snake_case name."""
    return {
        field.name: (
            renamed.get(field.name) or _snake(field.name),
            COERCIONS[field.shape],
            field.shape,
        )
        for field in fields
        if field.shape in COERCIONS
    }


def read(path: str, scope: Scope, known: Collection[str], log: Log) -> Frontmatter | None:
    """The file split into frontmatter and body; None when it can't be read."""
    found = text.read(path, scope, log)
    if found is None:
        return None
    return parse(found.text, path, scope, known, log)


def parse(source: str, path: str, scope: Scope, known: Collection[str], log: Log) -> Frontmatter:
    front = frontmatter.parse(source, known)
    if front.problems:
        for problem in front.problems:
            origin = Origin(path, scope, problem.span, "frontmatter")
            message = problem.message[:1].upper() + problem.message[1:]
            log.append(diagnose(_CODES[problem.kind], message, origin))
    elif not source.strip():
        log.append(diagnose("FILE008", "The file is empty", Origin(path, scope)))
    return front


def take(
    front: Frontmatter, fields: Table, origin: Origin, log: Log
) -> tuple[dict[str, Any], dict[str, Any]]:
    """(attributes, rest): known fields coerced; everything else, and values that do not fit, as written."""
    taken: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in front.values.items():
        known = fields.get(name)
        if known is None:
            rest[name] = value if isinstance(value, str) else plain(value)
            continue
        if value is None:
            continue
        attribute, coercion, shape = known
        read_value = coercion(value)
        if read_value is WRONG:
            rest[name] = plain(value)
            if shape != "intent":
                log.append(wrong(name, shape, front, origin))
        else:
            taken[attribute] = read_value
    return taken, rest


def wrong(name: str, shape: str, front: Frontmatter, origin: Origin) -> Diagnostic:
    place = origin.at(front.spans.get(name), f"frontmatter.{name}")
    return diagnose("FM007", f"`{name}` must be {EXPECTED[shape]}; it is ignored", place)


def _snake(name: str) -> str:
    return "".join("_" + char.lower() if char.isupper() else char for char in name).replace("-", "_")

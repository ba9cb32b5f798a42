"""Decisions on records: one JSON object in, one answer out. `checkrein decide` reads and prints them.

A record holds `tool` and `input`, and what the decision depends on: `permissions` with the lists `allow`,
`ask`, `deny` and `additionalDirectories`, `mode`, `cwd`, `root`, `home`, `rules_dir` (what a `/x` rule is
relative to), `add_dirs`, `links`, `trusted`. `want` names the verdict or verdicts to compare with.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, TypedDict

from msgspec import Struct

from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin
from checkrein.model.rule import BEHAVIORS, Rule, parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import Directory, Policy, compile_policy
from checkrein.policy.values import MODES, VERDICTS, Call, Context, Decision, Mode

SOURCE = "<stdin>"


class Record(TypedDict, total=False):
    """One line of input. Only `tool` is required."""

    id: Any
    permissions: dict[str, Any]
    mode: str
    tool: str
    input: dict[str, Any]
    cwd: str
    home: str
    root: str
    rules_dir: str
    add_dirs: list[str]
    links: dict[str, str]
    trusted: bool
    want: str | list[str]


class Line(Struct, frozen=True):
    """One line of output."""

    id: Any
    verdict: str
    offered: bool
    rule: str | None
    origin: str | None
    reason: str


class Answer(Struct, frozen=True):
    """`matched` is there when the record says what it wants. `unknown` are fields that mean nothing here."""

    line: Line
    matched: bool | None = None
    unknown: tuple[str, ...] = ()


class RecordError(ValueError):
    """A record that can't be decided: what is wrong with it, in words for its author."""


def answer(record: Any, *, cwd: str = "/", home: str = "") -> Answer:
    """Decide one record. `cwd` and `home` stand in for what the record leaves out."""
    if not isinstance(record, dict):
        raise RecordError("a record is a JSON object")
    policy = _policy_of(record)
    context = _context(record, cwd, home)
    call = Call(_text(record, "tool"), _mapping(record, "input"))
    decision = decide(policy, call, context)
    line = Line(
        record.get("id"),
        decision.verdict,
        decision.offered,
        decision.rule,
        _place(decision.origin),
        decision.reason,
    )
    unknown = tuple(key for key in record if key not in Record.__annotations__)
    return Answer(line, _wanted(record, decision), unknown)


def _place(origin: Origin | None) -> str | None:
    return None if origin is None else f"{origin.file} {origin.field}" if origin.field else str(origin)


REMOVED = "removed"
"""As something wanted: denied, and the tool is not even offered."""


def _wanted(record: Mapping[str, Any], decision: Decision) -> bool | None:
    want = record.get("want")
    if want is None:
        return None
    wanted = want if isinstance(want, list) else [want]
    for one in wanted:
        if one not in VERDICTS and one != REMOVED:
            raise RecordError(f"`want` is {', '.join(VERDICTS)} or a list of them, not {one!r}")
    return decision.verdict in wanted or (
        REMOVED in wanted and decision.verdict == "deny" and not decision.offered
    )


def _policy_of(record: Mapping[str, Any]) -> Policy:
    permissions = _mapping(record, "permissions")
    mode = record.get("mode") or permissions.get("defaultMode") or "default"
    lists = tuple((name, _texts(permissions, name)) for name in BEHAVIORS)
    directories = _texts(permissions, "additionalDirectories")
    return _compiled(lists, _mode(mode), directories, _text(record, "rules_dir", None))


def _mode(text: Any) -> Mode:
    if text == "manual":
        return "default"
    for mode in MODES:
        if mode == text:
            return mode
    raise RecordError(f"there is no mode {text!r}.{did_you_mean(str(text), MODES)}")


@lru_cache(maxsize=256)
def _compiled(
    lists: tuple[tuple[str, tuple[str, ...]], ...],
    mode: Mode,
    directories: tuple[str, ...],
    anchor: str | None,
) -> Policy:
    rules: list[Rule] = []
    for behavior, texts in lists:
        for at, text in enumerate(texts):
            origin = Origin(SOURCE, "project", field=f"permissions.{behavior}[{at}]")
            rules.append(parse_rule(text, behavior, origin, anchor=anchor))  # type: ignore[arg-type]  # of BEHAVIORS
    return compile_policy(rules, mode, directories=[Directory(path, "project") for path in directories])


def _context(record: Mapping[str, Any], cwd: str, home: str) -> Context:
    root = _text(record, "root", None)
    here = _text(record, "cwd", None) or root or cwd
    trusted = record.get("trusted", True)
    if not isinstance(trusted, bool):
        raise RecordError("`trusted` is true or false")
    links = _mapping(record, "links")
    if not all(isinstance(target, str) for target in links.values()):
        raise RecordError("`links` maps a path to the path its link points to")
    return Context(
        cwd=here,
        root=root or here,
        home=_text(record, "home", None) or home,
        add_dirs=_texts(record, "add_dirs"),
        links=links,
        trusted=trusted,
    )


def _text(record: Mapping[str, Any], key: str, default: Any = ...) -> Any:
    value = record.get(key)
    if value is None and default is not ...:
        return default
    if not isinstance(value, str):
        raise RecordError(f"`{key}` must be text")
    return value


def _texts(record: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = record.get(key) or []
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise RecordError(f"`{key}` must be a list of texts")
    return tuple(value)


def _mapping(record: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = record.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise RecordError(f"`{key}` must be an object")
    return value

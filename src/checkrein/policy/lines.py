"""Decisions on records: one JSON object in, one decision out. `checkrein decide` reads and prints them.

A record holds `tool` and `input`, and everything the decision depends on: `permissions` with the lists
`allow`, `ask`, `deny` and `additionalDirectories`, `mode`, `cwd`, `root`, `home`, `rules_dir` (what a `/x`
rule is relative to), `add_dirs`, `links`, `trusted`, `layers` (which of `exec`, `files` and `network` hold
where the call runs). `want` names the verdict or verdicts to compare with. A
record without `permissions` is judged in the situation of a project.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any, TypedDict

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import Origin
from checkrein.model.rule import Rule, parse_rule
from checkrein.policy.policy import Directory, Policy, compile_policy
from checkrein.policy.situation import Situation
from checkrein.policy.tools import Tools
from checkrein.policy.values import KERNEL_LAYERS, MODES, VERDICTS, Call, Context, Decision, KernelLayer, Mode

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
    layers: list[str]
    want: str | list[str]


PERMISSIONS = (*VERDICTS, "additionalDirectories", "defaultMode")
"""What `permissions` may hold."""


class Line(Struct, frozen=True, omit_defaults=True):
    """One line of output. `notes` say how trust and the mode of the project affect the verdict."""

    id: Any
    verdict: str
    offered: bool
    rule: str | None
    origin: str | None
    reason: str
    notes: tuple[str, ...] = ()


class Answer(Struct, frozen=True):
    """`matched` is set when the record has `want`."""

    line: Line
    matched: bool | None = None


InProject = Callable[[str | None, bool | None], tuple[Situation, Mapping[str, str]]]
"""From (mode, trusted) to the project's situation and its symbolic links.

None takes the project's own value.
"""


class RecordError(ValueError):
    """The record can't be decided. The message tells its author what is wrong."""


def answer(
    record: Any,
    *,
    cwd: str = "/",
    home: str = "",
    project: InProject | None = None,
    tools: Tools | None = None,
    layers: tuple[KernelLayer, ...] | None = None,
) -> Answer:
    """Decide one record.

    `cwd`, `home`, `tools` and `layers` fill what a record with `permissions` leaves out. `project` gives the
    permissions of a record without them.
    """
    if not isinstance(record, dict):
        raise RecordError("a record is a JSON object")
    _refuse_unknown(record, Record.__annotations__, "a record")
    call = Call(_text(record, "tool"), _mapping(record, "input"))
    if project is None or "permissions" in record:
        situation, context = _own(record, cwd, home, tools)
        if "layers" not in record and layers:
            situation, context = replace(situation, layers=layers), replace(context, layers=layers)
    else:
        situation, context = _projects(record, project)
    decision = situation.decide(call, context)
    if situation.trusting is not None and decision.verdict != "allow":
        from checkrein.policy.reasons import explain

        decision = explain(situation, call, context)
    line = Line(
        record.get("id"),
        decision.verdict,
        decision.offered,
        decision.rule,
        _place(decision.origin),
        decision.reason,
        decision.notes,
    )
    return Answer(line, _wanted(record, decision))


def _refuse_unknown(values: Mapping[str, Any], known: Collection[str], what: str) -> None:
    for name in values:
        if name not in known:
            raise RecordError(f"`{name}` is not a field of {what}.{did_you_mean(name, known)}")


def _place(origin: Origin | None) -> str | None:
    if origin is None or origin.file != SOURCE:
        return None if origin is None else str(origin)
    return f"{origin.file} {origin.field}"


_REMOVED = "removed"
"""A value of `want`: denied, and the tool is not offered."""


def _wanted(record: Mapping[str, Any], decision: Decision) -> bool | None:
    want = record.get("want")
    if want is None:
        return None
    wanted = want if isinstance(want, list) else [want]
    for one in wanted:
        if one not in VERDICTS and one != _REMOVED:
            raise RecordError(f"`want` is {', '.join(VERDICTS)} or a list of them, not {one!r}")
    return decision.verdict in wanted or (
        _REMOVED in wanted and decision.verdict == "deny" and not decision.offered
    )


def _own(record: Mapping[str, Any], cwd: str, home: str, tools: Tools | None) -> tuple[Situation, Context]:
    """The policy and context of a record with its own permissions."""
    permissions = _mapping(record, "permissions")
    _refuse_unknown(permissions, PERMISSIONS, "`permissions`")
    mode = record.get("mode") or permissions.get("defaultMode") or "default"
    lists = tuple((name, _texts(permissions, name)) for name in VERDICTS)
    directories = _texts(permissions, "additionalDirectories")
    root = _text(record, "root", None)
    here = _text(record, "cwd", None) or root or cwd
    situation = Situation(
        policy=_compiled(lists, _mode(mode), directories, _text(record, "rules_dir", None), tools),
        root=root or here,
        home=_text(record, "home", None) or home,
        add_dirs=_texts(record, "add_dirs"),
        trusted=_trusted(record) is not False,
        layers=_layers(record),
    )
    return situation, situation.context(here, _links(record))


def _projects(record: Mapping[str, Any], project: InProject) -> tuple[Situation, Context]:
    """The situation of the project, in the places and with the links that the record names."""
    if "rules_dir" in record:
        raise RecordError("`rules_dir` needs `permissions`: the rules of a project know their own directory")
    mode = record.get("mode")
    situation, links = project(_mode(mode) if mode else None, _trusted(record))
    moved = replace(
        situation,
        root=_text(record, "root", None) or situation.root,
        home=_text(record, "home", None) or situation.home,
        add_dirs=(*situation.add_dirs, *_texts(record, "add_dirs")),
        layers=_layers(record) if "layers" in record else situation.layers,
    )
    here = os.path.join(moved.root, _text(record, "cwd", None) or "")
    return moved, moved.context(here, _links(record) if "links" in record else links)


def _trusted(record: Mapping[str, Any]) -> bool | None:
    trusted = record.get("trusted", ...)
    if trusted is ...:
        return None
    if not isinstance(trusted, bool):
        raise RecordError("`trusted` is true or false")
    return trusted


def _layers(record: Mapping[str, Any]) -> tuple[KernelLayer, ...]:
    given = _texts(record, "layers")
    for name in given:
        if name not in KERNEL_LAYERS:
            raise RecordError(f"the layer {name!r} does not exist.{did_you_mean(name, KERNEL_LAYERS)}")
    return tuple(name for name in KERNEL_LAYERS if name in given)


def _links(record: Mapping[str, Any]) -> dict[str, str]:
    links = _mapping(record, "links")
    if not all(isinstance(target, str) for target in links.values()):
        raise RecordError("`links` maps a path to the path its link points to")
    return links


def _mode(text: Any) -> Mode:
    if text == "manual":
        return "default"
    for mode in MODES:
        if mode == text:
            return mode
    raise RecordError(f"the mode {text!r} does not exist.{did_you_mean(str(text), MODES)}")


@lru_cache(maxsize=256)
def _compiled(
    lists: tuple[tuple[str, tuple[str, ...]], ...],
    mode: Mode,
    directories: tuple[str, ...],
    anchor: str | None,
    tools: Tools | None,
) -> Policy:
    rules: list[Rule] = []
    for verdict, texts in lists:
        for at, text in enumerate(texts):
            origin = Origin(SOURCE, "project", field=f"permissions.{verdict}[{at}]")
            rules.append(parse_rule(text, verdict, origin, anchor=anchor))  # type: ignore[arg-type]  # of VERDICTS
    places = [Directory(path, "project") for path in directories]
    return compile_policy(rules, mode, directories=places, tools=tools)


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

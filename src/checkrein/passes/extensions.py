"""What installed packages add: their checks, ready to run, and their tools, ready to register.

Every fault of an extension is a Diagnostic at the file that declares it, never an exception.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.extensions import Extension, Group, Loaded, load_all
from checkrein.base.origin import Origin
from checkrein.dialects.dialect import Dialect
from checkrein.passes.checks.check import Check
from checkrein.policy.tools import Meaning

_TOOL_PARTS = ("name", "eager", "read_only", "aliases", "declaration", "meaning", "run")
"""What every tool has (`checkrein.runtime.tools.port.AnyTool`)."""
_CODE = re.compile(r"[A-Z]{2,10}\d{3}")


class Added(Struct, frozen=True):
    """One thing that an extension adds, under the name by which users know it: a code, a tool's name."""

    extension: Extension
    name: str
    value: Any


class Additions(Struct, frozen=True):
    added: tuple[Added, ...] = ()
    problems: tuple[Diagnostic, ...] = ()

    def values(self) -> tuple[Any, ...]:
        return tuple(one.value for one in self.added)


def installed_checks(*projects: str) -> Additions:
    """The checks of the group `checkrein.checks`: each entry point names a Check or a sequence of them."""
    loaded = load_all("checks", *projects)
    if not loaded:
        return Additions()
    from checkrein.passes.codes import pages

    return accepted(loaded, _checks_in, pages())


def installed_tools(*projects: str) -> Additions:
    """The tools of the group `checkrein.tools`: each entry point names one tool.

    Its shape is `checkrein.Tool`. It can't replace a built-in tool.
    """
    loaded = load_all("tools", *projects)
    if not loaded:
        return Additions()
    from checkrein.policy.tools import builtin_tools

    known = builtin_tools()

    def unpack(value: Any) -> Iterator[tuple[str, Any]]:
        for name, tool in _tools_in(value):
            taken = next((one for one in (name, *tool.aliases) if one in known), None)
            if taken is not None:
                raise TypeError(f"`{taken}` exists already")
            yield name, tool

    return accepted(loaded, unpack, ())


def installed_dialects(*projects: str) -> Additions:
    """The dialects of the group `checkrein.dialects` with a reader. None can replace one of ours."""
    loaded = load_all("dialects", *projects)
    if not loaded:
        return Additions()
    from checkrein.dialects.table import AGENTS_MD, readable
    from checkrein.facts.agents import target_names

    return accepted(loaded, _dialects_in, (*target_names(), *readable(), AGENTS_MD))


Unpack = Callable[[Any], Iterator[tuple[str, Any]]]
"""From the object of an entry point to (name, value) pairs; raises TypeError for any other object."""


def additions(group: Group, *projects: str) -> Additions:
    return _ADDITIONS[group](*projects)


_ADDITIONS: dict[Group, Callable[..., Additions]] = {
    "checks": installed_checks,
    "tools": installed_tools,
    "dialects": installed_dialects,
}


def accepted(loaded: Iterable[Loaded], unpack: Unpack, taken: Iterable[str]) -> Additions:
    """The usable parts, in order. An extension with one bad part adds nothing."""
    names = set(taken)
    added: list[Added] = []
    problems: list[Diagnostic] = []
    for one in loaded:
        problem = one.problem
        parts: list[Added] = []
        if problem is None:
            try:
                parts = [Added(one.extension, name, value) for name, value in unpack(one.value)]
            except Exception as error:
                problem = str(error) or type(error).__name__
        here = [part.name for part in parts]
        doubled = next((name for name in here if name in names or here.count(name) > 1), None)
        if doubled is not None:
            problem = f"`{doubled}` exists already"
        if problem is not None:
            problems.append(unusable(one.extension, problem))
            continue
        names.update(here)
        added += parts
    return Additions(tuple(added), tuple(problems))


def _checks_in(value: Any) -> Iterator[tuple[str, Check]]:
    for check in value if isinstance(value, tuple | list) else (value,):
        if not isinstance(check, Check):
            raise TypeError(f"it names {type(check).__name__}, not a Check")
        if not _CODE.fullmatch(check.code):
            raise TypeError(f"`{check.code}` is not a code such as ACME001")
        yield check.code, check


def _tools_in(value: Any) -> Iterator[tuple[str, Any]]:
    missing = [part for part in _TOOL_PARTS if not hasattr(value, part)]
    if isinstance(value, type) or missing or not isinstance(value.name, str):
        raise TypeError("it does not name a tool: make one with `checkrein.Tool`")
    if not isinstance(value.meaning, Meaning) or value.meaning.name != value.name:
        raise TypeError("its effects are not those of its name: make them with `checkrein.effects`")
    yield value.name, value


def _dialects_in(value: Any) -> Iterator[tuple[str, Dialect]]:
    if not isinstance(value, Dialect) or value.read is None:
        raise TypeError("it does not name a Dialect with a reader")
    yield value.name, value


def unusable(extension: Extension, problem: str) -> Diagnostic:
    field = f"{extension.group}.{extension.name}"
    message = f"`{extension.name}` of {extension.distribution} {extension.version} can't be used: {problem}"
    return Diagnostic("EXT001", "warning", message, Origin(extension.file, "user", None, field))

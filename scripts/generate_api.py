"""docs/api.md from the exports of `checkrein`: signatures, fields and docstrings as they are in the code."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from typing import Any, get_args

import msgspec

import checkrein
from checkrein.runtime.session import events

GROUPS: dict[str, tuple[str, ...]] = {
    "Read and check a project": ("load", "Project", "View", "check", "Diagnostic", "Origin"),
    "Judge a call": (
        "situation_of",
        "Situation",
        "policy_of",
        "decide",
        "Policy",
        "Call",
        "Context",
        "Decision",
    ),
    "Run a session": (
        *("Session", "run", "run_sync", "Options", "Budget", "Result", "Control"),
        *("Asker", "Question", "Answer", "Answerer"),
    ),
    "Tools of a program": ("Tool", "effects", "ToolDeclaration", "ToolContext", "ToolOutput", "ToolFailure"),
    "Extend it": ("Check", "Subject", "Finding", "Dialect"),
    "Write a project out": ("deploy_project", "compile_skill"),
    "Errors": ("CheckreinError", "RunError"),
    "Events": ("Event", "events"),
}
INTRO = """\
The names that `checkrein` exports are the public surface. Everything else may change from one version to the
next. Importing `checkrein` costs nothing; the first use of a name loads it. Each name is typed, and
the examples in these pages pass `mypy --strict`."""


def page(note: str) -> str:
    named = {name for names in GROUPS.values() for name in names}
    assert named == {*checkrein._EXPORTS}, named ^ {*checkrein._EXPORTS}
    lines = [note, "", "# The Python surface", "", INTRO, ""]
    for title, names in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += [f"### {name}", "", *_entry(name, getattr(checkrein, name)), ""]
    return "\n".join(lines).rstrip() + "\n"


def _entry(name: str, value: Any) -> Iterator[str]:
    if name == "events":
        yield "The module with every event. All of them have `agent_id` and `parent_call`: " + _line(
            events.Happened
        )
        for event in get_args(events.Event):
            yield from (
                "",
                f"#### events.{event.__name__}",
                "",
                *_class(event, skip=("agent_id", "parent_call")),
            )
    elif name == "Event":
        yield "Any of the events below."
    elif inspect.isclass(value):
        yield from _class(value)
    else:
        yield from _function(name, value)


def _class(value: type[Any], skip: tuple[str, ...] = ()) -> Iterator[str]:
    doc = _doc(value)
    if doc:
        yield from (doc, "")
    if issubclass(value, msgspec.Struct):
        rows = [row for row in _fields(value) if row[0] not in skip]
        if rows:
            yield from ("| field | type | default |", "|---|---|---|")
            yield from (f"| `{field}` | `{_cell(kind)}` | {default} |" for field, kind, default in rows)
    elif "__init__" in vars(value) and not issubclass(value, Exception):
        yield from ("```text", f"{value.__name__}{_signature(value.__init__)}", "```")
    methods = list(_methods(value))
    if methods:
        yield from ("", "| method | meaning |", "|---|---|")
        yield from methods


def _fields(value: type[msgspec.Struct]) -> Iterator[tuple[str, str, str]]:
    kinds = {name: kind for base in reversed(value.__mro__) for name, kind in _annotations(base)}
    names, defaults = value.__struct_fields__, value.__struct_defaults__
    given = dict(zip(names[len(names) - len(defaults) :], defaults))
    for name in names:
        default = given.get(name, msgspec.NODEFAULT)
        if default is msgspec.NODEFAULT:
            yield name, kinds[name], ""
        else:
            made = default.factory() if type(default).__name__ == "Factory" else default
            yield name, kinds[name], f"`{_cell(repr(made))}`"


def _annotations(value: type[Any]) -> Iterator[tuple[str, str]]:
    for name, kind in vars(value).get("__annotations__", {}).items():
        yield name, kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))


def _methods(value: type[Any]) -> Iterator[str]:
    for name, member in vars(value).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            yield f"| `{name}` | {_cell(_line(member))} |"
        elif inspect.isfunction(member):
            yield f"| `{_cell(name + _signature(member))}` | {_cell(_line(member))} |"


def _function(name: str, value: Any) -> Iterator[str]:
    yield from ("```text", f"{name}{_signature(value)}", "```")
    doc = _doc(value)
    if doc:
        yield from ("", doc)


def _signature(function: Any) -> str:
    """The signature as the code has it, without `self`. A long one takes several lines."""
    node = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    node.args.args = [one for one in node.args.args if one.arg != "self"]
    answer = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    return f"({ast.unparse(node.args)}){answer}"


def _doc(value: Any) -> str:
    return inspect.cleandoc(value.__doc__ or "") if _own_doc(value) else ""


def _own_doc(value: Any) -> bool:
    return not inspect.isclass(value) or "__doc__" in vars(value)


def _line(value: Any) -> str:
    return " ".join((value.__doc__ or "").split("\n\n")[0].split())


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")

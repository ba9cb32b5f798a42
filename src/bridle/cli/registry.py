"""Every command, declared once.

A command module holds `COMMAND` and a function `run` whose parameters are the declared arguments.
Parser, help, completion, `bridle schema`, the reference pages and the field tests are made from the
declarations. Module-level code of a command module stays light: only the module of the command that
is run is imported.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

from msgspec import Struct

from bridle.base.diagnostic import Diagnostic
from bridle.protocol.machine import verbs

MODULES: dict[str, str] = {
    "show": "bridle.cli.show",
    "why": "bridle.cli.why",
    "check": "bridle.cli.check",
    "decide": "bridle.cli.decide",
    "deploy": "bridle.cli.deploy",
    "convert": "bridle.cli.convert",
    "import": "bridle.cli.import_",
    "compile": "bridle.cli.compile",
    "run": "bridle.cli.run",
    "skill test": "bridle.cli.skill_test",
    "trust": "bridle.cli.trust",
    "doctor": "bridle.cli.doctor",
    "mock-model": "bridle.cli.mock_model",
    "config": "bridle.cli.config",
    "schema": "bridle.cli.schema",
    "completion": "bridle.cli.completion",
    **{
        f"machine {verb}": f"bridle.cli.machine.{verb.replace('-', '_')}"
        for verb in (*verbs.MACHINE, *verbs.OPT_OUT)
    },
}
"""Command name to module, in the order of the help text. A blank in a name makes a group."""

GROUPS: dict[str, str] = {
    "machine": "The protocol for programs: one JSON answer per call, one kind of error, three exits.",
    "skill": "Work with skills.",
}
"""Summaries of the groups."""

ArgType = Literal["str", "int", "float", "bool", "choice"]


class Arg(Struct, frozen=True, kw_only=True):
    """An argument. `flags` empty makes it positional; its name is the parameter of `run`."""

    name: str
    help: str
    flags: tuple[str, ...] = ()
    type: ArgType = "str"
    choices: tuple[str, ...] = ()
    default: Any = None
    multiple: bool = False
    required: bool = False
    metavar: str | None = None
    greedy: bool = False
    """Takes several values after one flag: `--tools Bash Read`."""
    bare: str | None = None
    """The value when the flag stands alone: `--resume` or `--resume ID`."""


Output = Literal["envelope", "stream"]


class Command(Struct, frozen=True, kw_only=True):
    name: str
    summary: str
    args: tuple[Arg, ...] = ()
    payload: Any = None
    """The type of `data`, a tuple where it is one of several; for a stream, the type of one line."""
    errors: tuple[str, ...] = ()
    exits: tuple[tuple[int, str], ...] = ((0, "success"), (1, "an error"), (2, "wrong usage"))
    output: Output = "envelope"
    examples: tuple[tuple[str, str], ...] = ()
    details: str = ""


class Outcome(Struct, frozen=True, kw_only=True):
    """What a command answers. `text` renders it for people and is called only when it is needed."""

    data: Any = None
    text: Callable[[], str] | None = None
    status: int = 0
    warnings: tuple[Diagnostic, ...] = ()


def command(name: str) -> Command:
    declared = import_module(MODULES[name]).COMMAND
    assert isinstance(declared, Command)
    return declared


def runner(name: str) -> Callable[..., Outcome]:
    run: Callable[..., Outcome] = import_module(MODULES[name]).run
    return run


def names() -> tuple[str, ...]:
    return tuple(MODULES)

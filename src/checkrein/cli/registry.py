"""Every command, declared once.

A command module holds `COMMAND` and a function `run` whose parameters are the declared arguments. Where these
are many, it holds a Struct `Given` with a field for each, and `run` takes one of them. Parser, help,
completion, `checkrein schema`, the reference pages and the field tests come from the declarations.
Module-level code of a command module stays light. A run imports only the module of its own command.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, Literal

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.protocol.machine import verbs

MODULES: dict[str, str] = {
    "show": "checkrein.cli.show",
    "why": "checkrein.cli.why",
    "check": "checkrein.cli.check",
    "decide": "checkrein.cli.decide",
    "audit": "checkrein.cli.audit",
    "policy diff": "checkrein.cli.policy_diff",
    "policy test": "checkrein.cli.policy_test",
    "deploy": "checkrein.cli.deploy",
    "convert": "checkrein.cli.convert",
    "import": "checkrein.cli.import_",
    "compile": "checkrein.cli.compile",
    "run": "checkrein.cli.run",
    "init": "checkrein.cli.init",
    "cook": "checkrein.cli.cook",
    "worker": "checkrein.cli.worker",
    "sessions list": "checkrein.cli.sessions_list",
    "sessions search": "checkrein.cli.sessions_search",
    "sessions show": "checkrein.cli.sessions_show",
    "sessions export": "checkrein.cli.sessions_export",
    "sessions delete": "checkrein.cli.sessions_delete",
    "skill test": "checkrein.cli.skill_test",
    **{
        f"mcp {verb}": f"checkrein.cli.mcp_{verb.replace('-', '_')}"
        for verb in ("add", "add-json", "list", "get", "remove", "login", "logout", "test", "approve")
    },
    **{
        f"plugin {verb}": f"checkrein.cli.plugin_{verb.replace(' ', '_')}"
        for verb in (
            *("install", "enable", "disable", "update", "remove", "list", "info", "config", "validate"),
            *("audit", "adopt", "init", "tag", "prune"),
            *(f"marketplace {verb}" for verb in ("add", "list", "remove", "update")),
        )
    },
    **{
        f"recipe {verb}": f"checkrein.cli.recipe_{verb}"
        for verb in (
            *("list", "show", "check", "graph", "card", "migrate", "run", "status", "resume"),
            *("approve", "reject", "reconcile", "pause", "cancel", "logs", "worker"),
        )
    },
    "worktree list": "checkrein.cli.worktree_list",
    "worktree clean": "checkrein.cli.worktree_clean",
    "serve mcp": "checkrein.cli.serve_mcp",
    "trust": "checkrein.cli.trust",
    "doctor": "checkrein.cli.doctor",
    "mock-model": "checkrein.cli.mock_model",
    **{f"config {verb}": f"checkrein.cli.config_{verb}" for verb in ("show", "set", "unset")},
    "schema": "checkrein.cli.schema",
    "completion": "checkrein.cli.completion",
    **{
        f"machine {verb}": f"checkrein.cli.machine.{verb.replace('-', '_')}"
        for verb in (*verbs.MACHINE, *verbs.OPT_OUT)
    },
}
"""Command name to module, in the order of the help text. A space in a name makes a group."""

GROUPS: dict[str, str] = {
    "config": "Print and change Checkrein's own configuration; without a verb, print it.",
    "machine": "The protocol for programs: one JSON answer per call, one kind of error, three exits.",
    "mcp": "Add, look at, test and approve MCP servers, and sign in to them.",
    "policy": "Compare and test the permission rules of a project, for review and CI.",
    "plugin": "Install, switch, update and check plugins.",
    "plugin marketplace": "The places where plugins come from.",
    "recipe": "Look at recipes, check them, execute them durably, and look after their runs.",
    "serve": "Serve the project to other programs.",
    "sessions": "Find, read, export and delete earlier sessions.",
    "skill": "Work with skills.",
    "worktree": "Look at the worktrees of a repository, and remove those that nobody needs.",
}
"""Summaries of the groups."""

DEFAULTS: dict[str, str] = {"config": "show"}
"""The verb of a group that is named without one."""

ArgType = Literal["str", "int", "port", "float", "bool", "choice"]


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
    """The value of the flag without an argument: `--resume` or `--resume ID`."""
    complete: str | None = None
    """Where a shell finds its values; a name in `value_completion.SOURCES`."""
    off: str | None = None
    """The opposite flag. The value is true, false, or None without either flag."""


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
    dashes: str = ""
    """How to write the command when it takes the words of another program: with `--` before them."""


class Outcome(Struct, frozen=True, kw_only=True):
    """The answer of a command. `text` renders it for people; only text output calls it. `is_data`: a program
    in a pipe gets that text as it is."""

    data: Any = None
    text: Callable[[], str] | None = None
    status: int = 0
    warnings: tuple[Diagnostic, ...] = ()
    is_data: bool = False


def command(name: str) -> Command:
    declared = import_module(MODULES[name]).COMMAND
    assert isinstance(declared, Command)
    return declared


def runner(name: str) -> Callable[..., Outcome]:
    """Takes the declared arguments by their names."""
    run: Callable[..., Outcome] = import_module(MODULES[name]).run
    given = given_by(name)
    return run if given is None else lambda **values: run(given(**values))


def given_by(name: str) -> type[Struct] | None:
    """The Struct for the arguments of a command, if it has one."""
    given: type[Struct] | None = getattr(import_module(MODULES[name]), "Given", None)
    return given


def names() -> tuple[str, ...]:
    return tuple(MODULES)

"""Names and shapes: modules are nouns, no two of one name in a layer, few parameters, one caller of tools."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "checkrein"
MODULES = sorted(path for path in SRC.rglob("*.py") if path.name != "__init__.py")

MOST_PARAMETERS = 8
NOUNS = {"listing", "mapping"}
"""Words in -ing that name a thing."""

OF_EVERY_DIALECT = {"read", "write"}
_CHECK = re.compile(r"[a-z]+\d{3}_")
"""A check is named after its code and its finding: `xp001_fork_agent_missing`."""

HOST = "runtime/call/host.py"
BENCH = "runtime/call/bench.py"
OTHER_RUNNERS = {
    "_doer",
    "_loop",
    "_spawner",
    "commands",
    "doer",
    "driver",
    "front",
    "import_module",
    "spawner",
    "subprocess",
}
"""Who has a `run` with more than one argument and is not a tool."""


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def name(path: Path) -> str:
    return path.relative_to(SRC).as_posix()


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    own = names[:1] in (["self"], ["cls"])
    return len(names) - own + (given.vararg is not None) + (given.kwarg is not None)


def test_no_function_has_many_parameters() -> None:
    found = {
        f"{name(path)}:{node.name}"
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and parameters(node) > MOST_PARAMETERS
    }
    assert found == set(), "give it a Struct of options, or typed keywords"


def test_no_module_is_named_after_an_activity() -> None:
    found = {name(path) for path in MODULES if not _CHECK.match(path.stem) and _is_activity(path.stem)}
    assert found == set(), "name it after what it holds"


def _is_activity(stem: str) -> bool:
    return any(word.endswith("ing") and word not in NOUNS for word in stem.split("_"))


def test_no_two_modules_of_one_name_in_a_layer() -> None:
    found = defaultdict(list)
    for path in MODULES:
        layer = path.relative_to(SRC).parts[0]
        if layer != "dialects" or path.stem not in OF_EVERY_DIALECT:
            found[layer, path.stem].append(name(path))
    twins = {key: places for key, places in found.items() if len(places) > 1}
    assert twins == {}


def runs(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Uses of a `run` that may be a tool's: called with anything but one plain argument, or handed on. Gives
    the line and the last name of whose it is."""
    single = {
        call.func
        for call in ast.walk(module)
        if isinstance(call, ast.Call)
        and len(call.args) < 2
        and not call.keywords
        and not any(isinstance(one, ast.Starred) for one in call.args)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and node.attr == "run" and node not in single:
            whose = node.value.func if isinstance(node.value, ast.Call) else node.value
            yield node.lineno, ast.unparse(whose).rpartition(".")[2]


def calls(module: ast.Module, called: str, least: int = 0) -> list[int]:
    """The lines where something of this name is called, with at least so many arguments."""
    return [
        node.lineno
        for node in ast.walk(module)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == called
        and len(node.args) + len(node.keywords) >= least
    ]


def test_the_search_finds_a_call_of_a_tool() -> None:
    for text in (
        "tool.run(input, context)",
        "box.get('Bash').run(input, c)",
        "find(name).run(*both)",
        "self._tool.run(input=a, context=b)",
        "partial(tool.run, input)",
    ):
        assert [whose for _, whose in runs(ast.parse(text)) if whose not in OTHER_RUNNERS], text
    assert not list(runs(ast.parse("session.run(prompt); loop().run()")))


def test_one_module_runs_tools() -> None:
    found = {
        f"{name(path)}:{line} ({whose})"
        for path in MODULES
        for line, whose in runs(tree(path))
        if whose not in OTHER_RUNNERS
    }
    elsewhere = {place for place in found if not place.startswith(f"{HOST}:")}
    assert elsewhere == set(), f"every call of a tool goes through ToolHost.call in {HOST}"
    assert len(found) == 1, "the host runs a tool in one place"


def test_only_the_host_gets_what_a_tool_needs_to_run() -> None:
    """A tool can't run without a ToolContext: one module makes it, and the host alone asks for it."""
    made = {name(path) for path in MODULES if calls(tree(path), "ToolContext")}
    assert made == {BENCH}
    asked = {name(path) for path in MODULES if calls(tree(path), "context", least=3)}
    assert asked == {HOST}

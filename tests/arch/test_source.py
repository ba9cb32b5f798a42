"""Habits of the source: short modules, no printing, processes started in one place only."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SRC = Path(__file__).parents[2] / "src" / "checkrein"
MODULES = sorted(path for path in SRC.rglob("*.py"))
SPAWN = (
    Path("runtime/process/launches.py"),
    Path("runtime/process/probes.py"),
    Path("runtime/process/guard/launcher.py"),
)
"""The session's processes, and those that the warden starts for it."""
STARTERS = {
    "subprocess": None,
    "pty": None,
    "os": {"system", "popen", "fork", "forkpty", "posix_spawn", "posix_spawnp"},
    "asyncio": {"create_subprocess_exec", "create_subprocess_shell"},
    "multiprocessing": None,
}
WRITERS = frozenset({"echo", "secho", "style", "confirm", "prompt", "echo_via_pager", "progressbar"})
STREAMS = ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__")
WRITING = {
    "cli/out.py": "it guards both streams",
    "__main__.py": "the version, before anything is imported",
    "protocol/wire.py": "frames, on the stream that is guarded",
}
LONGEST = 400
VALUES = "checkrein.policy.values"
SITUATION = "policy/situation.py"


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def name(path: Path) -> str:
    return str(path.relative_to(SRC))


def running_code(path: Path) -> Iterator[ast.AST]:
    """Every node but those that only a type checker sees."""
    pending: list[ast.AST] = [tree(path)]
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending.extend(node.orelse)
        else:
            pending.extend(ast.iter_child_nodes(node))


def starts_a_process(node: ast.AST) -> bool:
    if isinstance(node, ast.Import):
        return any(alias.name in STARTERS and STARTERS[alias.name] is None for alias in node.names)
    if isinstance(node, ast.ImportFrom) and node.module in STARTERS:
        starters = STARTERS[node.module]
        return starters is None or not starters.isdisjoint(alias.name for alias in node.names)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        own_process = node.value.id == "os" and node.attr.startswith(("exec", "spawn"))
        return own_process or node.attr in (STARTERS.get(node.value.id) or ())
    return False


def test_modules_stay_short() -> None:
    """A module that is too long has a second idea in it."""
    assert [name(path) for path in MODULES if len(path.read_text("utf-8").splitlines()) > LONGEST] == []


def writes_to_a_terminal(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return node.func.id in ("print", "input")
    if isinstance(node, ast.ImportFrom):
        return node.module == "click" and not WRITERS.isdisjoint(alias.name for alias in node.names)
    if not isinstance(node, ast.Attribute):
        return False
    if isinstance(node.value, ast.Name) and node.value.id == "click":
        return node.attr in WRITERS
    return node.attr in ("write", "writelines", "buffer") and ast.unparse(node.value) in STREAMS


def test_one_module_writes_to_the_terminal() -> None:
    """What others write could carry escape sequences of a file or a model."""
    assert [
        f"{name(path)}:{node.lineno}"
        for path in MODULES
        if name(path) not in WRITING
        for node in ast.walk(tree(path))
        if writes_to_a_terminal(node)
    ] == []


def test_processes_start_in_one_place() -> None:
    found = [
        (path.relative_to(SRC), node.lineno)
        for path in MODULES
        for node in running_code(path)
        if starts_a_process(node)
    ]
    assert [f"{path}:{line}" for path, line in found if path not in SPAWN] == []
    assert found, "the search itself finds nothing"


def makes_a_context(path: Path) -> Iterator[int]:
    """The lines where a module makes the Context of a decision, whatever it calls it."""
    nodes = list(ast.walk(tree(path)))
    imported = [node for node in nodes if isinstance(node, ast.ImportFrom)]
    names = {
        alias.asname or alias.name
        for node in imported
        if node.module == VALUES
        for alias in node.names
        if alias.name == "Context"
    }
    modules = {
        alias.asname or alias.name
        for node in imported
        if f"{node.module}.values" == VALUES
        for alias in node.names
        if alias.name == "values"
    }
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        made = node.func
        if isinstance(made, ast.Name) and made.id in names:
            yield node.lineno
        elif isinstance(made, ast.Attribute) and made.attr == "Context":
            owner = ast.unparse(made.value)
            if owner in modules or owner == VALUES:
                yield node.lineno


def test_one_module_makes_the_context_of_decisions() -> None:
    found = {name(path): list(makes_a_context(path)) for path in MODULES}
    assert [module for module, lines in found.items() if lines] == [SITUATION]


def test_one_module_makes_the_policy_of_a_project() -> None:
    """Everyone else takes the whole situation, so that nobody forgets trust."""
    callers = [
        name(path)
        for path in MODULES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "policy_of"
    ]
    assert callers == [SITUATION]


def test_every_module_says_what_it_is() -> None:
    assert [name(path) for path in MODULES if not ast.get_docstring(tree(path))] == []

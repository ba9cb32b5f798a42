"""What scripts and shell lines reach: programs, modules, hosts, files; and what no reader can judge.

It reads text. A script that hides what it does on purpose is `opaque`, with a hash of its content: whoever
accepted it accepted exactly that content. So is a file that a script may run, whatever its name.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
from collections.abc import Iterator

from msgspec import Struct

from checkrein.facts.trust import SCRIPT_SUFFIXES
from checkrein.model.plugins import Capabilities
from checkrein.runtime.plugins import script_loads

LARGEST = 512 * 1024
_LONGEST_LINE = 5_000
_URL = re.compile(r"\b(?:https?|wss?|ftp|ssh|git)://(?:[^\s/@\"'`]*@)?(\[[0-9a-fA-F:]+\]|[A-Za-z0-9._-]+)")
_SHELLS = re.compile(rb"#!\s*\S*\b(?:env\s+)?(?:ba|z|da|k)?sh\b")
_PYTHON = re.compile(rb"#!.*\bpython[0-9.]*\b")
_SHELL_SUFFIXES = (".sh", ".bash", ".zsh")
_JS_SUFFIXES = (".js", ".mjs", ".cjs", ".ts", ".mts")
_JS_MODULE = re.compile(r"""(?:\bfrom|\bimport|\brequire\s*\(|\bimport\s*\()\s*["']([^"'\n]{1,200})["']""")
_JS_REACH = re.compile(r"\b(fetch|XMLHttpRequest|WebSocket|Deno|Bun|eval|Function)\s*[.(]")
_OPAQUE_PYTHON = frozenset({"eval", "exec", "compile", "__import__"})
_OTHER_PROGRAM = re.compile(r"\b(system|exec|spawn|popen|backtick|curl|wget|socket|Net::\w+|LWP)\b")
_SKIPPED_DIRS = frozenset({".git"})
_COMPILED = (".pyc", ".so", ".dylib", ".dll", ".exe", ".wasm", ".jar", ".class", ".node")
_DECODERS = frozenset({"base64", "xxd", "openssl", "uudecode"})


class Reach(Struct, frozen=True):
    """What a text reaches. `names` are words of it that may be the names of files that it runs."""

    found: Capabilities
    names: frozenset[str] = frozenset()


def of_shell(text: str, where: str) -> Capabilities:
    """What a shell text reaches. `where` names it for what can't be judged."""
    return _of_shell(text, where).found


def _of_shell(text: str, where: str) -> Reach:
    from checkrein.policy.shell import analyse
    from checkrein.policy.shell.program import Command

    read = analyse(text, "/plugin", "/home")
    programs: set[str] = set()
    writes: set[str] = set()
    names: set[str] = set()
    opaque = {f"{where}: {problem}" for problem in read.problems}

    def visit(command: Command) -> None:
        name = os.path.basename(command.name)
        if name and command.unknown is None:
            programs.add(name)
        elif command.unknown is not None:
            opaque.add(_marked(where, "runs what the text does not say", command.raw or text))
        if name in _DECODERS:
            opaque.add(_marked(where, f"decodes with {name}", text))
        if script_loads.is_loader(name):
            names.update(script_loads.words(" ".join((command.raw, *command.words))))
            names.update(script_loads.words(" ".join(access.shown for access in command.reads)))
        writes.update(access.shown for access in command.writes)
        for inner in command.inner:
            visit(inner)

    for command in read.commands:
        visit(command)
    if opaque or script_loads.feeds_a_loader(text):
        names |= script_loads.words(text)
    found = Capabilities(
        programs=_sorted(programs), writes=_sorted(writes), hosts=hosts(text), opaque=_sorted(opaque)
    )
    return Reach(found, frozenset(names))


def hosts(text: str) -> tuple[str, ...]:
    return _sorted({found[1].lower() for found in _URL.finditer(text)})


def of_tree(root: str, commands: str = "") -> Capabilities:
    """What the scripts and programs below a directory reach. A file that `commands` name counts, whatever it
    is called; so does one that a script may run."""
    files = dict(_files(root))
    known = script_loads.Names(files)
    named = {one for one in files if os.path.basename(one) in commands or _is_script(files[one])}
    pending = sorted(named | known.implied(script_loads.words(commands)))
    found, seen = Capabilities(), set(pending)
    while pending:
        shown = pending.pop()
        reach = _of_file(files[shown], shown)
        found = found.joined(reach.found)
        more = known.called(reach.names, opaque=bool(reach.found.opaque))
        more |= known.implied(reach.found.programs)
        pending += sorted(more - seen)
        seen |= more
    return found


def _files(root: str) -> Iterator[tuple[str, str]]:
    """Files below a directory: their paths from it, and whole."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED_DIRS)
        for name in sorted(files):
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                yield os.path.relpath(path, root), path


def _is_script(path: str) -> bool:
    return path.endswith((*SCRIPT_SUFFIXES, *_COMPILED)) or _is_program(path)


def _is_program(path: str) -> bool:
    try:
        if os.stat(path).st_mode & 0o111:
            return True
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False


def _of_file(path: str, shown: str) -> Reach:
    try:
        with open(path, "rb") as file:
            data = file.read(LARGEST + 1)
            size = os.fstat(file.fileno()).st_size
    except OSError:
        return Reach(Capabilities(opaque=(f"{shown}: can't be read",)))
    if size > LARGEST or b"\0" in data:
        return Reach(Capabilities(opaque=(f"{shown}: a program or large file ({_digest_of(path)})",)))
    text = data.decode("utf-8", "replace")
    reached = Capabilities(hosts=hosts(text))
    if max(map(len, text.splitlines()), default=0) > _LONGEST_LINE:
        packed = Capabilities(opaque=(_marked(shown, "has packed lines", text),))
        return Reach(reached.joined(packed), script_loads.words(text))
    reach = _of_text(text, data, shown)
    return Reach(reached.joined(reach.found), reach.names)


def _of_text(text: str, data: bytes, shown: str) -> Reach:
    if shown.endswith(_SHELL_SUFFIXES) or _SHELLS.match(data):
        return _of_shell(text, shown)
    if shown.endswith(".py") or _PYTHON.match(data):
        found = _of_python(text, shown)
    elif shown.endswith(_JS_SUFFIXES) or (data.startswith(b"#!") and b"node" in data[:80]):
        found = _of_javascript(text, shown)
    elif shown.endswith(SCRIPT_SUFFIXES) or data.startswith(b"#!"):
        found = Capabilities(programs=_sorted(set(_OTHER_PROGRAM.findall(text))))
    else:
        found = Capabilities(opaque=(_marked(shown, "is run, and no reader knows how", text),))
    runs = found.opaque or found.programs or script_loads.runs_code(text)
    return Reach(found, script_loads.words(text) if runs else frozenset())


def _of_python(text: str, shown: str) -> Capabilities:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return Capabilities(opaque=(_marked(shown, "is not Python that can be read", text),))
    modules: set[str] = set()
    opaque: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            modules.add(node.module)
        elif (
            isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OPAQUE_PYTHON
        ):
            opaque.add(_marked(shown, f"calls {node.func.id}", text))
    return Capabilities(modules=_sorted(modules), opaque=_sorted(opaque))


def _of_javascript(text: str, shown: str) -> Capabilities:
    named = {one for one in _JS_MODULE.findall(text) if not one.startswith(".")}
    reached = set(_JS_REACH.findall(text))
    opaque = {_marked(shown, f"calls {one}", text) for one in reached & {"eval", "Function"}}
    return Capabilities(modules=_sorted(named | (reached - {"eval", "Function"})), opaque=_sorted(opaque))


def _marked(where: str, what: str, text: str) -> str:
    return f"{where}: {what} ({hashlib.sha256(text.encode()).hexdigest()[:12]})"


def _digest_of(path: str) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:12]


def _sorted(values: set[str]) -> tuple[str, ...]:
    return tuple(sorted(values))

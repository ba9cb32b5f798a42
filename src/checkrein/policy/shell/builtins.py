"""Builtins of bash that change what the text after them means, or that run text themselves."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import structs

from checkrein.base.later import later
from checkrein.facts.shell_env import LOOKUP
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.paths import join as join_path
from checkrein.policy.paths import normal
from checkrein.policy.shell.assign import declared
from checkrein.policy.shell.evaluated import evaluates_code, is_name, value_evaluates_code
from checkrein.policy.shell.invocation import UNKNOWN_CODE, Found, Running, is_stream, parameters
from checkrein.policy.shell.options import split_options
from checkrein.policy.shell.program import Command
from checkrein.policy.shell.state import State, join

Builtin = Callable[[Running], Found]

_ENVIRONMENT = later(r"(?:\./)?\.?\w*v?env\w*/bin/activate")
"""The script of a virtual environment of Python in the project."""


_REREADS = frozenset(("history", "histexpand", "keyword"))
"""Options of `set` that make bash read text other than what is written."""


def _cd(running: Running) -> Found:
    state = running.state
    operands = [text for text in running.texts[1:] if text == "-" or not text.startswith("-")]
    target = operands[0] if operands else state.home
    if target == "-" or "CDPATH" in state.variables:
        target = ANY
    home = state.values("HOME")[0] if not operands else state.home
    if not operands:
        target = home
    paths = dict.fromkeys(normal(join_path(target, cwd, state.home)) for cwd in state.cwds)
    return Found(flow=(state.move(tuple(paths) if is_static(target) else (ANY,)), state))


def _somewhere(running: Running) -> Found:
    return Found(flow=(running.state.move((ANY,)), running.state))


def _eval(running: Running) -> Found:
    texts = running.texts[2:] if running.texts[1:2] == ("--",) else running.texts[1:]
    text = " ".join(texts)
    inner, flow = running.text(text)
    return Found(inner=inner, unknown=None if is_static(text) else UNKNOWN_CODE, flow=flow)


def _source(running: Running) -> Found:
    """A file of commands. Commands on the input are known when the input is."""
    path = running.texts[1] if len(running.texts) > 1 else ""
    state = running.state
    if not path:
        return Found()
    if is_stream(path) or not is_static(path):
        if path.endswith(("stdin", "/0", "-")) and state.stdin != ANY:
            inner, flow = running.text(state.stdin)
            return Found(inner=inner, flow=flow, unknown=None if is_static(state.stdin) else UNKNOWN_CODE)
        return Found(unknown=UNKNOWN_CODE, flow=(state.forget(), state.forget()))
    after = state.forget()
    if _ENVIRONMENT.fullmatch(path):
        return Found(flow=(after, after))
    inner = running.argv(running.words[1:])
    return Found(inner=inner, opaque="a file of commands runs in this shell", flow=(after, after))


def _trap(running: Running) -> Found:
    operands = [text for text in running.texts[1:] if text != "--"]
    if len(operands) < 2 or operands[0] in ("-", "-l", "-p", ""):
        return Found()
    before = running.state
    inner, flow = running.text(operands[0], before.forget() if "$" in operands[0] else before)
    after = join(*flow)
    if after.functions != before.functions or after.aliases != before.aliases:
        running.walker.problem("a trap gives commands other names")
    changed = after != before
    if changed:
        moved = before.move((ANY,)) if after.cwds != before.cwds else before
        before = structs.replace(moved, unsure=True, splits=False)
    return Found(inner=inner, flow=(before, before), unknown=None if is_static(operands[0]) else UNKNOWN_CODE)


def _set(running: Running) -> Found:
    texts = running.texts[1:]
    state = running.state
    switches = "".join(text for text in texts if text.startswith("-") and text != "-o")
    if not {"H", "k"}.isdisjoint(switches) or not _REREADS.isdisjoint(texts):
        running.walker.problem("other rules apply to the next line")
    if "a" in switches.replace("--", "") or "allexport" in texts:
        running.walker.exports = True
    if "--" in texts:
        params = texts[texts.index("--") + 1 :]
        state = structs.replace(state, params=parameters(params))
    elif any(not text.startswith(("-", "+")) for text in texts) and texts[:1] not in (("-o",), ("+o",)):
        state = structs.replace(state, params=None)
    return Found(flow=(state, state))


def _shift(running: Running) -> Found:
    count = running.texts[1] if len(running.texts) > 1 else "1"
    params = running.state.params
    left = params[int(count) :] if params is not None and count.isdigit() else None
    state = structs.replace(running.state, params=left)
    return Found(flow=(state, state))


def _reads(running: Running) -> Found:
    """Variables get unknown values."""
    options = split_options(running.texts[1:], "adinNptu", ())
    return _filled(running, (*options.values(("a",)), *options.operands, "REPLY"))


def _filled(running: Running, names: Sequence[str]) -> Found:
    """These variables get unknown values. bash evaluates the subscripts in the names."""
    state = running.state
    if not all(is_name(name) for name in names):
        return Found(flow=(state.forget(), state.forget()), unknown=UNKNOWN_CODE)
    for name in names:
        if evaluates_code(name.partition("[")[2], state):
            return Found(flow=(state.forget(), state.forget()), unknown=UNKNOWN_CODE)
        base = name.partition("[")[0]
        state = state.assign(base, (ANY,))
        state = state.move((ANY,)) if base in LOOKUP else state
    return Found(flow=(state, state))


def _gets(running: Running) -> Found:
    """`getopts OPTIONS NAME`."""
    return _filled(running, (*running.texts[2:3], "OPTARG", "OPTIND"))


def _fills(running: Running) -> Found:
    """`mapfile -C TEXT` runs TEXT for the lines it reads."""
    texts = running.texts
    code = [following for text, following in pairwise(texts) if text == "-C"]
    code += [text[2:] for text in texts[1:] if text.startswith("-C") and len(text) > 2]
    options = split_options(texts[1:], "dnOsuCc", ())
    found = _filled(running, (*options.operands, "MAPFILE"))
    inner = tuple(command for text in code for command in running.text(f"{text} {ANY}")[0])
    doubt = UNKNOWN_CODE if ANY in "".join(code) else None
    return structs.replace(found, inner=inner, unknown=found.unknown or doubt)


def _printf(running: Running) -> Found:
    first = running.texts[1] if len(running.texts) > 1 else ""
    if not is_static(first):
        return Found(flow=(running.state.forget(), running.state.forget()))
    if not first.startswith("-v"):
        return Found()
    name = first[2:] or "".join(running.texts[2:3])
    return _filled(running, (name,))


def _let(running: Running) -> Found:
    text = " ".join(running.texts[1:])
    state = running.state
    code = value_evaluates_code(text, state)
    for name in re.findall(r"[A-Za-z_]\w*", text):
        state = state.assign_number(name)
    return Found(flow=(state, state), unknown=UNKNOWN_CODE if code else None)


def _test(running: Running) -> Found:
    """`test -v NAME` evaluates the subscript of the name."""
    for operator, name in pairwise(running.texts):
        if operator == "-v" and not is_name(name):
            return Found(unknown=UNKNOWN_CODE)
        if operator == "-v" and evaluates_code(name.partition("[")[2], running.state):
            return Found(unknown=UNKNOWN_CODE)
    return Found(unknown=UNKNOWN_CODE if ANY in running.texts else None) if "-v" in running.texts else Found()


def _declare(running: Running) -> Found:
    """`builtin export X=1`: assignments written as words."""
    state: State = running.state
    for text in running.texts[1:]:
        state = declared(running.walker, text, running.texts, state, running.doubts)
    if running.walker.namerefs:
        state = structs.replace(state, unsure=True)
    return Found(flow=(state, state))


def _alias(running: Running) -> Found:
    """A later line may use an alias. Its text is judged here and on that line."""
    state = running.state
    inner: list[Command] = []
    for text in running.texts[1:]:
        name, given, value = text.partition("=")
        if given:
            state = structs.replace(state, aliases={**state.aliases, name: value})
            inner.extend(running.text(value)[0])
    unknown = UNKNOWN_CODE if any(not is_static(text) for text in running.texts[1:]) else None
    return Found(inner=tuple(inner), flow=(state, state), unknown=unknown)


def _hash(running: Running) -> Found:
    """`hash -p /bin/rm ls`: ls is now rm."""
    options = split_options(running.texts[1:], "p", ())
    paths = options.values(("p",))
    if not paths:
        return Found()
    named = dict.fromkeys(options.operands, paths[-1])
    state = structs.replace(running.state, aliases={**running.state.aliases, **named})
    return Found(flow=(state, state), unknown=None if is_static(paths[-1]) else UNKNOWN_CODE)


def _enable(running: Running) -> Found:
    loads = any(text.startswith("-") and "f" in text for text in running.texts[1:])
    return Found(unknown="it loads code into the shell" if loads else None)


def _held(letters: str, *, texts: str = "") -> Builtin:
    """A builtin with options that hold a command (`letters`) or text that bash expands (`texts`)."""

    def run(running: Running) -> Found:
        options = split_options(running.texts[1:], letters + texts + "ofpq", ())
        inner: list[Command] = []
        for value in options.values(letters):
            inner.extend(
                running.text(value.rpartition('":')[2].strip("\"' ") if letters == "x" else value)[0]
            )
        for value in options.values(texts):
            inner.extend(running.text(f': "{value}"')[0])
        dynamic = any(not is_static(text) for text in running.texts[1:])
        return Found(inner=tuple(inner), unknown=UNKNOWN_CODE if dynamic else None, own=len(running.words))

    return run


def _history(running: Running) -> Found:
    """`fc` runs what the history holds; `fc -l` prints it."""
    lists = any(text.startswith("-") and "l" in text for text in running.texts[1:])
    return Found(unknown=None if lists else UNKNOWN_CODE)


def _wait(running: Running) -> Found:
    """`wait -p NAME`."""
    return _filled(running, split_options(running.texts[1:], "p", ()).values(("p",)))


def _jobs(running: Running) -> Found:
    """`jobs -x CMD`."""
    runs = running.texts[1:2] == ("-x",) and len(running.words) > 2
    return Found(inner=running.argv(running.words[2:], direct=False) if runs else ())


def _shopt(running: Running) -> Found:
    texts = running.texts[1:]
    last = "lastpipe" in texts or not all(is_static(text) for text in texts)
    state = structs.replace(running.state, globs=False, lastpipe=running.state.lastpipe or last)
    return Found(flow=(state, state))


BUILTINS: dict[str, Builtin] = {
    "cd": _cd,
    "pushd": _cd,
    "popd": _somewhere,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "trap": _trap,
    "set": _set,
    "shift": _shift,
    "read": _reads,
    "mapfile": _fills,
    "readarray": _fills,
    "getopts": _gets,
    "unset": _declare,
    "printf": _printf,
    "let": _let,
    "test": _test,
    "[": _test,
    "export": _declare,
    "declare": _declare,
    "typeset": _declare,
    "local": _declare,
    "readonly": _declare,
    "alias": _alias,
    "hash": _hash,
    "enable": _enable,
    "shopt": _shopt,
    "complete": _held("C", texts="W"),
    "compgen": _held("C", texts="W"),
    "bind": _held("x"),
    "fc": _history,
    "wait": _wait,
    "jobs": _jobs,
}

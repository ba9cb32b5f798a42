"""What a command itself runs: wrappers, shells, functions, options that hold commands.

The tables that drive this are `facts.shell_wrappers` and `facts.shell_code`, `BUILTINS` and `NESTED`.
"""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote
from typing import TYPE_CHECKING

from msgspec import structs

from checkrein.facts.shell_programs import DATA, OWN_NAMES, STARTERS
from checkrein.facts.shell_words import words as word_set
from checkrein.facts.shell_wrappers import SHELLS, WRAPPERS, Wrapper
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.doubts import IN_FUNCTION, Doubts
from checkrein.policy.shell.invocation import UNKNOWN_CODE, Found, Running, parameters
from checkrein.policy.shell.peel import Peeled, peel
from checkrein.policy.shell.program import Command, Word
from checkrein.policy.shell.state import Flow, State, join
from checkrein.policy.shell.walks import Walks

if TYPE_CHECKING:
    from tree_sitter import Node

_RESERVED = word_set("if then elif else fi for while until do done case esac select function in } ]] !")

_UNKNOWN_NAME = "the name of the command is unknown"


def execute(
    walker: Walks,
    words: tuple[Word, ...],
    source: Node | None,
    state: State,
    doubts: Doubts,
    *,
    direct: bool = False,
) -> Found:
    """What the words run. `direct`: as a program or builtin, whatever functions and aliases exist."""
    name = words[0].text
    running = Running(walker, words, source, state, doubts)
    if not is_static(name):
        return Found(unknown=_UNKNOWN_NAME, inner=_rest_of_unknown(running))
    if name in _RESERVED:
        walker.problem(f"`{name}` is in the place of a command")
        return Found(inner=running.argv(words[1:], direct=False))
    if name == "{":
        return Found(inner=running.argv(words[1:], direct=False))
    if direct or not (name in state.functions or name in state.aliases):
        return _program(running)
    if name in state.functions and name not in state.unsettled and not _is_special(name):
        return _call(running, name)
    found = [_program(running)]
    if name in state.functions:
        found.append(_call(running, name))
    if name in state.aliases:
        text = " ".join((state.aliases[name], *(quote(word) for word in running.texts[1:])))
        inner, flow = running.text(text, _without(state, name))
        found.append(Found(inner=inner, flow=flow))
    return _either(found, state)


def _is_special(name: str) -> bool:
    """Whether a name means something to Checkrein, so that a function of that name may hide a command."""
    from checkrein.policy.shell.builtins import BUILTINS
    from checkrein.policy.shell.nested import NESTED, nested_name

    base = name.rsplit("/", 1)[-1]
    known = name in BUILTINS or base in WRAPPERS or nested_name(base) in NESTED
    return known or any(key.startswith(f"{base} ") for key in WRAPPERS)


def _either(found: Sequence[Found], state: State) -> Found:
    """What runs when one of these does, and it is not known which."""
    ok, fail = found[0].flow or (state, state)
    for one in found[1:]:
        other = one.flow or (state, state)
        ok, fail = join(ok, other[0]), join(fail, other[1])
    return structs.replace(
        found[0],
        inner=tuple(command for one in found for command in one.inner),
        transparent=False,
        unknown=next((one.unknown for one in found if one.unknown), None),
        opaque=next((one.opaque for one in found if one.opaque), None),
        flow=(ok, fail),
    )


def _program(running: Running) -> Found:
    """The words as a builtin, a wrapper or a program."""
    from checkrein.policy.shell.builtins import BUILTINS
    from checkrein.policy.shell.nested import NESTED, nested_name
    from checkrein.policy.shell.places import turned

    name, words = running.words[0].text, running.words
    builtin = BUILTINS.get(name)
    if builtin is not None:
        return builtin(running)
    if name.startswith(("/proc/", "/dev/")):
        return Found(unknown=_UNKNOWN_NAME, inner=running.argv((Word("bash"), *words[1:])))
    base = name.rsplit("/", 1)[-1]
    if base.startswith("git-"):
        from checkrein.policy.shell.git_runs import dashed

        return Found(inner=dashed(running), own=len(words))
    running = structs.replace(running, state=turned(running.state, base, running.texts))
    wrapper, skip = _wrapper_of(base, running.texts)
    handler = NESTED.get(nested_name(base))
    if wrapper is None:
        found = handler(running) if handler is not None else Found(inner=_started(running, base))
        return structs.replace(found, own=0 if base in SHELLS else len(words))
    found = _wrapped(running, wrapper, skip, plain=base == name)
    if handler is None:
        return found
    other = handler(running)
    return structs.replace(
        found,
        inner=(*found.inner, *other.inner),
        unknown=found.unknown or other.unknown,
        opaque=found.opaque or other.opaque,
        transparent=found.transparent and not other.inner,
    )


def _started(running: Running, base: str) -> tuple[Command, ...]:
    """What an unknown program may start: a shell or a wrapper among its words."""
    if base in DATA or base in OWN_NAMES:
        return ()
    for at, word in enumerate(running.words[1:-1], 1):
        if word.text.rsplit("/", 1)[-1] in STARTERS:
            return running.argv(running.words[at:])
    return ()


def _rest_of_unknown(running: Running) -> tuple[Command, ...]:
    """If the name may be empty, the next word may be the command."""
    if running.words[0].text != ANY or len(running.words) < 2:
        return ()
    return running.argv(running.words[1:], direct=False)


def _call(running: Running, name: str) -> Found:
    state = running.state
    running.walker.called.add(name)
    inside = structs.replace(state, params=parameters(running.texts[1:]))
    body = state.functions[name]
    outer, running.walker.locals = running.walker.locals, set()
    try:
        ok, fail = running.walker.call(body, inside, (*running.doubts, IN_FUNCTION))
        return Found(flow=(_back(ok, running), _back(fail, running)))
    finally:
        running.walker.locals = outer


def _back(after: State, running: Running) -> State:
    """The state after a call: parameters and local variables are the caller's again."""
    before = running.state
    names = running.walker.locals
    kept = {name: values for name, values in after.variables.items() if name not in names}
    kept |= {name: before.variables[name] for name in names if name in before.variables}
    return structs.replace(after, params=before.params, variables=kept)


def _without(state: State, alias: str) -> State:
    return structs.replace(
        state, aliases={name: text for name, text in state.aliases.items() if name != alias}
    )


def _wrapper_of(base: str, texts: Sequence[str]) -> tuple[Wrapper | None, int]:
    """The wrapper, if the command is one, and how many words its name has."""
    found = WRAPPERS.get(base)
    if found is not None:
        return found, 1
    for at, text in enumerate(texts[1:], 1):
        if text.startswith("-"):
            continue
        found = WRAPPERS.get(f"{base} {text}")
        if found is not None:
            return found, at + 1
        if not texts[at - 1].startswith("-"):
            break  # what follows an option may be its value
    return None, 1


def _wrapped(running: Running, wrapper: Wrapper, skip: int, *, plain: bool) -> Found:
    from checkrein.policy.shell.env_text import expands

    peeled = peel(wrapper, running.words[skip:])
    if peeled.query:
        return Found()
    inner: list[Command] = []
    unknown = UNKNOWN_CODE if peeled.unclear else None
    flow: Flow | None = None
    for text in peeled.texts:
        if wrapper.assigns:
            inner.extend(_split_string(running, text, peeled.rest))
        else:
            inner.extend(running.sh(text))
        fills = wrapper.assigns and expands(text)
        unknown = UNKNOWN_CODE if ANY in text or fills else unknown
    rest = [Word("bash"), *peeled.rest] if wrapper.shell_words else _filled(wrapper, peeled)
    group = next((at for at, word in enumerate(rest) if word.text == "{"), None)
    if group is not None:
        running.walker.problem("a group follows a word")
        inner.extend(running.argv(rest[group + 1 :]) if rest[group + 1 :] else ())
    if wrapper.text and rest:
        text = " ".join(word.text for word in rest)
        inner.extend(running.sh(text))
        unknown = UNKNOWN_CODE if any(ANY in word.text and word.doubt for word in rest) else unknown
    elif rest and not (peeled.texts and wrapper.assigns):
        for name, value in peeled.assigns:
            _carry(running, name, value)
            running = structs.replace(running, state=running.state.assign(name, (value,)))
        if wrapper.piped:
            running = structs.replace(running, state=structs.replace(running.state, stdin=ANY))
        commands, after = running.argv_flow(rest, direct=not wrapper.looks_up)
        inner.extend(commands)
        flow = after if wrapper.same_shell else None
    if wrapper.alone and not rest and not peeled.texts and running.state.stdin:
        inner.extend(running.sh(running.state.stdin, structs.replace(running.state, stdin=ANY)))
        unknown = UNKNOWN_CODE if ANY in running.state.stdin else unknown
    if wrapper.appends and wrapper.text and not rest:
        unknown = UNKNOWN_CODE  # each line of the input is a command
    if wrapper.suffixes:
        for at in range(1, len(rest)):
            inner.extend(running.argv(rest[at:]))
    transparent = wrapper.transparent and plain and (peeled.bare or not wrapper.bare) and len(inner) == 1
    if wrapper.appends and inner:
        inner = [structs.replace(one, unknown_words=True) for one in inner]
    return Found(
        inner=tuple(inner),
        transparent=transparent,
        read_only=transparent and wrapper.read_only,
        prefixable=wrapper.prefixable,
        unknown=unknown,
        own=len(running.words) - len(peeled.rest),
        flow=flow,
    )


def _split_string(running: Running, text: str, rest: Sequence[Word]) -> tuple[Command, ...]:
    """`env -S TEXT`: the text is split into words that replace it."""
    from checkrein.policy.shell.env_text import split_string

    split = split_string(text)
    if split is None:
        running.walker.problem("it can't split a text into words")
    words = text.split() if split is None else split
    return running.argv((running.words[0], *(Word(one) for one in words), *rest))


def _carry(running: Running, name: str, value: str) -> None:
    from checkrein.policy.shell.assign import commands_in_variable

    commands_in_variable(running.walker, name, value, running.state, running.doubts)


def _filled(wrapper: Wrapper, peeled: Peeled) -> list[Word]:
    """The inner words with a place for the unknown ones: at the end, or at `{}`."""
    rest = list(peeled.rest)
    if not wrapper.appends:
        return rest
    if not rest:
        rest = [Word("echo")] if not wrapper.text else []
    mark = peeled.replace or "{}"
    if any(mark in word.text for word in rest):
        return [structs.replace(word, text=word.text.replace(mark, ANY)) for word in rest]
    return [*rest, Word(ANY)] if rest else rest

"""Assignments: `X=rm`, `A=(a b)`, `X+=y`, `export X=1`, `declare`, `unset`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from checkrein.base.later import later
from checkrein.facts.shell_env import (
    COMMANDS,
    FUNCTION_PREFIX,
    HARMLESS_VALUES,
    LOOKUP,
    PROMPTS,
    REPLACING,
    REPLACING_PATTERN,
    SEARCH_PATHS,
    SOURCED,
    TABLES,
)
from checkrein.policy.abstract import ANY
from checkrein.policy.shell.doubts import Doubts
from checkrein.policy.shell.evaluated import is_name, is_number, value_evaluates_code
from checkrein.policy.shell.grammar import text_of
from checkrein.policy.shell.program import Command
from checkrein.policy.shell.redirect import accesses
from checkrein.policy.shell.state import Choices, Flow, State
from checkrein.policy.shell.walks import Walks
from checkrein.policy.shell.words import Reader

if TYPE_CHECKING:
    from tree_sitter import Node


_NAME = later(r"[A-Za-z_]\w*")
_HARMLESS = later(HARMLESS_VALUES)
_FOLDERS = later(r"[\w.-][\w./-]*(?::[\w.-][\w./-]*)*")
_REPLACING = later(REPLACING_PATTERN)
NUMBER = "it computes a number from text that may hold code"


def assignments(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """One or more assignments without a command: they stay."""
    nodes = [node] if node.type == "variable_assignment" else node.named_children
    for one in nodes:
        if one.type == "variable_assignment":
            state = assign(walker, one, state, doubts)
        elif one.type != "comment":
            walker.problem(f"`{text_of(one)[:40]}` is not understood ({one.type})")
    return state, state


def assign(walker: Walks, node: Node, state: State, doubts: Doubts) -> State:
    """The state after one assignment, with every value that the variable may get."""
    name, after = "", state
    choices = Choices()
    values: dict[str, None] = {}
    while True:
        reader = Reader(walker, state, choices, doubts)
        name, text, array = read_assignment(reader, node)
        if array is not None:
            after = _array(node, reader.state, name, array)
            break
        values[text] = None
        if not choices.advance():
            number = (
                is_number(node.children[-1], state) and node.children[0].type != "subscript" and _is_set(node)
            )
            after = reader.state.assign_number(name) if number else reader.state.assign(name, tuple(values))
            break
    if walker.numbers and any(value_evaluates_code(value, state) for value in values):
        walker.problem(NUMBER)
    for value in values or {ANY: None}:
        commands_in_variable(walker, name, value, state, doubts)
    if walker.exports:
        for value in values:
            walker.commands.append(Command(words=("export", f"{name}={value}"), raw=name, cwds=state.cwds))
    if name in LOOKUP:
        after = after.move((ANY,))
    if name in TABLES:
        walker.problem(f"{name} gives commands other names")
    return after


def _is_set(node: Node) -> bool:
    return any(child.type == "=" for child in node.children)


def _array(node: Node, state: State, name: str, values: tuple[str, ...]) -> State:
    if any(child.type == "+=" for child in node.children):
        before = state.arrays.get(name)
        return state.assign(name, (ANY,)) if before is None else state.assign_array(name, (*before, *values))
    return state.assign_array(name, values)


def read_assignment(reader: Reader, node: Node) -> tuple[str, str, tuple[str, ...] | None]:
    """(name, value, elements when it is an array)."""
    target = node.children[0]
    name = text_of(target.children[0]) if target.type == "subscript" and target.children else text_of(target)
    if not _NAME.fullmatch(name):
        reader.walker.problem(f"`{name}` is not the name of a variable")
    value = node.children[-1] if node.child_count > 2 else None
    operator = next((child.type for child in node.children if child.type in ("=", "+=")), "=")
    if target.type == "subscript":
        reader.walker.arithmetic(target, reader.state, reader.doubts)
    if value is not None and value.type == "array":
        found: list[str] = []
        for child in value.named_children:
            if child.type == "variable_assignment" or text_of(child).startswith("["):
                reader.walker.arithmetic(child, reader.state, reader.doubts)
                return name, ANY, None
            if child.type != "comment":
                found.extend(word.text for word in reader.fields(child))
        return name, "", tuple(found)
    text = reader.value(value) if value is not None else ""
    if target.type == "subscript":
        return name, ANY, None
    if operator == "+=":
        text = reader.choices.pick(reader.state.values(name)) + text
    return name, text, None


def commands_in_variable(walker: Walks, name: str, value: str, state: State, doubts: Doubts) -> None:
    """Some variables hold commands that other programs, or bash itself, run."""
    if name in COMMANDS and value:
        inner, _ = walker.collect(lambda: walker.text(value, state, doubts))
        unknown = "the command in a variable is unknown" if ANY in value else None
        walker.commands.append(
            Command(words=(f"{name}=",), raw=name, inner=inner, unknown=unknown, cwds=state.cwds)
        )
    elif name in PROMPTS and ("$" in value or "`" in value or ANY in value):
        inner, _ = walker.collect(lambda: walker.text(f': "{value}"', state, doubts))
        walker.commands.append(Command(words=(f"{name}=",), raw=name, inner=inner, cwds=state.cwds))
    elif name in SOURCED:
        walker.commands.append(
            Command(
                words=(f"{name}=",),
                raw=name,
                reads=(accesses(value, state),),
                opaque_code="a file of commands runs first",
                cwds=state.cwds,
            )
        )
    elif (name in REPLACING or _REPLACING.fullmatch(name)) and not _is_harmless(name, value):
        walker.commands.append(
            Command(
                words=(f"{name}=",), raw=name, opaque_code="other code may run in its place", cwds=state.cwds
            )
        )
    elif name.startswith(FUNCTION_PREFIX):
        walker.problem("a variable passes a function on")


def _is_harmless(name: str, value: str) -> bool:
    """A value that loads nothing, or only code of the project."""
    if name in SEARCH_PATHS and _FOLDERS.fullmatch(value):
        return ".." not in value
    return _HARMLESS.fullmatch(value) is not None


def declaration(walker: Walks, node: Node, state: State, doubts: Doubts) -> Flow:
    """`export`, `declare`, `local`, `readonly`, `typeset`, `unset`: builtins that the grammar knows."""
    from checkrein.policy.shell.simple import emit

    reader = Reader(walker, state, Choices(), doubts)
    words = [text_of(node.children[0])]
    for child in node.children[1:]:
        reader.state = state
        if child.type == "variable_assignment":
            state = assign(walker, child, state, doubts)
            if walker.namerefs and not is_name(text_of(child).partition("=")[2]):
                walker.problem("it computes the name of a variable")
            if words[0] == "local":
                walker.locals.add(text_of(child.children[0]))
            words.append(text_of(child))
        elif child.type == "variable_name":
            known = state.variables.get(text_of(child), ()) if words[0] == "export" else ()
            words.extend(f"{text_of(child)}={value}" for value in known)
            if not known:
                words.append(text_of(child))
            if words[0] == "unset":
                state = unset(state, text_of(child), words)
        elif child.is_named and child.type not in ("comment",):
            fields = reader.fields(child)
            state = reader.state
            for word in fields:
                words.append(word.text)
                state = declared(walker, word.text, words, state, doubts)
    if walker.namerefs:
        state = structs.replace(state, unsure=True)
    emit(walker, node, tuple(words), state, doubts)
    return state, state


def declared(walker: Walks, word: str, words: Sequence[str], state: State, doubts: Doubts) -> State:
    """The state after one word of a declaration that is not written as an assignment: `-i`, `"X=rm"`, `X`."""
    if word.startswith(("-", "+")):
        flags = word[1:] if word.startswith("-") else ""
        walker.numbers = walker.numbers or "i" in flags
        walker.namerefs = walker.namerefs or ("n" in flags and words[0] not in ("export", "unset"))
        return state
    if words[0] == "unset":
        return unset(state, word, words) if is_name(word) else _computed(walker, state)
    name, given, value = word.partition("=")
    name = name.removesuffix("+") if given else name
    if not is_name(name):
        return _computed(walker, state)
    base = name.partition("[")[0]
    if not given:
        return state
    if walker.numbers and value_evaluates_code(value, state):
        walker.problem(NUMBER)
    commands_in_variable(walker, base, value, state, doubts)
    if words[0] == "local":
        walker.locals.add(base)
    lists = value.startswith("(") or word.partition("=")[0].endswith("+") or "[" in name
    cased = any(one.startswith("-") and not {"l", "u", "c"}.isdisjoint(one) for one in words)
    after = state.assign(base, (ANY,) if lists or cased else (value,))
    return after.move((ANY,)) if base in LOOKUP else after


def _computed(walker: Walks, state: State) -> State:
    walker.problem("it computes the name of a variable")
    return state.forget()


def unset(state: State, name: str, words: Sequence[str]) -> State:
    """The state after `unset NAME`: of a variable, else of a function."""
    flags = "".join(word for word in words[1:] if word.startswith("-"))
    if "v" not in flags:
        state = state.undefine(name) if "f" in flags else _perhaps(state, name)
    if "f" in flags:
        return state
    return state.assign(name, ("",)) if "[" not in name else state.assign(name.partition("[")[0], (ANY,))


def _perhaps(state: State, name: str) -> State:
    if name not in state.functions:
        return state
    return structs.replace(state, unsettled=state.unsettled | {name})

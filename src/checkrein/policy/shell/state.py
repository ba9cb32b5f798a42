"""What is known at one point of the text: variables, directories, functions, input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from checkrein.base.later import later
from checkrein.facts.shell_env import INFLUENTIAL, SAFE, SPLITTING
from checkrein.policy.abstract import ANY

if TYPE_CHECKING:
    from tree_sitter import Node

_INFLUENTIAL = later(INFLUENTIAL)
MAX_VALUES = 6
_MAX_LENGTH = 8192
UNKNOWN: tuple[str, ...] = (ANY,)


class State(Struct, frozen=True, kw_only=True):
    """`variables` maps a name to every value it may have here; a name not in it may be anything.

    `cwds` are the directories the shell may be in. `params` are the positional parameters, None when unknown.
    `stdin` is the text on the input: empty for none, ANY when unknown.
    """

    home: str
    cwds: tuple[str, ...]
    variables: Mapping[str, tuple[str, ...]] = {}
    arrays: Mapping[str, tuple[str, ...]] = {}
    numbers: frozenset[str] = frozenset()
    """Variables whose value is a number, although it is not known which."""
    looped: frozenset[str] = frozenset()
    """Variables of loops over numbers, or over globs with a known start."""
    functions: Mapping[str, Node] = {}
    unsettled: frozenset[str] = frozenset()
    """Functions that may not exist here: only one of the ways to this point defines them."""
    aliases: Mapping[str, str] = {}
    params: tuple[str, ...] | None = ()
    stdin: str = ""
    fed: str = ""
    """Known text on an input, or in a word, that is not known as a whole."""
    splits: bool = True
    """Blanks separate words: IFS has not changed."""
    globs: bool = True
    """Globs have their default meaning: no shopt has changed."""
    moved: bool = False
    influenced: bool = False
    """The text set a variable that changes what commands do."""
    unsure: bool = False
    """Any variable may change at any time: through a reference, or in a trap."""
    lastpipe: bool = False
    """The last part of a pipeline runs in this shell."""

    def values(self, name: str) -> tuple[str, ...]:
        if self.unsure:
            return UNKNOWN
        found = self.variables.get(name)
        if found is not None:
            return found
        if name == "HOME":
            return (self.home,)
        if name == "PWD":
            return self.cwds
        return UNKNOWN

    def assign(self, name: str, values: tuple[str, ...]) -> State:
        known = len(values) <= MAX_VALUES and all(len(value) <= _MAX_LENGTH for value in values)
        changed = {**self.variables, name: values if known else UNKNOWN}
        arrays = {key: value for key, value in self.arrays.items() if key != name}
        influenced = self.influenced or (name not in SAFE and _INFLUENTIAL.fullmatch(name) is not None)
        return structs.replace(
            self,
            variables=changed,
            arrays=arrays,
            numbers=self.numbers - {name},
            looped=self.looped - {name},
            influenced=influenced,
            splits=self.splits and name not in SPLITTING,
        )

    def assign_number(self, name: str) -> State:
        state = self.assign(name, UNKNOWN)
        return structs.replace(state, numbers=state.numbers | {name})

    def assign_loop(self, name: str, values: tuple[str, ...]) -> State:
        state = self.assign(name, values)
        return structs.replace(state, looped=state.looped | {name})

    def define(self, name: str, body: Node) -> State:
        return structs.replace(
            self, functions={**self.functions, name: body}, unsettled=self.unsettled - {name}
        )

    def undefine(self, name: str) -> State:
        left = {key: body for key, body in self.functions.items() if key != name}
        return structs.replace(self, functions=left, unsettled=self.unsettled - {name})

    def child(self) -> State:
        """What a shell that this one starts knows: exported variables, and no functions or aliases."""
        variables = {name: tuple(dict.fromkeys((*values, ""))) for name, values in self.variables.items()}
        return structs.replace(
            self,
            variables=variables,
            arrays={},
            looped=frozenset(),
            functions={},
            unsettled=frozenset(),
            aliases={},
            splits=True,
            globs=True,
            unsure=False,
            lastpipe=False,
        )

    def assign_array(self, name: str, values: tuple[str, ...]) -> State:
        state = self.assign(name, values[:1] or ("",))
        if sum(len(value) for value in values) > _MAX_LENGTH:
            return state.assign(name, UNKNOWN)
        return structs.replace(state, arrays={**state.arrays, name: values})

    def forget(self) -> State:
        """Any variable may have changed."""
        known = dict.fromkeys((*self.variables, "HOME", "PWD"), UNKNOWN)
        return structs.replace(
            self, variables=known, arrays={}, numbers=frozenset(), looped=frozenset(), params=None
        )

    def move(self, cwds: tuple[str, ...]) -> State:
        if cwds == self.cwds:
            return self
        return structs.replace(self, cwds=cwds, moved=True)


Flow = tuple[State, State]
"""The state after success, and after failure."""


def join(one: State, other: State) -> State:
    """What is known when either state may hold."""
    if one is other or one == other:
        return one
    names = dict.fromkeys((*one.variables, *other.variables))
    variables = {name: _union(one.values(name), other.values(name)) for name in names}
    arrays = {name: value for name, value in one.arrays.items() if other.arrays.get(name) == value}
    return State(
        home=one.home,
        cwds=_union(one.cwds, other.cwds),
        variables=variables,
        arrays=arrays,
        numbers=one.numbers & other.numbers,
        looped=one.looped & other.looped,
        functions={**other.functions, **one.functions},
        unsettled=one.unsettled | other.unsettled | (one.functions.keys() ^ other.functions.keys()),
        aliases={**other.aliases, **one.aliases},
        params=one.params if one.params == other.params else None,
        stdin=one.stdin if one.stdin == other.stdin else ANY,
        fed=one.fed or other.fed,
        splits=one.splits and other.splits,
        globs=one.globs and other.globs,
        moved=one.moved or other.moved,
        influenced=one.influenced or other.influenced,
        unsure=one.unsure or other.unsure,
        lastpipe=one.lastpipe or other.lastpipe,
    )


def _union(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    merged = tuple(dict.fromkeys((*one, *other)))
    return merged if len(merged) <= MAX_VALUES else UNKNOWN


class Choices:
    """Walks through all combinations of possible values; blurs when there are too many."""

    LIMIT = 12

    def __init__(self) -> None:
        self._path: list[list[int]] = []
        self._at = 0
        self._round = 0
        self.blurred = False

    @property
    def first(self) -> bool:
        return self._round == 0

    def pick(self, options: tuple[str, ...]) -> str:
        if len(options) == 1:
            return options[0]
        if self.blurred or not options:
            return ANY
        if self._at == len(self._path):
            self._path.append([0, len(options)])
        chosen, count = self._path[self._at]
        self._at += 1
        return options[chosen] if count == len(options) else ANY

    def advance(self) -> bool:
        """Go to the next combination; False after the last one."""
        self._at = 0
        self._round += 1
        if self.blurred:
            return False
        if self._round >= self.LIMIT:
            self.blurred = True
            return True
        while self._path:
            self._path[-1][0] += 1
            if self._path[-1][0] < self._path[-1][1]:
                return True
            self._path.pop()
        return False

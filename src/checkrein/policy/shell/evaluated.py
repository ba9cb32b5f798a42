"""Text that bash evaluates once more: arithmetic, subscripts, names of variables.

Arithmetic evaluates the values of its variables, and runs a substitution in a subscript that such a value
holds: `x='a[$(cmd)]'; echo $((x))` runs cmd.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from checkrein.base.later import later
from checkrein.facts.shell_code import NUMBER_COMMANDS, NUMBER_VARIABLES
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.grammar import text_of
from checkrein.policy.shell.state import State

if TYPE_CHECKING:
    from tree_sitter import Node

_NAME = later(r"[A-Za-z_]\w*")
_PARAMETER = later(r"\$\{?(\d+|[@*])")
_CODE = later(r"\$\(|`|\$\{|[<>]\(")
_QUOTING = later(r"[\\'\"]")
_SUBSTITUTION = later(r"\$\((?!\()|`")
_NUMBER = later(NUMBER_COMMANDS, re.DOTALL)
_ARRAY = later(r"[A-Za-z_]\w*\[[\w@*+-]*\]|[A-Za-z_]\w*")
_DEFAULT = later(r"\$\{([A-Za-z_]\w*):?=")


def evaluates_code(text: str, state: State) -> bool:
    """Whether the evaluation of this source text may run code that a variable or a quoted text holds."""
    text = _NUMBER.sub("0", text)
    quoted = "'" in text or "\\" in text
    if (_CODE if quoted else _SUBSTITUTION).search(_QUOTING.sub("", text)) or ("$'" in text and "\\" in text):
        return True
    for name in _PARAMETER.findall(text):
        if state.params is None or name == "0":
            return True
        wanted = state.params if name in "@*" else state.params[int(name) - 1 : int(name)]
        if any(_holds(value, state, set()) for value in wanted):
            return True
    return any(_variable(name, state, set()) for name in set(_NAME.findall(text)))


_COMPUTED = later(r"\$\{[!#]?\w+(\[.*\])?(:[^-=+?].*)?", re.DOTALL)
"""The subscript and the offset in `${...}`, which are arithmetic."""


def computed_code(source: str, state: State) -> bool:
    """Whether the subscript or the offset of `${...}` may run code."""
    found = _COMPUTED.match(source)
    parts = found.groups() if found else ()
    return any(part and part not in ("[@]", "[*]") and evaluates_code(part, state) for part in parts)


def evaluates_again(node: Node, state: State) -> bool:
    """Whether an expansion, of which only the substitutions are walked, evaluates text that may hold code."""
    if node.type == "arithmetic_expansion":
        return evaluates_code(text_of(node), state)
    if node.type != "expansion":
        return False
    source = text_of(node)
    indirect = source.startswith("${!") and not source.endswith(("*}", "@}", "[*]}", "[@]}"))
    return indirect or source.endswith("@P}") or computed_code(source, state)


def value_evaluates_code(value: str, state: State) -> bool:
    """Whether the evaluation of a known value, or of an unknown one, may run code."""
    return _holds(value, state, set())


def _variable(name: str, state: State, seen: set[str]) -> bool:
    if name in seen or name in NUMBER_VARIABLES:
        return False
    seen.add(name)
    if name in state.numbers:
        return False
    if state.unsure:
        return True
    values = (*state.variables.get(name, ()), *state.arrays.get(name, ()))
    return any(_holds(value, state, seen) for value in values)


def _holds(value: str, state: State, seen: set[str]) -> bool:
    if ANY in value or _CODE.search(value):
        return True
    return any(_variable(name, state, seen) for name in _NAME.findall(value))


def is_name(text: str) -> bool:
    """Whether a word is certainly the plain name of a variable, or of an element with a plain subscript."""
    return is_static(text) and _ARRAY.fullmatch(text) is not None


def defaulted(text: str, state: State) -> State:
    """The state after `${x:=...}` in a text whose words are not read one by one."""
    for name in _DEFAULT.findall(text):
        state = state.assign(name, (ANY,))
    return state


def is_number(node: Node, state: State) -> bool:
    """Whether a word is certainly a number: arithmetic, a count, the output of a command that counts."""
    kind = node.type
    if kind in ("number", "arithmetic_expansion"):
        return True
    text = text_of(node)
    if kind == "string":
        inner = node.named_children[0] if node.named_child_count == 1 else None
        return inner is not None and len(text_of(inner)) == len(text) - 2 and is_number(inner, state)
    if kind == "simple_expansion":
        return text[1:] in NUMBER_VARIABLES or text[1:] in state.numbers
    if kind == "expansion":
        return text.startswith("${#") or (text[2:-1] in state.numbers)
    if kind == "command_substitution":
        shadowed = state.functions or state.aliases
        return not shadowed and _NUMBER.fullmatch(text) is not None
    return False

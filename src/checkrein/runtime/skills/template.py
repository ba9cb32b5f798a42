"""The body of a skill or command as a template: text, and shell commands that their output replaces.

Reading and filling are one pass each: text from an argument or a command's output never counts as a
placeholder or as a command.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

_INLINE = r"(?:(?<=\s)|^)!`(?P<inline>[^`\n]+)`"
_BLOCK = r"^```!\n(?P<block>(?:(?!```(?:!|[ \t]*)$)[^\n]*\n)*)```[ \t]*$"
_COMMAND = re.compile(f"{_BLOCK}|{_INLINE}", re.MULTILINE)


class Piece(Struct, frozen=True):
    """Text, or a command when `command` is set; `line` is where a command starts, from 1."""

    text: str
    command: bool = False
    line: int = 1


class Arguments(Struct, frozen=True):
    """What the user typed after the name: the raw text, its parts, and the names of the parts."""

    raw: str
    parts: tuple[str, ...]
    names: tuple[str, ...] = ()


def arguments(raw: str, names: Sequence[str] = ()) -> Arguments:
    """Split as a shell does; split text with an open quote at blanks."""
    import shlex

    try:
        parts = shlex.split(raw)
    except ValueError:
        parts = raw.split()
    return Arguments(raw, tuple(parts), tuple(names))


def pieces(body: str) -> list[Piece]:
    """The body split at its commands: inline at a line's start or after a blank, or a fence that starts with
    three backticks and `!`."""
    found: list[Piece] = []
    end = 0
    if "!`" not in body and "`!" not in body:
        return [Piece(body)] if body else []
    for match in _COMMAND.finditer(body):
        if match.start() > end:
            found.append(Piece(body[end : match.start()]))
        command = match["block"] if match["block"] is not None else match["inline"]
        found.append(Piece(command.rstrip("\n"), True, body.count("\n", 0, match.start()) + 1))
        end = match.end()
    if end < len(body):
        found.append(Piece(body[end:]))
    return found


def fill(text: str, given: Arguments, variables: Mapping[str, str]) -> str:
    """Replace tokens with arguments and `${...}` variables.

    `$ARGUMENTS` is the raw text, `$ARGUMENTS[N]` and `$N` the part number N from 0, `$name` a declared name;
    a missing part is empty. A single backslash before one of these makes it plain text; before
    `${...}` it does not. Unknown variables stay unchanged.
    """
    return _token(given.names).sub(lambda match: _value(match, given, variables), text)


def has_placeholder(text: str, names: Sequence[str] = ()) -> bool:
    return any(match["slashes"] != "\\" and not match["var"] for match in _token(names).finditer(text))


def _token(names: Sequence[str]) -> re.Pattern[str]:
    declared = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    named = rf"|(?P<name>{declared})(?![\w-])" if declared else r"|(?P<name>(?!))"
    return re.compile(
        rf"(?P<slashes>\\*)\$(?:ARGUMENTS(?:\[(?P<index>\d+)\]|(?!\w))(?P<all>)|(?P<number>\d+)"
        rf"{named}|\{{(?P<var>[A-Za-z_][\w.-]*)\}})"
    )


def _value(match: re.Match[str], given: Arguments, variables: Mapping[str, str]) -> str:
    slashes = match["slashes"]
    if match["var"] is not None:
        value = variables.get(match["var"])
        return match[0] if value is None else slashes + value
    if len(slashes) == 1:
        return match[0][1:]
    if match["name"] is not None:
        return slashes + _part(given, given.names.index(match["name"]))
    index = match["index"] or match["number"]
    return slashes + (given.raw if index is None else _part(given, int(index)))


def _part(given: Arguments, index: int) -> str:
    return given.parts[index] if index < len(given.parts) else ""


def render(
    body: str, given: Arguments, variables: Mapping[str, str], run: Callable[[Piece, str], str]
) -> str:
    """The body as the model gets it. `run` gets a command's piece and its final text and returns the output;
    an exception from it ends the invocation. Arguments without a place in the body follow at the end."""
    parts = []
    for piece in pieces(body):
        filled = fill(piece.text, given, variables)
        parts.append(run(piece, filled) if piece.command else filled)
    text = "".join(parts)
    if given.raw.strip() and not has_placeholder(body, given.names):
        text = f"{text.rstrip()}\n\nARGUMENTS: {given.raw}"
    return text

"""From marked text to fields: the tilde, and the blanks and names that unquoted expansions bring."""

from __future__ import annotations

from checkrein.policy.abstract import ANY, ONE, STAR
from checkrein.policy.shell.braces import Marked
from checkrein.policy.shell.state import Choices, State

BREAK = "\ue005"
"""Ends a field: between the elements of "$@" and of an array."""


def with_home(word: Marked, state: State, choices: Choices) -> Marked:
    """An unquoted tilde at the start of a word."""
    text, marks = word
    if not text.startswith("~") or marks[0] != "u":
        return word
    prefix = text.split("/", 1)[0]
    if "q" in marks[: len(prefix)] or "e" in marks[: len(prefix)]:
        return word
    if prefix == "~":
        value = choices.pick(state.values("HOME"))
    elif prefix == "~+":
        value = choices.pick(state.cwds)
    else:
        value = ANY
    return value + text[len(prefix) :], "q" * len(value) + marks[len(prefix) :]


def split_fields(word: Marked, state: State) -> list[Marked]:
    """Blanks from unquoted expansions end a field.

    A name that a glob found before, as in a loop, may hold blanks itself: unquoted, it may be several words.
    """
    text, marks = word
    if "e" not in marks and BREAK not in text:
        return [word] if text else []
    if not state.splits and "e" in marks:
        return [(ANY, "e")]
    fields: list[Marked] = []
    letters: list[str] = []
    kept: list[str] = []

    def close() -> None:
        if letters:
            fields.append(("".join(letters), "".join(kept)))
            letters.clear()
            kept.clear()

    for char, mark in zip(text, marks, strict=True):
        if char == BREAK or (mark == "e" and char in " \t\n"):
            close()
        else:
            letters.append(ANY if mark == "e" and char in (STAR, ONE) else char)
            kept.append(mark)
    close()
    return fields

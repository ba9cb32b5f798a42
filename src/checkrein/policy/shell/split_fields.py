"""Split marked text into fields at blanks from unquoted expansions."""

from __future__ import annotations

from checkrein.policy.shell.braces import Marked


def split_fields(word: Marked, end: str) -> list[Marked]:
    """`end` is the character that ends a field wherever it is."""
    text, marks = word
    fields: list[Marked] = []
    letters: list[str] = []
    kept: list[str] = []

    def close() -> None:
        if letters:
            fields.append(("".join(letters), "".join(kept)))
            letters.clear()
            kept.clear()

    for char, mark in zip(text, marks, strict=True):
        if char == end or (mark == "e" and char in " \t\n"):
            close()
        else:
            letters.append(char)
            kept.append(mark)
    close()
    return fields

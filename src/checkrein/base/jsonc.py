"""JSON with comments, for files whose agents allow them. Spaces replace everything that is not JSON.

The result has the length and the lines of the text, so a place in one is the same place in the other.
"""

from __future__ import annotations

import re
from typing import Literal

Comments = Literal["none", "comments", "commas"]
"""What a file may hold beside JSON: nothing, comments, or also a comma before a closing bracket."""
_PIECE = r'"(?:[^"\\\n]|\\.)*"?|//[^\r\n]*|/\*.*?(?:\*/|\Z)|[,}\]]|[^\s"/,}\]]+|/'
_NOTES = r"(?:[ \t]*/\*.*?\*/)*([ \t]*//[^\r\n]*)?"
_INK = r"[^\r\n]"


def as_json(text: str, allowed: Comments) -> str:
    """The text as plain JSON, for an agent that allows these extras."""
    if allowed == "none":
        return text
    return strict(text) if allowed == "commas" else without_comments(text)


def without_comments(text: str) -> str:
    """The text with a space in place of every character of a comment."""
    return _blanked(text, commas=False)


def strict(text: str) -> str:
    """The text without comments and without commas before a closing bracket."""
    return _blanked(text, commas=True)


def notes(text: str, at: int) -> tuple[int, bool]:
    """Where comments that start on the line of `at` end, and whether the last one fills its line."""
    found = re.compile(_NOTES, re.DOTALL).match(text, at)
    return (found.end(), found[1] is not None) if found is not None else (at, False)


def before(text: str, at: int) -> tuple[int, bool]:
    """Where the last token or comment before `at` ends, and whether it is a comment that fills its line."""
    end, takes_line = 0, False
    for token in re.compile(_PIECE, re.DOTALL).finditer(text, 0, at):
        end, takes_line = token.end(), token[0].startswith("//")
    return end, takes_line


def _blanked(text: str, *, commas: bool) -> str:
    if "//" not in text and "/*" not in text and not commas:
        return text
    cuts: list[tuple[int, int]] = []
    comma, last = -1, "{"
    for token in re.finditer(_PIECE, text, re.DOTALL):
        said = token[0]
        if said.startswith(("//", "/*")):
            if said.startswith("//") or (said.endswith("*/") and len(said) > 3):
                cuts.append(token.span())
            continue
        if said in ("}", "]") and comma >= 0 and commas:
            cuts.append((comma, comma + 1))
        comma = token.start() if said == "," and last[-1] not in "{[,:" else -1
        last = said
    if not cuts:
        return text
    pieces, at = [], 0
    for begin, end in sorted(cuts):
        pieces += [text[at:begin], re.sub(_INK, " ", text[begin:end])]
        at = end
    return "".join([*pieces, text[at:]])

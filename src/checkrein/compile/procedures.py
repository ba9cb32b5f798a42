"""The separate procedures of a body: which steps belong together, and the title of each.

Counted phases are one procedure, with every list below them; so is a list that goes on counting. A separate
list below another heading is another procedure: a request may call for it or not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from checkrein.compile.blocks import plain
from checkrein.compile.pieces import Piece
from checkrein.facts.compile_words import NUMERALS

_SERIES = re.compile(
    rf"(?:step|phase|stage|layer|part|round|pass)\s+(?:(\d{{1,6}})[a-z]?|{NUMERALS})\b"
    r"|(\d{1,6})[.):]\s",
    re.IGNORECASE,
)
_NAMELESS = "Steps"
_LONGEST = 80
"""Characters of a title."""

Path = tuple[str, ...]
Key = tuple[object, ...]


class _Place(Struct, frozen=True):
    """The place of a step: the procedure it may belong to, and the title of that one. `lead` is the line that
    says when it applies."""

    key: Key
    title: str
    above: str = ""
    lead: str = ""


def told_apart(pieces: list[Piece], written: dict[Path, str]) -> list[Piece]:
    """The pieces, each step with the title of its procedure; without titles when there is only one.
    `written` holds the headings with their numbers."""
    places = list(_places(pieces, written))
    owner = _merged([place.key for _, place in places])
    named: dict[Key, _Place] = {}
    for _, place in places:
        named.setdefault(owner[place.key], place)
    if len(named) < 2:
        return pieces
    titles = _titles(named)
    found = list(pieces)
    for index, place in places:
        found[index] = replace(pieces[index], procedure=titles[owner[place.key]], lead=place.lead)
    return found


def _places(pieces: list[Piece], written: dict[Path, str]) -> Iterator[tuple[int, _Place]]:
    last: _Place | None = None
    section = group = -1
    counts: dict[Key, tuple[int, int]] = {}
    for index, piece in enumerate(pieces):
        if not piece.step:
            continue
        own, under = (piece.block.group, piece.block.section) if piece.block is not None else (-1, -1)
        titles = [written.get(piece.path[: at + 1], piece.path[at]) for at in range(len(piece.path))]
        counted = next((at for at, title in enumerate(titles) if _SERIES.match(title)), None)
        if counted is not None:
            above = piece.path[:counted]
            key = ("series", *above, _generation(counts, above, titles[counted]))
            last = _Place(key, above[-1] if above else piece.title, above[-2] if len(above) > 1 else "")
        elif last is None or not (own == group >= 0 or _goes_on(piece)):
            lead = _lead(pieces, index)
            if last is None or lead or section != under:
                last = _list(piece, index, lead, named=section == under or not piece.path)
        section, group = under, own
        yield index, last


def _list(piece: Piece, index: int, lead: str, *, named: bool) -> _Place:
    """A separate list, named by its heading, or (`named`) by the line above it when that says more."""
    if named and lead and len(lead) <= _LONGEST:
        return _Place(("list", index), lead, piece.path[-1] if piece.path else "")
    above = piece.path[-2] if len(piece.path) > 1 else ""
    return _Place(("list", index), piece.path[-1] if piece.path else piece.title, above, lead)


def _generation(counts: dict[Key, tuple[int, int]], above: Key, title: str) -> int:
    """A series that starts again is a new one."""
    found = _SERIES.match(title)
    written = (found[1] or found[2]) if found is not None else None
    last, generation = counts.get(above, (0, 0))
    number = int(written) if written else last
    if number < last:
        generation += 1
    counts[above] = (number, generation)
    return generation


def _goes_on(piece: Piece) -> bool:
    found = re.match(r"\s*(\d{1,6})", piece.block.text) if piece.block is not None else None
    return found is not None and int(found[1]) > 1


def _lead(pieces: list[Piece], index: int) -> str:
    """The line above a list, when it leads to it."""
    before, block = pieces[index - 1] if index else None, pieces[index].block
    if before is None or before.step or before.block is None or block is None:
        return ""
    if before.block.kind != "paragraph" or before.block.section != block.section:
        return ""
    text = plain(before.text.strip().split("\n")[-1])
    return text.rstrip(": ") if text.endswith(":") else ""


def _merged(keys: list[Key]) -> dict[Key, Key]:
    """Each key with the key it counts as: whatever is between two steps of one procedure belongs to it."""
    first: dict[Key, int] = {}
    last: dict[Key, int] = {}
    for at, key in enumerate(keys):
        first.setdefault(key, at)
        last[key] = at
    owner: dict[Key, Key] = {}
    current: Key = ()
    end = -1
    for key, at in first.items():
        if at > end:
            current = key
        owner[key] = current
        end = max(end, last[key])
    return owner


def _titles(named: dict[Key, _Place]) -> dict[Key, str]:
    """A title for each, with the heading above when two are the same, and a number when they still are."""
    wanted = Counter(_short(place.title) for place in named.values())
    given: Counter[str] = Counter()
    found: dict[Key, str] = {}
    for key, place in named.items():
        title = _short(place.title)
        if wanted[title] > 1 and place.above:
            title = _short(f"{place.above}: {place.title}")
        given[title] += 1
        found[key] = title if given[title] == 1 else f"{title} ({given[title]})"
    return found


def _short(title: str) -> str:
    flat = " ".join(title.split()).rstrip(": ") or _NAMELESS
    return flat if len(flat) <= _LONGEST else flat[: _LONGEST - 1].rstrip() + "…"

"""The elements of a body: steps of its procedures first, then everything between them.

A procedure is a numbered list of instructions, or a run of headings such as `Step 1` and `Phase 2`. A
numbered list inside a phase gives the steps of that phase; a phase without one is a step by itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from bridle.compile.blocks import HEADING, Block, first_line_of, inner, plain, read_blocks
from bridle.compile.tagging import Verdict, is_imperative, tag_block, tag_step
from bridle.facts import compile_words as words

_STEP_HEADING = re.compile(
    r"^(?:step|phase|stage)\s+(?:\d+|[ivx]+|one|two|three|four|five)\b[\s:.–—-]*", re.I
)
_NUMBERED_HEADING = re.compile(r"^\d+(?:\.\d+)*[.):]?\s+")
_LEAD_NUMBER = re.compile(
    r"^(?:(?:step|phase|stage)\s+)?(?:\d+(?:\.\d+)*|[ivx]+\b|one|two|three|four|five)[\s:.)–—-]+", re.I
)


class Piece(Struct, frozen=True):
    """Lines of the body with their tag. `step` is set for steps; `title` is what a step does, in words."""

    start: int
    end: int
    text: str
    verdict: Verdict
    title: str = ""
    heading: str = ""
    step: bool = False
    block: Block | None = None


def split_body(text: str, first_line: int = 1) -> list[Piece]:
    """Every significant line of `text` in at least one piece, in order of their first line."""
    source = text.replace("\r\n", "\n").replace("\r", " ")
    blocks = read_blocks(source, first_line)
    lines = source.split("\n")
    lists = _procedures(blocks)
    sections = dict(_step_sections(blocks, lists))
    pieces: list[Piece] = []
    index = 0
    while index < len(blocks):
        block = blocks[index]
        if index in sections:
            end = sections[index]
            pieces.extend(_section(blocks, index, end, lines, first_line))
            index = end
            continue
        if block.kind != "heading":
            step = block.group in lists and not words.FORBIDS.match(first_line_of(block))
            pieces.extend(_step(block) if step else (_plain(block),))
        index += 1
    return _completed(list(_grouped(_led(pieces))), lines, first_line)


def _completed(pieces: list[Piece], lines: list[str], first_line: int) -> list[Piece]:
    """Lines that are in no block (definitions of links, underlined headings) are elements without effect."""
    covered = {line for piece in pieces for line in range(piece.start, piece.end + 1)}
    nothing = Verdict("NO_DECOMPOSE", "—", "other", 0.9, "a heading or the address of a link")
    for number, line in enumerate(lines, first_line):
        if line.strip() and number not in covered and not HEADING.match(line):
            pieces.append(Piece(number, number, line.strip(), nothing, plain(line)))
    return sorted(pieces, key=lambda piece: (piece.start, not piece.step))


def _led(pieces: list[Piece]) -> list[Piece]:
    """A line that ends in a colon says the same kind of thing as what it leads to."""
    for index in range(len(pieces) - 2, -1, -1):
        piece, following = pieces[index], pieces[index + 1]
        weak = piece.verdict.confidence < 0.75 and not piece.step and piece.text.rstrip("*_ ").endswith(":")
        if weak and piece.heading == following.heading and following.start - piece.end <= 2:
            verdict = following.verdict
            if following.step or verdict.tag in _SEPARATE:
                verdict = Verdict("CONFIG", "C2", "prose", 0.7, "leads to what follows")
            pieces[index] = replace(piece, verdict=verdict)
    return pieces


def _procedures(blocks: list[Block]) -> set[int]:
    """Groups of numbered items that are steps rather than facts or rules."""
    groups: dict[int, list[Block]] = {}
    for block in blocks:
        if block.kind == "item" and block.ordered:
            groups.setdefault(block.group, []).append(block)
    return {number for number, items in groups.items() if _is_procedure(items)}


def _is_procedure(items: list[Block]) -> bool:
    nearest = items[0].path[-1] if items[0].path else ""
    imperative = sum(is_imperative(first_line_of(item)) for item in items)
    if words.NOT_STEPS_HEADING.search(nearest) and not _STEP_HEADING.match(nearest):
        return False
    if words.EXAMPLE_HEADING.search(nearest):
        return False
    if words.PROCEDURE_HEADING.search(nearest) or _STEP_HEADING.match(nearest):
        return len(items) > 1 and imperative * 3 >= len(items)
    return len(items) > 1 and imperative * 2 > len(items)


def _step_sections(blocks: list[Block], lists: set[int]) -> Iterator[tuple[int, int]]:
    """(heading, end) of the sections that are one step each."""
    headings = [(number, block) for number, block in enumerate(blocks) if block.kind == "heading"]
    siblings: dict[tuple[tuple[str, ...], int], list[int]] = {}
    for number, block in headings:
        title = plain(block.text.lstrip("# "))
        parent = block.path[: max(0, len(block.path))]
        above = parent[-1] if parent else ""
        named = _STEP_HEADING.match(title)
        counted = _NUMBERED_HEADING.match(title) and (
            is_imperative(_NUMBERED_HEADING.sub("", title)) and not words.NOT_STEPS_HEADING.search(above)
        )
        if named or counted:
            siblings.setdefault((parent, block.level), []).append(number)
    taken = 0
    for number in sorted(number for group in siblings.values() if len(group) > 1 for number in group):
        if number < taken:
            continue
        end = _section_end(blocks, number)
        inside = blocks[number + 1 : end]
        deeper = any(
            n in group for group in siblings.values() if len(group) > 1 for n in range(number + 1, end)
        )
        if deeper or any(block.group in lists for block in inside):
            continue
        taken = end
        yield number, end


def _section_end(blocks: list[Block], number: int) -> int:
    level = blocks[number].level
    for later in range(number + 1, len(blocks)):
        if blocks[later].kind == "heading" and blocks[later].level <= level:
            return later
    return len(blocks)


def _section(
    blocks: list[Block], number: int, end: int, lines: list[str], first_line: int
) -> Iterator[Piece]:
    heading = blocks[number]
    title = plain(heading.text.lstrip("# "))
    bare = _LEAD_NUMBER.sub("", title) or title
    last = blocks[end - 1].end
    text = "\n".join(lines[heading.start - first_line : last - first_line + 1]).strip()
    verdict = tag_step(bare)
    yield Piece(heading.start, last, text, verdict, bare, title, step=True)
    yield from _commands(blocks[number + 1 : end], title)


def _step(block: Block) -> Iterator[Piece]:
    text = inner(block)
    title = first_line_of(block)
    heading = block.path[-1] if block.path else ""
    yield Piece(block.start, block.end, text, tag_step(text), title, heading, step=True, block=block)
    if "```" in text or "~~~" in text:
        nested = [replace(one, path=block.path) for one in read_blocks(text, block.start)]
        yield from _commands(nested, heading)


def _commands(blocks: list[Block], heading: str) -> Iterator[Piece]:
    """Commands and data shapes inside a step are elements of their own."""
    for block in blocks:
        if block.kind == "fence":
            found = tag_block(block)
            if found.tag in ("TOOL_TEMPLATE", "SCHEMA"):
                yield Piece(block.start, block.end, inner(block), found, heading=heading, block=block)


def _plain(block: Block) -> Piece:
    heading = block.path[-1] if block.path else ""
    text = inner(block) if block.kind in ("fence", "item") else block.text.strip()
    return Piece(block.start, block.end, text, tag_block(block), first_line_of(block), heading, block=block)


def _grouped(pieces: list[Piece]) -> Iterator[Piece]:
    """Neighbours of one section that say the same kind of thing are one element; checks stay separate."""
    held: Piece | None = None
    for piece in pieces:
        if held is not None and _joins(held, piece):
            text = f"{_marked(held)}\n{_marked(piece)}" if held.block else f"{held.text}\n{_marked(piece)}"
            held = Piece(held.start, piece.end, text, held.verdict, held.title, held.heading)
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _marked(piece: Piece) -> str:
    return piece.block.text if piece.block is not None else piece.text


_SEPARATE = ("VALIDATE_OUTPUT", "TOOL_TEMPLATE", "SCHEMA", "CONVERSE", "TOOL_INPUT")


def _joins(one: Piece, other: Piece) -> bool:
    return (
        not one.step
        and not other.step
        and one.heading == other.heading
        and (one.verdict.tag, one.verdict.category) == (other.verdict.tag, other.verdict.category)
        and one.verdict.tag not in _SEPARATE
        and other.start >= one.end
    )

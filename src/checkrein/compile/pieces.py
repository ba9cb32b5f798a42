"""Pieces of a body, and what neighbours say about each other: leads, lists, runs of one kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from checkrein.compile.blocks import HEADING, Block, plain
from checkrein.compile.headings import role_of
from checkrein.compile.judgment import Judgment
from checkrein.facts import compile_words as words

_SENTENCE = re.compile(r"(?<=[.!?]) (?=\W{0,3}[A-Z])")
_LONGEST_LEAD = 300
"""Characters. Everything that a lead leads to keeps it."""
_TOLD = ("CONFIG", "VALIDATE_OUTPUT", "DETERMINISTIC", "TOOL_TEMPLATE")
_TEXTS = ("C1", "C2", "C3", "C6", "C8")
_BOLD_LEAD = re.compile(r"[ \t]*\*\*[^*\n]{1,80}(?::\*\*|\*\*:)[ \t]*\Z")
"""The last line of an item, when it leads to the items after it."""
_SEPARATE = ("VALIDATE_OUTPUT", "TOOL_TEMPLATE", "SCHEMA", "CONVERSE", "TOOL_INPUT")


class Piece(Struct, frozen=True, gc=False):
    """Lines of the body with their tag. `step` is set for steps; `title` is what a step does, in words.

    `path` holds the headings of a step, `procedure` the name of its procedure. `lead` is the line that leads
    to it; a line is `carried` when the model gets it together with what it leads to.
    """

    start: int
    end: int
    text: str
    judgment: Judgment
    title: str = ""
    heading: str = ""
    step: bool = False
    block: Block | None = None
    lead: str = ""
    carried: bool = False
    path: tuple[str, ...] = ()
    procedure: str = ""


def settled(pieces: list[Piece], lines: list[str], first_line: int) -> list[Piece]:
    """All pieces of a text: leads and lists agree, neighbours of one kind become one, no line is missing."""
    return _completed(list(_grouped(_carrying(_listed(_led(pieces))))), lines, first_line)


def _led(pieces: list[Piece]) -> list[Piece]:
    """A line that ends in a colon leads to what follows: it says the same kind of thing, unless it is an
    instruction of its own."""
    for index in range(len(pieces) - 2, -1, -1):
        piece, following = pieces[index], pieces[index + 1]
        if not _leads(piece, following):
            continue
        judgment = _sense(piece, following)
        if judgment is not None:
            pieces[index] = replace(piece, judgment=judgment)
        if _kind(following) == "quote" and words.SAYS_LEAD.search(plain(piece.text)):
            said = Judgment("DETERMINISTIC", "C3", "constant", 0.75, "words to say")
            pieces[index + 1] = replace(following, judgment=said)
    return pieces


def _leads(piece: Piece, following: Piece) -> bool:
    if piece.step or _is_purpose(piece):
        return False
    if _kind(piece) != "heading" and not piece.text.rstrip("*_ ").endswith(":"):
        return False
    return _is_near(piece, following)


def _sense(piece: Piece, following: Piece) -> Judgment | None:
    """What a lead is, by what it leads to; None when it keeps its own tag."""
    own, judgment = piece.judgment, following.judgment
    text = plain(piece.text)
    shown = _kind(following) in ("fence", "table")
    if _kind(following) == "quote" and words.SAYS_LEAD.search(text):
        return Judgment("CONFIG", "C2", "prose", 0.75, "leads to what to say")
    if own.category == "C3" and words.CONDITIONS_LEAD.search(text):
        return Judgment("CONFIG", "C2", "rule", 0.7, "leads to conditions")
    if own.category == "C3" and words.RULES_LEAD.match(text):
        return Judgment("CONFIG", "C2", "rule", 0.7, "leads to rules")
    if own.tag == "VALIDATE_OUTPUT" and (shown or "?" in following.text) and not words.DEMANDS.search(text):
        return Judgment("CONFIG", "C2", "prose", 0.75, "leads to what follows")
    if own.tag == "CONFIG" and (judgment.tag, judgment.category) == ("TOOL_INPUT", "C3"):
        return Judgment("TOOL_INPUT", "C3", "prose", 0.7, "leads to inputs")
    pointer = judgment.tag == "NO_DECOMPOSE" and words.POINTER.match(text)
    if (own.category == "C2" or own.confidence >= 0.75) and not pointer:
        return None
    if following.step or judgment.tag in _SEPARATE:
        names = judgment.tag == "TOOL_TEMPLATE" and own.category == "C3" and len(text) < 60
        return Judgment("CONFIG", "C3" if names else "C2", "prose", 0.7, "leads to what follows")
    if shown or "?" in following.text:
        return Judgment("CONFIG", judgment.category, "prose", 0.7, "leads to what follows")
    return judgment


def _kind(piece: Piece) -> str:
    return piece.block.kind if piece.block is not None else ""


def _is_purpose(piece: Piece) -> bool:
    """Whether it is a paragraph on what the skill is for; a few bold words that only lead on are not."""
    return piece.judgment.category == "C1" and not (
        piece.text.startswith("**") and len(piece.text) < 60 and not (piece.block and piece.block.first)
    )


def _listed(pieces: list[Piece]) -> list[Piece]:
    """Items below a line that ends in a colon: conditions and things to write get their meaning from it."""
    lead: Judgment | None = None
    group = -1
    for index, piece in enumerate(pieces):
        block = piece.block
        if block is None or block.kind != "item" or piece.step:
            lead, group = _lead_of(piece), -1
            continue
        if lead is None or (group not in (-1, block.group)):
            lead = None
            continue
        group = block.group
        own = piece.judgment
        weak = own.confidence < 0.75 and (own.tag, own.category) == ("CONFIG", "C3")
        weak |= lead.tag == "TOOL_INPUT" and own.confidence < 0.8
        if lead.tag == "CONVERSE":
            weak = piece.text.rstrip("\"”'*_) ").endswith("?")
        weak |= lead.category == "C3" and (
            own.tag == "NO_DECOMPOSE" or (own.confidence < 0.7 and own.tag == "CONFIG")
        )
        written = lead.tag == "VALIDATE_OUTPUT" and "?" not in piece.text
        if weak or (written and own.confidence < 0.8):
            pieces[index] = replace(piece, judgment=lead)
    return pieces


def _lead_of(piece: Piece) -> Judgment | None:
    if piece.step or piece.block is None or piece.block.kind != "paragraph":
        return None
    text = plain(piece.text)
    leads = ":" in text
    if len(text) > 120 and ":" not in text[-4:]:
        return None
    if leads and words.QUESTIONS_LEAD.search(text):
        return Judgment("CONVERSE", "C2", "prose", 0.7, "one of the questions to a person")
    if words.GIVES.match(text):
        return Judgment("TOOL_INPUT", "C3", "constant", 0.7, "one of the given things")
    if piece.judgment.category == "C1" and text.endswith(":") and words.ITSELF.search(text):
        return Judgment("CONFIG", "C1", "prose", 0.7, "a part of what it is for")
    if (leads and words.REPORTS.search(text)) or (
        piece.judgment.tag == "VALIDATE_OUTPUT" and text.endswith(":")
    ):
        return Judgment("VALIDATE_OUTPUT", "C2", "check", 0.7, "one of the things to write")
    if words.RULES_LEAD.match(text):
        return Judgment("CONFIG", "C2", "rule", 0.7, "one of the rules")
    if words.OPTIONS_LEAD.match(text) or (len(text) < 60 and role_of(text.rstrip(":")) == "example"):
        return Judgment("CONFIG", "C3", "prose", 0.7, "one of the known things")
    if (leads and words.CONDITIONS_LEAD.search(text)) or (
        len(text) < 40 and text.endswith(":") and role_of(text) == "when"
    ):
        return Judgment("CONFIG", "C2", "rule", 0.7, "one of the conditions")
    return None


def _carrying(pieces: list[Piece]) -> list[Piece]:
    """Keep a line with what it leads to, since the two may end up in different places: without `Never:` a
    rule would ask for what it forbids."""
    above, lead, group = -1, "", -1
    for index, piece in enumerate(pieces):
        own = piece.block.group if piece.block is not None and _kind(piece) == "item" else -1
        goes_on = own >= 0 and own == group
        if not goes_on and not (lead and above == index - 1 and _is_near(pieces[above], piece)):
            lead = ""
        if lead and not piece.step:
            pieces[index] = replace(piece, lead=lead)
            if above >= 0 and plain(pieces[above].text) == lead and _is_told(piece, pieces[above]):
                pieces[above] = replace(pieces[above], carried=True)
        before, _, last = piece.text.rpartition("\n")
        if own >= 0 and before and _BOLD_LEAD.match(last):
            above, lead = -1, plain(last)
            pieces[index] = replace(pieces[index], text=before)
        elif own < 0 or piece.step:
            above, lead = index, "" if piece.step else _last_line(piece.text)
        group = -1 if piece.step else own
    return pieces


def _is_told(piece: Piece, lead: Piece) -> bool:
    """Whether a piece comes with its lead, so that the lead is not needed separately."""
    if lead.judgment.tag == "VALIDATE_OUTPUT":
        return piece.judgment.tag == "VALIDATE_OUTPUT"
    return piece.judgment.tag in _TOLD and piece.judgment.category in _TEXTS


def _is_near(piece: Piece, following: Piece) -> bool:
    return piece.heading == following.heading and following.start - piece.end <= 2


def _last_line(text: str) -> str:
    """The words before a list, when they end in a colon: the last sentence of the paragraph."""
    if not text.rstrip("*_ \n").endswith(":"):
        return ""
    said = _SENTENCE.split(plain(text))[-1]
    return said if len(said) <= _LONGEST_LEAD else ""


def _completed(pieces: list[Piece], lines: list[str], first_line: int) -> list[Piece]:
    """Make lines outside blocks (definitions of links, underlined headings) elements without effect."""
    covered = {line for piece in pieces for line in range(piece.start, piece.end + 1)}
    nothing = Judgment("NO_DECOMPOSE", "—", "other", 0.9, "a heading or the address of a link")
    for number, line in enumerate(lines, first_line):
        if line.strip() and number not in covered and not HEADING.match(line):
            pieces.append(Piece(number, number, line.strip(), nothing, plain(line)))
    return sorted(pieces, key=lambda piece: (piece.start, not piece.step))


def _grouped(pieces: list[Piece]) -> Iterator[Piece]:
    """Join neighbours of one section that say the same kind of thing; checks stay separate."""
    held: Piece | None = None
    for piece in pieces:
        if held is not None and _joins(held, piece):
            text = f"{_marked(held)}\n{_marked(piece)}" if held.block else f"{held.text}\n{_marked(piece)}"
            held = Piece(held.start, piece.end, text, held.judgment, held.title, held.heading, lead=held.lead)
            continue
        if held is not None:
            yield held
        held = piece
    if held is not None:
        yield held


def _marked(piece: Piece) -> str:
    return piece.block.text if piece.block is not None else piece.text


def _joins(one: Piece, other: Piece) -> bool:
    return (
        not one.step
        and not other.step
        and one.heading == other.heading
        and (one.judgment.tag, one.judgment.category) == (other.judgment.tag, other.judgment.category)
        and one.judgment.tag not in _SEPARATE
        and other.start >= one.end
    )

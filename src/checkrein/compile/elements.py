"""Elements before they have numbers, and elements from prose."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from msgspec.structs import replace

from checkrein.base.secrets import REDACTED, looks_secret, redact_text
from checkrein.compile.blocks import plain
from checkrein.compile.details import Details, TextDetails
from checkrein.compile.grammar import input_name, parts
from checkrein.compile.pieces import Piece
from checkrein.compile.values import Element, SourceName
from checkrein.facts import compile as facts
from checkrein.facts.compile import Category, Tag
from checkrein.facts.compile_words import INPUT


def cleaned(element: Element) -> Element:
    """An element that is safe to write. Nothing that looks like a secret stays in it."""
    details = element.details
    full, summary, signal = element.content_full, element.content_summary, element.signal
    title, heading, lines = element.title, element.heading, element.source_lines
    told = _texts(details) if details is not None else {}
    if looks_secret("\n".join((full, summary, signal, title, heading, lines, *told.values()))):
        full, summary, signal = redact_text(full), redact_text(summary), redact_text(signal)
        title, heading, lines = redact_text(title), redact_text(heading), redact_text(lines)
        if details is not None:
            details = replace(details, **{name: redact_text(text) for name, text in told.items()})
    return replace(
        element,
        source_lines=lines.replace("\n", " "),
        content_summary=shorten(summary),
        content_full=full,
        confidence=element.confidence or {"tag": 1.0, "category": 1.0},
        dialect_attribution=element.dialect_rule_id,
        signal=signal,
        sensitive=element.sensitive or (REDACTED in full and REDACTED not in element.content_full),
        title=title,
        heading=heading,
        details=details,
    )


def _texts(details: Details) -> dict[str, str]:
    """The texts among the fields, by name."""
    found = ((name, getattr(details, name)) for name in details.__struct_fields__)
    return {name: value for name, value in found if isinstance(value, str) and value}


def shorten(text: str, limit: int = facts.SUMMARY_CHARS) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else flat[: limit - 1].rstrip() + "…"


def digest(text: str, length: int = 10) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:length]


def line_range(start: int, end: int) -> str:
    return str(start) if start == end else f"{start}-{end}"


def from_piece(
    piece: Piece,
    file: str,
    rule: str,
    *,
    source: SourceName | None = None,
    kind: tuple[Tag, Category] | None = None,
    row: str | None = None,
) -> Element:
    """`kind` replaces the piece's own tag when a row of the dialect decides."""
    judgment = piece.judgment
    tag, category = kind or (judgment.tag, judgment.category)
    fence = piece.block is not None and piece.block.kind == "fence"
    table, argument, about = "", None, None
    is_input = judgment.tag == "TOOL_INPUT" and judgment.category == "C3" and judgment.rough == "constant"
    if is_input and piece.block is not None and piece.block.kind == "table":
        table = "inputs"
    elif is_input:
        named = INPUT.search(piece.text)
        name = (named[1] or named[2]) if named is not None else input_name(piece.text)
        if name:
            line = parts(piece.text)
            argument, about = name, line.rest if line.key else plain(piece.text)
    return cleaned(
        Element(
            source_file=file,
            source_lines=line_range(piece.start, piece.end),
            tag=tag,
            category=category,
            content_summary=plain(piece.title or piece.text.split("\n", 1)[0]) or piece.text,
            content_full=piece.text,
            dialect_rule_id=rule,
            row=row,
            signal=f"text:{digest(piece.text)}",
            source=source,
            confidence={"tag": judgment.confidence, "category": judgment.confidence},
            title=piece.title,
            heading=piece.heading,
            details=TextDetails(
                why=judgment.why,
                table=table,
                argument=argument,
                about=about,
                language=piece.block.language if fence and piece.block is not None else None,
                lead=piece.lead,
                carried=piece.carried,
                procedure=piece.procedure if piece.step else "",
            ),
            step=0 if piece.step else None,
        )
    )


def prose(pieces: Iterable[Piece], file: str, source: SourceName, row: str) -> list[Element]:
    """Text beside the spec: rules and facts, never steps of its own."""
    found = []
    for piece in pieces:
        judgment = piece.judgment
        kind: tuple[Tag, Category]
        if row == "M-25":
            kind = ("CONFIG", "C3")
        elif judgment.tag in ("VALIDATE_OUTPUT", "NO_DECOMPOSE"):
            kind = (judgment.tag, judgment.category)
        elif row == "M-22":
            kind = ("CONFIG", judgment.category if judgment.category in ("C1", "C2", "C8") else "C3")
        else:
            kind = ("CONFIG", "C2" if judgment.category == "C2" else "C1")
        rule = "claude_code:2f:import" if row in ("M-22", "M-24") else "claude_code:2b:claude_md"
        found.append(from_piece(replace(piece, step=False), file, rule, source=source, kind=kind, row=row))
    return found


def numbered(elements: list[Element]) -> tuple[Element, ...]:
    """Elements with their ids, and steps with their numbers, in order."""
    found = []
    step = 0
    width = max(3, len(str(len(elements))))
    for number, element in enumerate(elements, 1):
        if element.step is not None:
            step += 1
        found.append(
            replace(
                element,
                element_id=f"elem_{number:0{width}}",
                step=step if element.step is not None else None,
            )
        )
    return tuple(found)

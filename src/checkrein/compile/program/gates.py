"""The gates of a body: sentences that put a decision to a person, with the lines they stand on."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from msgspec import Struct

from checkrein.compile.blocks import Block, plain
from checkrein.compile.grammar import consequence, is_imperative
from checkrein.compile.program.outline import Outline
from checkrein.facts import compile_gates as words

_SENTENCE_END = re.compile(
    r"(?<=[.!?])[*_\"”)]*[ \t\n]+(?=[\"“*_`(]*[A-Z0-9])|\n(?=[ \t]*(?:[-*+]|\d+[.)])[ \t])"
    r"|\n[ \t]*\n|[ \t]\|[ \t]"
)
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})")
_SHORT = 400


class GateLine(Struct, frozen=True):
    """One sentence. `when` is the condition that the text states; `open` asks for an answer in words;
    `actions` are kinds of work that it speaks of."""

    lines: tuple[int, ...]
    text: str
    when: str = ""
    open: bool = False
    actions: tuple[str, ...] = ()


def actions_in(text: str) -> tuple[str, ...]:
    return tuple(name for name, pattern in words.IRREVERSIBLE.items() if pattern.search(text))


def is_irreversible(text: str) -> bool:
    return any(name not in words.UNDOABLE for name in actions_in(text))


def read_gates(outline: Outline) -> tuple[GateLine, ...]:
    """The gates of all blocks but fences, in order."""
    found: list[GateLine] = []
    for block in outline.blocks:
        if block.kind not in ("fence", "rule"):
            found += _in_block(block)
    return tuple(found)


def _in_block(block: Block) -> Iterator[GateLine]:
    for lines, sentence in _sentences(block):
        said = plain(sentence)
        marked = words.MARKED.search(sentence) is not None
        if not marked and not _is_gate(said):
            continue
        if block.kind == "heading" and not marked and not _asks(said):
            continue
        yield GateLine(
            lines=lines,
            text=said[:_SHORT],
            when=_condition(said),
            open=words.OPEN.search(said) is not None and words.CLOSED.search(said) is None,
            actions=actions_in(said),
        )


def _is_gate(said: str) -> bool:
    """Whether it tells the agent to put something to a person; an account of what people do is none."""
    found = words.GATE.search(said)
    if found is None:
        return False
    other = words.NO_GATE.search(said)
    if other is not None and other.start() <= found.start() and words.NO_ACTION.search(said) is None:
        return False
    return words.TOLD.search(said) is not None or is_imperative(said) or consequence(said) is not None


def _asks(title: str) -> bool:
    return (
        re.match(r"(?:\W|step|phase|\d)*\s*(?:ask|confirm|wait|get|obtain|user)\b", title, re.IGNORECASE)
        is not None
    )


def _condition(said: str) -> str:
    before = words.WHEN.match(said)
    if before is not None and not words.ONCE_DECIDED.match(before["when"]):
        return before["when"].strip()
    later = words.LATER_WHEN.search(said)
    return later["when"].strip() if later is not None and later.start() > 0 else ""


def _sentences(block: Block) -> Iterator[tuple[tuple[int, ...], str]]:
    """Sentences outside nested fences, with their lines."""
    fence = ""
    kept: list[tuple[int, str]] = []
    for number, line in enumerate(block.text.split("\n"), block.start):
        mark = _FENCE.match(line)
        if mark is not None and (not fence or mark[1].startswith(fence)):
            fence = "" if fence else mark[1]
            continue
        if not fence:
            kept.append((number, line))
    text = "\n".join(line for _, line in kept)
    starts: list[int] = []
    at = 0
    for _, line in kept:
        starts.append(at)
        at += len(line) + 1
    begin = 0
    for end in (*(one.start() for one in _SENTENCE_END.finditer(text)), len(text)):
        sentence = text[begin:end]
        if sentence.strip():
            first, last = begin + len(sentence) - len(sentence.lstrip()), end - 1
            reach = slice(bisect_right(starts, first) - 1, bisect_right(starts, last))
            yield tuple(number for number, _ in kept[reach]), sentence
        begin = end

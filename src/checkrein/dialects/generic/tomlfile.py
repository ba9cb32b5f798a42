"""TOML files as documents with the place of each key; a broken one becomes a Diagnostic."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.jsonpos import join
from checkrein.base.origin import Origin, Span
from checkrein.dialects.codes import Log
from checkrein.dialects.jsonfile import Document

_PART = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_KEYS = rf"({_PART}(?:\s*\.\s*{_PART})*)"
_TABLE = re.compile(rf"\s*(\[\[?)\s*{_KEYS}\s*\]")
_VALUE = re.compile(rf"\s*{_KEYS}\s*=\s*")
_PARTS = re.compile(_PART)
_LONG = ('"""', "'''")
_MAX_PARTS = 500
"""More than people write; the time to read a key grows with the square of its parts."""


def parse(source: str, origin: Origin, log: Log) -> Document | None:
    """The tables of a file. Paths of places are spelled as in a JSON document: `$.servers.one.url`."""
    try:
        if any(line.partition("=")[0].count(".") > _MAX_PARTS for line in source.split("\n")):
            raise tomllib.TOMLDecodeError(f"a key has more than {_MAX_PARTS} parts")
        values = tomllib.loads(source)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        at = re.search(r"line (\d+), column (\d+)", str(error))
        place = origin.at(Span(int(at[1]), int(at[2])) if at else Span(1))
        name = os.path.basename(origin.file)
        log.append(Diagnostic("IMP010", "error", f"{name} is not TOML: {error}", place))
        return None
    spans: dict[str, Span] = {}
    for path, span in _places(source):
        spans.setdefault(path, span)
    return Document(values, origin, spans)


def text_line(source: str, document: Document, key: str) -> int:
    """The line on which the text of a top-level key begins."""
    span = document.spans.get(f"$.{key}")
    if span is None:
        return 1
    _, _, rest = source.split("\n")[span.line - 1].partition("=")
    return span.line + (rest.strip() in _LONG)


def _places(source: str) -> Iterator[tuple[str, Span]]:
    table, counts = "$", dict[str, int]()
    ending: str | None = None
    for number, line in enumerate(source.split("\n"), 1):
        if ending is not None:
            ending = None if ending in line else ending
            continue
        if head := _TABLE.match(line):
            table = _path("$", head[2])
            if head[1] == "[[":
                counts[table] = counts.get(table, -1) + 1
                table = join(table, counts[table])
            yield table, Span(number, head.start(1) + 1)
        elif value := _VALUE.match(line):
            yield _path(table, value[1]), Span(number, value.start(1) + 1)
            rest = line[value.end() :]
            ending = next((mark for mark in _LONG if rest.startswith(mark) and mark not in rest[3:]), None)


def _path(table: str, keys: str) -> str:
    for part in _PARTS.findall(keys):
        table = join(table, part[1:-1] if part[0] in "\"'" else part)
    return table

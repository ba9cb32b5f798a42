"""Grep: search file contents with ripgrep."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any

from checkrein.runtime.tools import files, search
from checkrein.runtime.tools.port import ToolContext, ToolOutput

DEFAULT_LIMIT = 250
_LINE = re.compile(rb"\d+([:-])")
_CHARACTERS = 30_000
_COLUMNS = 500
_MORE = 4_000
"""What rg gives beyond the shown columns, so that a secret there is whole when it is masked."""
_CUT = " [... omitted end of long line]"


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    mode = input.get("output_mode") or "files_with_matches"
    real, shown = search.place(input.get("path"), context)
    single = not os.path.isdir(real)
    descriptor = files.open_regular(real, shown=shown) if single else files.open_directory(real, shown=shown)
    try:
        done = search.run_rg(_arguments(input, mode), descriptor, real, context, single=single)
        finds = Finds(done.stdout, real, shown, single, context)
        if mode == "content":
            return _content(finds, input, done.truncated)
        if mode == "count":
            return _count(finds, input)
        return _files(finds, input, None if single else descriptor)
    finally:
        os.close(descriptor)


class Finds:
    """What rg printed, file by file, without the files that the model may not see."""

    def __init__(self, output: bytes, real: str, shown: str, single: bool, context: ToolContext) -> None:
        self.cover = context.cover
        self._real = real
        self._output = output
        self._shown = shown
        self._single = single
        self._may = search.visible(real, context)

    def names(self) -> list[str]:
        """Files of `rg --files-with-matches --null`, relative to the searched place; "" is that place."""
        raw = (os.fsdecode(name) for name in self._output.split(b"\0") if name)
        return [name for name in ("" if self._single else name for name in raw) if self._may(name)]

    def lines(self) -> list[tuple[str, bytes] | None]:
        """Lines from `rg --null`: the file and the rest of each; None where rg left a gap."""
        found: list[tuple[str, bytes] | None] = []
        for line in self._output.split(b"\n"):
            raw, null, rest = line.partition(b"\0")
            if null:
                name = "" if self._single else os.fsdecode(raw)
                if self._may(name):
                    found.append((self.show(name), rest))
            elif line == b"--" and found and found[-1] is not None:
                found.append(None)
        return found[:-1] if found and found[-1] is None else found

    def masked(self, shown: str, texts: list[str], lines: list[int | None]) -> list[str]:
        """Lines of one file without secrets."""
        below = "" if self._single else os.path.relpath(shown, self._shown or ".")
        path = os.path.join(self._real, below) if below else self._real
        joined = "\n".join(texts)
        self.cover.look_at(path, joined)
        return self.cover.text(joined, path, lines).split("\n")

    def show(self, name: str) -> str:
        return os.path.join(self._shown, name) if name else self._shown


def _arguments(input: dict[str, Any], mode: str) -> tuple[str, ...]:
    arguments = ["--hidden", "--null", "--no-heading", "--with-filename", "--no-messages"]
    arguments += search.without_version_control(str(input.get("glob") or ""))
    if mode == "content":
        arguments += [f"--max-columns={_COLUMNS + _MORE}", "--max-columns-preview"]
        arguments.append("--no-line-number" if input.get("-n") is False else "--line-number")
        if input.get("-o"):
            arguments.append("--only-matching")
        around = input.get("-C") if input.get("-C") is not None else input.get("context")
        for flag, value in (("-C", around), ("-B", input.get("-B")), ("-A", input.get("-A"))):
            if value is not None:
                arguments.append(f"{flag}{max(value, 0)}")
    else:
        arguments.append("--count-matches" if mode == "count" else "--files-with-matches")
    if input.get("-i"):
        arguments.append("--ignore-case")
    if input.get("multiline"):
        arguments += ["--multiline", "--multiline-dotall"]
    if input.get("type"):
        arguments.append(f"--type={input['type']}")
    arguments += [f"--glob={glob}" for glob in _split_globs(input.get("glob") or "")]
    return (*arguments, "-e", input["pattern"], "--")


def _split_globs(text: str) -> list[str]:
    """Split a list: `*.ts, *.{js,jsx}` is two globs."""
    return re.findall(r"(?:\{[^{}\s]*\}|[^\s,])+", text)


def _files(finds: Finds, input: dict[str, Any], descriptor: int | None) -> ToolOutput:
    names = finds.names()
    if descriptor is not None:
        names = search.newest_first(names, descriptor)
    page, applied = _page(names, input)
    shown = [finds.show(name) for name in page]
    structured = {"mode": "files_with_matches", "numFiles": len(shown), "filenames": shown, **applied}
    if applied:
        structured["totalFiles"] = len(names)
    if not shown:
        return ToolOutput(content=_nothing(len(names), "No files found"), structured=structured)
    head = f"Found {len(names)} files{_more(len(page), len(names), applied)}"
    return ToolOutput(content="\n".join([head, *shown]), structured=structured)


def _content(finds: Finds, input: dict[str, Any], cut: bool) -> ToolOutput:
    lines = finds.lines()
    page, applied = _page(lines, input)
    text = "\n".join(_shown(page, finds))
    total = sum(line is not None for line in lines)
    names = {line[0] for line in page if line is not None}
    structured = {
        "mode": "content",
        "numFiles": len(names),
        "filenames": [],
        "content": text,
        "numLines": len(page),
        **applied,
    }
    if applied:
        structured["totalLines"] = len(lines)
    if not page:
        return ToolOutput(content=_nothing(total, "No matches found"), structured=structured)
    notes = _more(len(page), len(lines), applied)
    if len(text) > _CHARACTERS:
        text, notes = text[:_CHARACTERS], " (cut: too long; search for less)"
    elif cut:
        notes = " (cut: far too many matches; search for less)"
    return ToolOutput(content=f"{text}\n{notes.strip()}" if notes else text, structured=structured)


def _count(finds: Finds, input: dict[str, Any]) -> ToolOutput:
    counts = [(name, int(rest)) for line in finds.lines() if line is not None for name, rest in [line]]
    page, applied = _page(counts, input)
    matches = sum(number for _, number in counts)
    text = "\n".join(f"{name}:{number}" for name, number in page)
    structured = {
        "mode": "count",
        "numFiles": len(counts),
        "filenames": [],
        "content": text,
        "numMatches": matches,
        **applied,
    }
    if not page:
        return ToolOutput(content=_nothing(len(counts), "No matches found"), structured=structured)
    total = f"matches: {matches}, files: {len(counts)}"
    return ToolOutput(
        content=f"{text}\n\n{total}{_more(len(page), len(counts), applied)}", structured=structured
    )


def _shown(page: list[tuple[str, bytes] | None], finds: Finds) -> Iterator[str]:
    """The lines with their files, without secrets. Lines of one file are masked together: a private key has
    several."""
    for name, together in groupby(page, key=lambda line: None if line is None else line[0]):
        if name is None:
            yield from ("--" for _ in together)
            continue
        rests = [line[1] for line in together if line is not None]
        heads = [match[0] if (match := _LINE.match(rest)) else b"" for rest in rests]
        texts = [
            rest[len(head) :].decode("utf-8", "replace").removesuffix("\r")
            for rest, head in zip(rests, heads)
        ]
        lines = [int(head[:-1]) if head else None for head in heads]
        for text, head in zip(finds.masked(name, texts, lines), heads):
            yield f"{name}{chr(head[-1]) if head else ':'}{head.decode()}{_cut(text)}"


def _cut(text: str) -> str:
    """A line up to the shown columns, with rg's own word about the rest."""
    return text if len(text) <= _COLUMNS + len(_CUT) else text[:_COLUMNS] + _CUT


def _page(entries: list[Any], input: dict[str, Any]) -> tuple[list[Any], dict[str, int]]:
    """The requested entries, and the limit and offset that chose them."""
    asked = input.get("head_limit")
    limit = DEFAULT_LIMIT if asked is None else max(asked, 0)
    offset = max(input.get("offset") or 0, 0)
    page = entries[offset : offset + limit if limit else None]
    applied = {}
    if limit and len(entries) > offset + limit:
        applied["appliedLimit"] = limit
    if offset:
        applied["appliedOffset"] = offset
    return page, applied


def _more(shown: int, total: int, applied: dict[str, int]) -> str:
    if "appliedLimit" not in applied:
        return ""
    offset = applied.get("appliedOffset", 0)
    return f" ({offset + 1}-{offset + shown} of {total}; offset={offset + shown} shows more)"


def _nothing(total: int, text: str) -> str:
    return f"There are no entries at this offset; the total is {total}." if total else text

"""Findings that a project hides: comments in files, and lists of codes by file in the configuration.

<!-- checkrein: ignore AS018 -->            in Markdown: this line and the next
allowed_tools: Read  # checkrein: ignore CC001
// checkrein: ignore PERM010                in JSON with comments
<!-- checkrein: ignore-file AS009, CC -->   anywhere: the whole file
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import beneath, read_bytes
from checkrein.base.origin import Origin, Span
from checkrein.facts.codes import CODES

_MARK = "checkrein:"
_WORDS = r"\s*checkrein:\s*ignore(?P<file>-file)?\b[ \t]*(?P<codes>[A-Za-z0-9, \t]*)"
_MARKDOWN = re.compile(r"<!--" + _WORDS + r"(?=[^>]*-->)")
_HASH = re.compile(r"(?:^|\s)#" + _WORDS)
_SLASHES = re.compile(r"//" + _WORDS)
_COMMENTS = {
    ".md": (_MARKDOWN, _HASH),
    ".mdc": (_MARKDOWN, _HASH),
    ".json": (_SLASHES,),
    ".jsonc": (_SLASHES,),
    ".js": (_SLASHES,),
    ".mjs": (_SLASHES,),
    ".cjs": (_SLASHES,),
    ".ts": (_SLASHES,),
}


class Suppression(Struct, frozen=True):
    """A comment: the codes or prefixes it names, and its line; `whole` for the whole file."""

    codes: tuple[str, ...]
    line: int
    column: int
    whole: bool


class Kept(Struct, frozen=True):
    """The findings that stay, and how many were hidden."""

    found: tuple[Diagnostic, ...]
    hidden: int


def suppress(
    found: Sequence[Diagnostic], per_file: Mapping[str, Sequence[str]], root: str, known: Sequence[str]
) -> Kept:
    """Leave out what comments and `check.per_file` hide; a comment that names no code becomes a finding."""
    comments: dict[str, tuple[Suppression, ...]] = {}
    listed = _PerFile(per_file, root)
    kept: list[Diagnostic] = []
    hidden = 0
    for finding in found:
        file = finding.origin.file
        if file not in comments:
            comments[file] = tuple(_read(file))
        if _hides(comments[file], finding) or listed.hides(finding):
            hidden += 1
        else:
            kept.append(finding)
    origins = {finding.origin.file: finding.origin for finding in found}
    for file, written in comments.items():
        kept.extend(_problems(origins[file], written, known))
    return Kept(tuple(kept), hidden)


def _read(file: str) -> Iterator[Suppression]:
    data = read_bytes(file).data
    if _MARK.encode() not in data:
        return
    text = data.decode("utf-8-sig", "replace")
    patterns = _COMMENTS.get(os.path.splitext(file)[1].lower(), (_HASH,))
    for number, line in enumerate(text.split("\n"), 1):
        for pattern in patterns if _MARK in line else ():
            for match in pattern.finditer(line):
                codes = tuple(code.upper() for code in re.split(r"[,\s]+", match["codes"]) if code)
                yield Suppression(codes, number, match.start() + 1, match["file"] is not None)


def _hides(written: Sequence[Suppression], finding: Diagnostic) -> bool:
    line = finding.origin.line or 1
    return any(
        (one.whole or one.line in (line, line - 1)) and finding.code.startswith(one.codes)
        for one in written
        if one.codes
    )


def _problems(place: Origin, written: Sequence[Suppression], known: Sequence[str]) -> Iterator[Diagnostic]:
    entry = CODES["SUP001"]
    for one in written:
        wrong = [code for code in one.codes if not any(other.startswith(code) for other in known)]
        if one.codes and not wrong:
            continue
        message = (
            f"`checkrein: ignore` names `{wrong[0]}`, which is not a code"
            if wrong
            else "`checkrein: ignore` names no code, so it hides nothing"
        )
        origin = place.at(Span(one.line, one.column))
        yield Diagnostic("SUP001", entry.severity, message, origin, entry.why, entry.hint)


class _PerFile:
    """Whether the configuration hides a finding: patterns as in `.gitignore`, from the project's root."""

    def __init__(self, per_file: Mapping[str, Sequence[str]], root: str) -> None:
        self.root = root
        self.specs = []
        if per_file:
            from pathspec import GitIgnoreSpec

            for pattern, codes in per_file.items():
                wanted = tuple(code.upper() for code in codes)
                self.specs.append((GitIgnoreSpec.from_lines([pattern]), wanted))

    def hides(self, finding: Diagnostic) -> bool:
        file = finding.origin.file
        if not self.specs or not beneath(file, self.root):
            return False
        below = os.path.relpath(file, self.root).replace(os.sep, "/")
        return any(finding.code.startswith(codes) and spec.match_file(below) for spec, codes in self.specs)

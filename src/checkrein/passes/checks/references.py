"""Files that a skill's body refers to: not examples, not what a step writes, not files of others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec import Struct

from checkrein.model.items import Skill
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.parts import plugin_root
from checkrein.passes.checks.prose import Line, code_spans, is_example, teaches

_LINK = re.compile(r"\]\(<?((?:\./)?[\w][\w./-]*\.\w{1,5})(?:#[^)\s]{0,200})?>?\)")
_PATH = re.compile(
    r"(?:\./)?(?:scripts|references?|assets|templates|resources|examples)/[\w][\w./-]*\.\w{1,5}"
)
_ROOTED = re.compile(r"\$\{CLAUDE_SKILL_DIR\}/([\w][\w./-]*\.\w{1,5})")
_WRITES = re.compile(
    r"(?i)(?:\b(?:writ|sav|creat|generat|produc|output|stor|export|append|record|emit|dump)(?:e|es|ed|ing|s|t|ten)?\b"
    r"(?:(?!\b(?:from|using|with|via|see|read|follow|by|per|template|at|based|run|lives?|moved)\b)[^.;|]){0,60}"
    r"|(?:>|-o|--out(?:put)?)\s*\"?)$"
)
_DOMAIN = re.compile(r"[\w-]+\.(?:com|org|net|io|dev|ai|app|co)(?:/|$)")


class Reference(Struct, frozen=True):
    """`path` as written, at a place in the body; columns count from 0."""

    path: str
    line: int
    at: int

    @property
    def name(self) -> str:
        return self.path.removeprefix("./")


def missing(subject: Subject, item: Skill) -> Iterator[Reference]:
    """References to files that are nowhere they could be meant to be, each file once."""
    candidates = [one for line in subject.body(item) for one in _in_line(line)]
    if not candidates:
        return
    written = _written(subject.body(item))
    places = _places(subject, item)
    teaching: bool | None = None
    seen: set[str] = set()
    for one in candidates:
        name = one.name
        if name in seen or name in written or _DOMAIN.match(name):
            continue
        seen.add(name)
        if any(os.path.exists(os.path.join(place, name)) for place in places):
            continue
        if teaching is None:
            teaching = teaches(item)
        top = name.partition("/")[0]
        if teaching and not ("/" in name and os.path.isdir(os.path.join(item.directory, top))):
            continue
        yield one


def _in_line(line: Line) -> Iterator[Reference]:
    """Links, `${CLAUDE_SKILL_DIR}/...`, and code spans that are a path below the usual folders."""
    text = line.text
    if "." not in text or ("/" not in text and "](" not in text):
        return
    if "${CLAUDE_SKILL_DIR}" in text:
        yield from (Reference(match[1], line.number, match.start(1)) for match in _ROOTED.finditer(text))
    if line.fenced:
        return
    if "](" in text:
        spans = [(at, at + len(span)) for span, at in code_spans(text)]
        for match in _LINK.finditer(text):
            quoted = any(start <= match.start() < end for start, end in spans)
            if not quoted:
                yield Reference(match[1], line.number, match.start(1))
    if "`" in text and "/" in text and not line.sample:
        for span, at in code_spans(text):
            if _PATH.fullmatch(span) and not is_example(text):
                yield Reference(span, line.number, at)


def _written(lines: list[Line]) -> frozenset[str]:
    """Paths that some line tells to write: they exist only later."""
    found: set[str] = set()
    for line in lines:
        text = line.text
        if "/" not in text or "." not in text:
            continue
        for match in _PATH.finditer(text):
            if _WRITES.search(text[: match.start()].rstrip("`\"' ")):
                found.add(match[0].removeprefix("./"))
    return frozenset(found)


def _places(subject: Subject, item: Skill) -> list[str]:
    """The skill's folder, that of its plugin, and the folders above it up to the project's root."""
    project = subject.project
    places = [item.directory]
    root = plugin_root(project, item.plugin)
    top = project.place.repo_root or project.place.root
    directory = os.path.dirname(item.directory)
    while directory.startswith(top) and len(places) < 8:
        places.append(directory)
        directory = os.path.dirname(directory)
    return [*places, *([root] if root else []), project.place.root]

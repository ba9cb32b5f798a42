"""Files that a skill's body refers to: not examples, not what a step writes, not files of others."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from msgspec import Struct

from checkrein.model.items import Skill
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.parts import plugin_root
from checkrein.passes.checks.prose import Body, Hit, code_spans, is_example, teaches

_LINK = re.compile(r"\]\(<?((?:\./)?[\w][\w./-]*\.\w{1,5})(?:#[^)\s]{0,200})?>?\)")
_PATH = re.compile(
    r"(?:\./)?(?:scripts|references?|assets|templates|resources|examples)/[\w][\w./-]*\.\w{1,5}"
)
_TAIL = re.compile(r"/[\w][\w./-]{0,300}\.\w{1,5}`")
"""The end of a path in a code span. It starts with a fixed character, so the search is quick."""
_ROOTED = re.compile(r"\$\{CLAUDE_SKILL_DIR\}/([\w][\w./-]*\.\w{1,5})")
_WRITES = re.compile(
    r"(?i)(?:\b(?:writ|sav|creat|generat|produc|output|stor|export|append|record|emit|dump|implement)(?:e|es|ed|ing|s|t|ten)?\b"
    r"(?:(?!\b(?:from|using|with|via|see|read|follow|by|per|template|at|based|run|lives?|moved)\b)[^.;|]){0,60}"
    r"|\b(?:goes (?:in)?to|lands (?:in|at)|ends up (?:in|at))"
    r"|(?:>|-o|--(?:out(?:put)?|screenshot|dest)\b=?)\s*\"?)$"
)
_OTHER_SKILL = re.compile(r"`/[\w:-]+`[^.`]{0,30}`?$")
"""Before a path: the skill that it belongs to, as in: see `/core`, `references/x.md`."""
_SKILL_NAME = re.compile(r"`/?(?:[\w-]+:)?([\w-]+)`")
_FROM_SKILL = re.compile(r"[`)]*[^.`]{0,20}\b(?:from|of|in) (?:the|another) (?:`?[\w:-]+`? )?skill\b")
"""After a path: the skill that it belongs to, as in: `references/x.md` from the core skill."""
_SOURCE = re.compile(r"(?i)\W*(?:source|origin|adapted from|taken from)\W*:?\W*$")
"""Before a path: it says where the text comes from."""
_RUN_BY = re.compile(r"(?i)\b(?:this|that|it|which)(?: \w+)? (?:runs|executes|calls|invokes|starts) $")
_RUNNER = re.compile(r"\b(?:npm|pnpm|yarn|bun) run\b|\bcd \S+ &&|\b(?:make|just) \w")
"""Above a path: a task of the project, of which a line then says what it runs."""
_IN_PROJECT = re.compile(
    r"(?i)(?:\b(?:repo(?:sitory)?|project|workspace)(?: root)? (?:contains|has|holds)"
    r"|\b(?:repo|project)-local\b"
    r"|\b(?:package\.json|pyproject\.toml|tsconfig\.json|Cargo\.toml)\b[^.;|]{0,60}"
    r"\b(?:add|list|include)s?)\W{0,6}$"
)
"""Before a path: it is a file of the project at work, or one that the project's manifest lists."""
_PAGE = re.compile(r"templates/.*\.(?:html?|php|twig|liquid|erb|jinja2?)")
"""A page of a web application or theme, unless the skill has a folder of templates."""
_PLACEHOLDER = re.compile(r"(?i)(?:.*/)?(?:x{2,}|foo|bar|baz|file-?name|your[-_]\w+)\.\w+")
_MADE_BY_USERS = re.compile(r"(?:^|/)\.env$")
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
    body = subject.body(item)
    candidates = sorted(_candidates(body, item.directory), key=lambda one: (one.line, one.at))
    if not candidates:
        return
    places = _places(subject, item)
    absent = [
        one
        for one in {one.name: one for one in reversed(candidates)}.values()
        if not any(os.path.exists(os.path.join(place, one.name)) for place in places)
        and not _DOMAIN.match(one.name)
        and not _MADE_BY_USERS.search(one.name)
        and not _PLACEHOLDER.fullmatch(one.name)
        and not _is_elsewhere(one, body, item)
    ]
    if not absent:
        return
    teaching = teaches(item)
    for one in reversed(absent):
        top, slash, _ = one.name.partition("/")
        shown = teaching and not (slash and os.path.isdir(os.path.join(item.directory, top)))
        if not shown and not (slash and _is_written(one.name, body)):
            yield one


def _candidates(body: Body, directory: str) -> Iterator[Reference]:
    """Links, `${CLAUDE_SKILL_DIR}/...`, and code spans that are a path below the usual folders."""
    text = body.text
    pages = not os.path.isdir(os.path.join(directory, "templates"))
    if "${CLAUDE_SKILL_DIR}" in text:
        for hit in body.hits(_ROOTED):
            yield Reference(hit.match[1], hit.line.number, hit.start + len("${CLAUDE_SKILL_DIR}/"))
    if "](" in text:
        for hit in body.hits(_LINK):
            if not (hit.line.fenced or _is_quoted(hit) or _FROM_SKILL.match(hit.line.text, hit.end)):
                yield Reference(
                    hit.match[1], hit.line.number, hit.match.start(1) - hit.match.start() + hit.start
                )
    for tail in _TAIL.finditer(text) if "`" in text else ():
        begin = text.rfind("`", 0, tail.start()) + 1
        span = text[begin : tail.end() - 1]
        if begin and _PATH.fullmatch(span):
            line, at = body.place(begin)
            before, after = line.text[:at], at + len(span)
            of_another = bool(
                _OTHER_SKILL.search(before)
                or _FROM_SKILL.match(line.text, after)
                or _SOURCE.match(before)
                or _IN_PROJECT.search(before)
                or (pages and _PAGE.fullmatch(span))
            )
            if not (line.fenced or line.sample or of_another or is_example(line.text)):
                yield Reference(span, line.number, at)


def _is_elsewhere(one: Reference, body: Body, item: Skill) -> bool:
    """Whether the paragraph of a path names the skill beside this one that has the file, or the task of a
    project that runs it."""
    start = body.offset(one.line, one.at)
    above = body.text[max(0, start - 400) : start]
    if _RUN_BY.search(above.rstrip("`")) and _RUNNER.search(above):
        return True
    paragraph = above.rpartition("\n\n")[2]
    around = os.path.dirname(item.directory)
    return any(
        os.path.exists(os.path.join(around, name, one.name))
        for name in set(_SKILL_NAME.findall(paragraph))
        if name != os.path.basename(item.directory)
    )


def _is_quoted(hit: Hit) -> bool:
    """Whether a link stands in a code span, which shows it."""
    return any(at <= hit.start < at + len(span) for span, at in code_spans(hit.line.text))


def _is_written(name: str, body: Body) -> bool:
    """Whether some line tells to write the file: it exists only later."""
    at = body.text.find(name)
    while at >= 0:
        line, column = body.place(at)
        if _WRITES.search(line.text[:column].removesuffix("./").rstrip("`\"' ")):
            return True
        at = body.text.find(name, at + 1)
    return False


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

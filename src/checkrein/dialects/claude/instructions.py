"""Instruction files in the order they enter the context, each followed by what it imports."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec.structs import replace

from checkrein.base.origin import Origin, Scope, Span
from checkrein.dialects import markdown, scan, text
from checkrein.dialects.claude import imports
from checkrein.dialects.claude.place import ancestors
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.coerce import as_globs
from checkrein.facts import claude
from checkrein.facts.claude_fields import RULE_FIELDS, names
from checkrein.model.items import Import, Instruction, InstructionKind
from checkrein.model.project import Place

_RULE_NAMES = names(RULE_FIELDS)
_TOO_DEEP = f"imports are followed {claude.IMPORT_HOPS} files deep"
_OUTSIDE = "it lies outside the project and was not approved"
_AGAIN = "it is loaded already"
_MISSING = "there is no such file"


def read(
    place: Place,
    log: Log,
    *,
    env: Mapping[str, str],
    sources: Sequence[str] | None = None,
    managed_text: tuple[str, Origin] | None = None,
    excluded: Callable[[str], bool] = lambda path: False,
    approved: bool = False,
) -> tuple[Instruction, ...]:
    """All instruction files here: managed, user, then every directory from the root down to cwd.

    Files that `excluded` names are kept, but what they import is not followed. `approved` lifts the ban on
    imports that leave the project.
    """
    walk = _Walk(place, log, excluded, approved)
    wanted = claude.SETTING_SOURCES if sources is None else sources
    if place.managed_dir is not None:
        walk.file(os.path.join(place.managed_dir, claude.MEMORY_FILE), "managed", "memory")
    if managed_text is not None:
        walk.inline(*managed_text)
    if env.get(claude.ENV_NO_MEMORY) == "1":
        return tuple(walk.found)
    if "user" in wanted:
        walk.file(os.path.join(place.config_dir, claude.MEMORY_FILE), "user", "memory")
        walk.rules(os.path.join(place.config_dir, "rules"), "user")
    directories = ancestors(place.cwd)[::-1]
    if env.get(claude.ENV_ADDED_MEMORY) == "1":
        directories += place.add_dirs
    for directory in directories:
        config = os.path.join(directory, claude.CONFIG_DIR)
        if "project" in wanted:
            walk.file(os.path.join(directory, claude.AGENTS_FILE), "project", "agents_md")
            walk.file(os.path.join(directory, claude.MEMORY_FILE), "project", "memory")
            walk.file(os.path.join(config, claude.MEMORY_FILE), "project", "memory")
            walk.rules(os.path.join(config, "rules"), "project")
        if "local" in wanted:
            walk.file(os.path.join(directory, claude.LOCAL_MEMORY_FILE), "local", "local")
    return tuple(walk.found)


def read_nested(
    place: Place, directory: str, log: Log, *, known: Collection[str] = ()
) -> tuple[Instruction, ...]:
    """The instruction files of one directory below cwd: what the product loads when a file there is read.

    `known` are real paths that are in the context already.
    """
    walk = _Walk(place, log, lambda path: False, False)
    walk.seen.update(known)
    config = os.path.join(directory, claude.CONFIG_DIR)
    walk.file(os.path.join(directory, claude.MEMORY_FILE), "project", "memory")
    walk.file(os.path.join(config, claude.MEMORY_FILE), "project", "memory")
    walk.rules(os.path.join(config, "rules"), "project")
    walk.file(os.path.join(directory, claude.LOCAL_MEMORY_FILE), "local", "local")
    return tuple(walk.found)


class _Walk:
    """What has been found so far; every real file is taken once, at its first place."""

    def __init__(self, place: Place, log: Log, excluded: Callable[[str], bool], approved: bool) -> None:
        self.place = place
        self.log = log
        self.excluded = excluded
        self.approved = approved
        self.found: list[Instruction] = []
        self.seen: set[str] = set()
        # What the lazy rule at hand has imported: it does not count as loaded for anyone else.
        self.seen_lazily: set[str] = set()

    def file(self, path: str, scope: Scope, kind: InstructionKind) -> None:
        if not os.path.lexists(path):
            return
        # An AGENTS.md is known but not in the context, so an import of it still loads it.
        real = os.path.realpath(path)
        if real in self.seen:
            return
        if kind != "agents_md":
            self.seen.add(real)
        loaded = text.read(path, scope, self.log)
        if loaded is not None:
            self._add(path, loaded.text, scope, kind)

    def inline(self, written: str, origin: Origin) -> None:
        item = Instruction(
            name=str(origin.file), origin=origin, kind="memory", text=written, size=len(written.encode())
        )
        self.found.append(item)

    def rules(self, directory: str, scope: Scope) -> None:
        if not os.path.isdir(directory):
            return
        for path, _ in scan.markdown_files(directory, scope, self.log, folders_first=True):
            real = os.path.realpath(path)
            if real in self.seen:
                continue
            self.seen.add(real)
            loaded = text.read(path, scope, self.log)
            if loaded is not None:
                self._rule(path, loaded.text, scope)

    def _rule(self, path: str, source: str, scope: Scope) -> None:
        origin = Origin(path, scope)
        front = markdown.parse(source, path, scope, _RULE_NAMES, self.log)
        written = front.values.get("paths")
        paths: tuple[str, ...] = ()
        if written is not None:
            read_paths = as_globs(written)
            if isinstance(read_paths, tuple):
                paths = read_paths
            else:
                self.log.append(markdown.wrong("paths", "globs", front, origin))
        stripped, mentions = imports.scan(front.body)
        offset = front.body_line - 1
        item = Instruction(
            name=path,
            origin=origin,
            spans=front.spans,
            unknown={key: value for key, value in front.values.items() if key not in _RULE_NAMES},
            kind="rule",
            text=stripped,
            paths=paths,
            lazy=bool(paths),
            size=len(source.encode()),
        )
        self.seen_lazily = set()
        self._follow(item, mentions, scope, hops=0, offset=offset)

    def _add(
        self,
        path: str,
        source: str,
        scope: Scope,
        kind: InstructionKind,
        *,
        hops: int = 0,
        importer: Instruction | None = None,
    ) -> None:
        stripped, mentions = imports.scan(source)
        item = Instruction(
            name=path,
            origin=Origin(path, scope),
            kind=kind,
            text=stripped,
            imported_by=importer.name if importer else None,
            lazy=importer.lazy if importer else False,
            size=len(source.encode()),
        )
        self._follow(item, () if kind == "agents_md" else mentions, scope, hops=hops)

    def _follow(
        self,
        item: Instruction,
        mentions: Sequence[imports.Mention],
        scope: Scope,
        *,
        hops: int,
        offset: int = 0,
    ) -> None:
        """Put the item in its place, then what it imports, depth first."""
        position = len(self.found)
        self.found.append(item)
        if not mentions or self.excluded(item.name):
            return
        taken = []
        for mention in mentions:
            at = mention.span
            span = Span(at.line + offset, at.column, at.end_line + offset, at.end_column)
            taken.append(self._import(item, mention.paths, span, scope, hops))
        self.found[position] = replace(item, imports=tuple(taken))

    def _import(
        self, item: Instruction, spellings: Sequence[str], span: Span, scope: Scope, hops: int
    ) -> Import:
        written = spellings[0]
        place = item.origin.at(span)
        target = next((real for spelling in spellings if (real := self._target(item.name, spelling))), None)
        if target is None:
            if _looks_like_path(written):
                message = f"`@{written}` names no file; nothing is imported"
                self.log.append(diagnose("IMP001", message, place))
            return Import(written, span, None, _MISSING)
        code, skipped = self._refusal(target, scope, hops, item.lazy)
        if skipped is None:
            (self.seen_lazily if item.lazy else self.seen).add(target)
            loaded = text.read(target, scope, self.log)
            if loaded is None:
                return Import(written, span, target, "it can't be read")
            self._add(target, loaded.text, scope, "import", hops=hops + 1, importer=item)
            return Import(written, span, target)
        self.log.append(diagnose(code, f"`@{written}` is not imported: {skipped}", place))
        return Import(written, span, target, skipped)

    def _refusal(self, target: str, scope: Scope, hops: int, lazy: bool) -> tuple[str, str | None]:
        if target in self.seen or (lazy and target in self.seen_lazily):
            return "IMP004", _AGAIN
        if hops >= claude.IMPORT_HOPS:
            return "IMP003", _TOO_DEEP
        if scope not in ("user", "managed") and not self.approved and not self._is_inside(target):
            return "IMP002", _OUTSIDE
        return "", None

    def _is_inside(self, target: str) -> bool:
        roots = {
            self.place.cwd,
            self.place.root,
            self.place.repo_root or self.place.cwd,
            *self.place.add_dirs,
        }
        roots.discard(self.place.home if self.place.cwd != self.place.home else "")
        return any(target.startswith(root.rstrip(os.sep) + os.sep) for root in roots)

    def _target(self, importer: str, spelling: str) -> str | None:
        if spelling.startswith("~/"):
            path = os.path.join(self.place.home, spelling[2:])
        else:
            path = os.path.join(os.path.dirname(importer), spelling)
        try:
            return os.path.realpath(path) if os.path.isfile(path) else None
        except (OSError, ValueError):
            return None


def _looks_like_path(written: str) -> bool:
    """`@types/node` and `@someone` in prose are no broken imports; `@docs/a.md` is."""
    name = written.rsplit("/", 1)[-1].rstrip(".,;:!?)")
    return written.startswith(("./", "../", "/", "~/")) or (
        "." in name.lstrip(".") and not name.endswith(".")
    )

"""Instruction files in the order they enter the context, each followed by what it imports."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.files import beneath
from checkrein.base.origin import Origin, Scope, Span
from checkrein.dialects import markdown, scan, text
from checkrein.dialects.claude import imports
from checkrein.dialects.claude.place import ancestors, main_checkout
from checkrein.dialects.codes import Log, diagnose
from checkrein.dialects.coerce import as_globs
from checkrein.facts import claude
from checkrein.facts.claude_fields import RULE_FIELDS, names
from checkrein.model.items import Import, Instruction, InstructionKind
from checkrein.model.project import Place

_RULE_NAMES = names(RULE_FIELDS)
OUTSIDE = "it is outside the project and not approved"
AGAIN = "it is loaded already"
MISSING = "the file does not exist"
UNREADABLE = "it can't be read"
_ENDINGS = frozenset(
    "md mdx mdc markdown txt rst adoc json jsonc yaml yml toml ini xml csv html sh py js ts".split()  # noqa: SIM905
)


class Reach(Struct, frozen=True, kw_only=True):
    """How far to follow imports: `hops` files deep, and only into `roots` if given.

    `verbatim` keeps block comments: the lines of an item's text are then those of its file. It then does not
    report imports of missing files, and parses Markdown only if an `@path` names a file.
    """

    hops: int = claude.IMPORT_HOPS
    roots: tuple[str, ...] | None = None
    verbatim: bool = False


class Chosen(Struct, frozen=True):
    """A file to read. `text` replaces its content: a skill's body, which starts at `first_line`."""

    path: str
    scope: Scope
    text: str | None = None
    first_line: int = 1


_REACH = Reach()


def too_deep(hops: int) -> str:
    return f"imports are followed {hops} files deep"


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

    Files that `excluded` names stay in the result, without their imports. `approved` permits imports from
    outside the project.
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
    directories = [one for one in ancestors(place.cwd)[::-1] if not _is_of_main_checkout(one, place)]
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


def _is_of_main_checkout(directory: str, place: Place) -> bool:
    """A worktree inside its main checkout has the same files itself, as its own commit has them."""
    if place.repo_root is None or beneath(directory, place.repo_root):
        return False
    main = main_checkout(place.repo_root)
    return main != place.repo_root and beneath(directory, main)


def read_chosen(
    place: Place, chosen: Sequence[Chosen], log: Log, *, reach: Reach, known: Collection[str] = ()
) -> tuple[Instruction, ...]:
    """These files in their order, each followed by what it imports. `known` are real paths to leave out."""
    walk = _Walk(place, log, lambda path: False, False, reach)
    walk.seen.update(known)
    for one in chosen:
        if one.text is None:
            walk.file(one.path, one.scope, "memory")
        else:
            walk.body(one.path, one.text, one.scope, one.first_line)
    return tuple(walk.found)


def read_nested(
    place: Place, directory: str, log: Log, *, known: Collection[str] = ()
) -> tuple[Instruction, ...]:
    """The instruction files of one directory below cwd, which load when the model reads a file there.

    `known` are real paths that are already in the context.
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
    """The findings so far; every real file counts once, at its first place."""

    def __init__(
        self,
        place: Place,
        log: Log,
        excluded: Callable[[str], bool],
        approved: bool,
        reach: Reach = _REACH,
    ) -> None:
        self.place = place
        self.log = log
        self.excluded = excluded
        self.approved = approved
        self.reach = reach
        self.found: list[Instruction] = []
        self.seen: set[str] = set()
        # The imports of the current lazy rule: they do not count as loaded for other files.
        self.seen_lazily: set[str] = set()

    def file(self, path: str, scope: Scope, kind: InstructionKind) -> None:
        if not os.path.lexists(path):
            return
        # An AGENTS.md is known but not in the context, so an import of it still loads it.
        real = os.path.realpath(path)
        if real in self.seen:
            return
        loaded = text.read(path, scope, self.log)
        if loaded is not None:
            if kind != "agents_md":
                self.seen.add(real)
            self._add(path, loaded.text, scope, kind)

    def body(self, path: str, written: str, scope: Scope, first_line: int) -> None:
        kept, mentions = self._scan(path, written)
        item = Instruction(
            name=path, origin=Origin(path, scope), kind="memory", text=kept, size=len(written.encode())
        )
        self._follow(item, mentions, scope, hops=0, offset=first_line - 1)

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
            loaded = text.read(path, scope, self.log)
            if loaded is not None:
                self.seen.add(real)
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
        kept, mentions = self._scan(path, source)
        item = Instruction(
            name=path,
            origin=Origin(path, scope),
            kind=kind,
            text=kept,
            imported_by=importer.name if importer else None,
            lazy=importer.lazy if importer else False,
            size=len(source.encode()),
        )
        self._follow(item, () if kind == "agents_md" else mentions, scope, hops=hops)

    def _scan(self, path: str, source: str) -> tuple[str, tuple[imports.Mention, ...]]:
        if not self.reach.verbatim:
            return imports.scan(source)
        named = any(
            self._target(path, spelling) for spellings in imports.candidates(source) for spelling in spellings
        )
        return source, imports.scan(source)[1] if named else ()

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
                message = f"`@{written}` does not name a file, so it imports nothing"
                self.log.append(diagnose("IMP001", message, place))
            return Import(written, span, None, MISSING)
        code, skipped = self._refusal(target, scope, hops, item.lazy)
        if skipped is None:
            (self.seen_lazily if item.lazy else self.seen).add(target)
            loaded = text.read(target, scope, self.log)
            if loaded is None:
                return Import(written, span, target, UNREADABLE)
            self._add(target, loaded.text, scope, "import", hops=hops + 1, importer=item)
            return Import(written, span, target)
        self.log.append(diagnose(code, f"Claude Code does not import `@{written}`: {skipped}", place))
        return Import(written, span, target, skipped)

    def _refusal(self, target: str, scope: Scope, hops: int, lazy: bool) -> tuple[str, str | None]:
        if target in self.seen or (lazy and target in self.seen_lazily):
            return "IMP004", AGAIN
        if hops >= self.reach.hops:
            return "IMP003", too_deep(self.reach.hops)
        free = self.reach.roots is None and (scope in ("user", "managed") or self.approved)
        if not free and not self._is_inside(target):
            return "IMP002", OUTSIDE
        return "", None

    def _is_inside(self, target: str) -> bool:
        roots = self.place.within if self.reach.roots is None else self.reach.roots
        return any(beneath(target, root) for root in roots)

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
    """`@types/node`, `@someone` and the decorator `@app.cell` are not broken imports; `@docs/a.md` is one."""
    folder, slash, last = written.rpartition("/")
    name = last.rstrip(".,;:!?)")
    if written.startswith(("./", "../", "/", "~/")):
        return True
    _, dot, ending = name.lstrip(".").rpartition(".")
    return bool(dot and ending) and (bool(slash and folder) or ending.lower() in _ENDINGS)

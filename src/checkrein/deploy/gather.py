"""What deploy takes from a project: the items of the named scopes inside it, and the files beside them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import read_bytes, read_text
from checkrein.base.origin import Origin, Scope, Span
from checkrein.deploy.plugin_parts import plugin_parts
from checkrein.dialects.claude.imports import scan
from checkrein.dialects.generic.written import Attachment
from checkrein.dialects.spec_kit.read import extensions
from checkrein.dialects.spec_kit.read import read as read_extension
from checkrein.model.items import Import, Instruction
from checkrein.model.project import Project, Sources

MAX_FILES = 2_000
MAX_BYTES = 32 * 1024 * 1024
MAX_DEPTH = 8
_SKIPPED = frozenset(
    {".git", "node_modules", "__pycache__", ".DS_Store", ".venv", "venv", ".tox", ".mypy_cache"}
)


class Gathered(Struct, frozen=True):
    """`files` are the sources relative to `root`; `attachments` the other files of each skill.

    `beside` counts what the project has and was not asked for, by scope and kind.
    """

    root: str
    sources: Sources
    files: frozenset[str]
    attachments: dict[str, tuple[Attachment, ...]]
    diagnostics: tuple[Diagnostic, ...] = ()
    beside: dict[str, dict[str, int]] = {}


PROJECT_SCOPE: tuple[Scope, ...] = ("project",)


def gather(
    project: Project,
    scopes: Collection[Scope] = PROJECT_SCOPE,
    deployed: Collection[str] = (),
    plugins: Collection[str] = (),
) -> Gathered:
    """Deploy itself wrote the files in `deployed`: they are not sources. `plugins` are directories."""
    root = os.path.realpath(project.place.root)
    within = (*project.place.within, *plugins)
    log: list[Diagnostic] = []
    chosen = project.sources.of(scopes)
    if "project" in scopes:
        chosen += Sources(instructions=tuple(_nested(root, project.sources)))
        for extension in extensions(root):
            chosen += read_extension(extension)
    sources = _inside(_without(chosen, root, deployed), root, log)
    sources += plugin_parts(project.sources, plugins, root, log)
    files = {relative(item.origin.file, root) for name in _KINDS for item in getattr(sources, name)}
    attachments: dict[str, tuple[Attachment, ...]] = {}
    for skill in sources.skills:
        attachments[skill.directory] = tuple(read_attachments(skill.directory, log, within))
        files.update(
            relative(os.path.join(skill.directory, extra.path), root)
            for extra in attachments[skill.directory]
        )
    log.extend(found for found in sources.diagnostics if found.severity == "error")
    beside = _beside(project.sources, sources, root)
    return Gathered(root, sources, frozenset(filter(None, files)), attachments, tuple(log), beside)


def _beside(every: Sources, chosen: Sources, root: str) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for kind in _KINDS:
        taken = {str(item.origin) for item in getattr(chosen, kind)}
        for item in getattr(every, kind):
            if str(item.origin) not in taken and item.origin.scope not in ("managed", "bundled"):
                counts = found.setdefault(item.origin.scope, {})
                counts[kind] = counts.get(kind, 0) + 1
    return found


_KINDS = ("skills", "commands", "agents", "hooks", "rules", "servers", "instructions", "plugins", "settings")


def relative(path: str, root: str) -> str:
    """The path below the project's directory, with forward slashes; empty when it is elsewhere."""
    for start in (root, os.path.realpath(root)):
        prefix = start.rstrip(os.sep) + os.sep
        if path.startswith(prefix):
            return path[len(prefix) :].replace(os.sep, "/")
    return ""


def _without(sources: Sources, root: str, deployed: Collection[str]) -> Sources:
    if not deployed:
        return sources
    return Sources(
        **{
            name: tuple(i for i in getattr(sources, name) if relative(i.origin.file, root) not in deployed)
            for name in sources.__struct_fields__
        }
    )


def _inside(sources: Sources, root: str, log: list[Diagnostic]) -> Sources:
    """Leave out items of files outside the project: parents' instructions, linked skills.

    The user's own items, and servers that the user has for this project alone, are always outside; they are
    in the list only when their scope was named.
    """
    kept = {}
    reported: set[str] = set()
    for name in sources.__struct_fields__:
        items = getattr(sources, name)
        if name in _KINDS:
            outside = [
                item
                for item in items
                if not relative(item.origin.file, root)
                and item.origin.scope != "user"
                and not (name == "servers" and item.origin.scope == "local")
            ]
            for item in outside:
                if item.origin.file not in reported:
                    reported.add(item.origin.file)
                    log.append(_outside(item.origin))
            items = tuple(item for item in items if item not in outside) if outside else items
        kept[name] = items
    return Sources(**kept)


def _outside(origin: Origin) -> Diagnostic:
    return Diagnostic("DEP011", "info", f"{origin.file} is outside the project; it is not deployed", origin)


def _nested(root: str, sources: Sources) -> Iterator[Instruction]:
    """CLAUDE.md files below the root. The agent reads them only when it works there."""
    known = {item.origin.file for item in sources.instructions}
    for directory, folders, files in os.walk(root):
        depth = directory[len(root) :].count(os.sep)
        folders[:] = sorted(
            name for name in folders if name[0] != "." and name not in _SKIPPED and depth < MAX_DEPTH
        )
        path = os.path.join(directory, "CLAUDE.md")
        if "CLAUDE.md" not in files or directory == root or path in known or os.path.islink(path):
            continue
        found = read_text(path, within=())
        if found.readable:
            text, mentions = scan(found.text)
            imports = tuple(Import(mention.paths[0], mention.span) for mention in mentions)
            origin = Origin(path, "project", Span(1))
            size = len(found.text.encode())
            yield Instruction(
                name=path, origin=origin, kind="memory", text=text, imports=imports, lazy=True, size=size
            )


def read_attachments(directory: str, log: list[Diagnostic], within: Sequence[str]) -> Iterator[Attachment]:
    """The other files of a skill. Links are not followed; a warning names each file that is left out."""
    total, count = 0, 0
    for folder, folders, files in os.walk(directory):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        for name in sorted(files):
            path = os.path.join(folder, name)
            short = os.path.relpath(path, directory).replace(os.sep, "/")
            if name in _SKIPPED or short == "SKILL.md":
                continue
            if os.path.islink(path) or not os.path.isfile(path):
                log.append(_left_out(path, "is a link or not a regular file"))
                continue
            found = read_bytes(path, MAX_BYTES - total, within=within)
            if found.problem is not None or count >= MAX_FILES:
                too_much = count >= MAX_FILES or "larger" in (found.problem or "")
                why = "exceeds what a skill may carry" if too_much else found.problem
                log.append(_left_out(path, why or ""))
                continue
            total, count = total + len(found.data), count + 1
            yield Attachment(short, found.data, os.access(path, os.X_OK))


def _left_out(path: str, why: str) -> Diagnostic:
    return Diagnostic(
        "DEP012", "warning", f"{path} {why}; it is not deployed", Origin(path, "project", Span(1))
    )

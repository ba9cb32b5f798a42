"""Small projects for what a walk found outside the project's own places: plugins, collections, files."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any

from msgspec.structs import replace

from checkrein.base import frontmatter
from checkrein.base.files import read_text
from checkrein.dialects import agents, jsonfile, servers, skills
from checkrein.dialects.claude import files, installed, instructions, plugins
from checkrein.dialects.claude.files import FileKind
from checkrein.dialects.codes import Log
from checkrein.facts import claude_plugins, codex_plugins
from checkrein.model.items import Agent, Command
from checkrein.model.project import Detection, Place, Project, Sources
from checkrein.passes.owners import Owners
from checkrein.passes.resolve import resolve
from checkrein.passes.resolve.dialects import resolve_other
from checkrein.passes.survey.walk import Walked

NO_FRONTMATTER = "a text without the fields of an agent or a command"
FOREIGN = "written for another agent"
TEMPLATE = "a template with places to fill"
_UNKNOWN = Detection("unknown", {}, (), rule="a part of a larger tree")
_UNNAMED = re.compile(r'"name"\s*:\s*"[^"\n]*(?:\{\{|<%)')
_COMMAND_FIELDS = frozenset({"description", "allowed-tools", "argument-hint", "model"})


class Units:
    """Makes a project of each part that is not in `reached`, the real paths of files in other projects."""

    def __init__(self, main: Place, reached: set[str], skipped: dict[str, str]) -> None:
        self.main = main
        self.reached = reached
        self.skipped = skipped
        self._owners = Owners(main)

    def of(self, found: Walked) -> Iterator[Project]:
        yield from self._marketplaces(found.marketplaces)
        for root in self._written(found.plugins, claude_plugins.MANIFEST_DIR, claude_plugins.MANIFEST_FILE):
            if os.path.realpath(os.path.join(root, claude_plugins.MANIFEST_DIR)) not in self._manifests():
                yield self._made(root, plugins.read(root, marketplace=claude_plugins.INLINE, within=(root,)))
        for root in self._written(
            found.codex_plugins, codex_plugins.MANIFEST_DIR, codex_plugins.MANIFEST_FILE
        ):
            yield self._made(root, Sources())
        yield from self._skills(found.skills)
        yield from self._parts(found.agents, "agents", self._agent)
        yield from self._parts(found.commands, "commands", self._command)
        for file in self._new(found.instructions):
            yield self._instructions(file)
        for file in self._new(found.servers):
            log = self._log(os.path.dirname(file))
            document = jsonfile.read(file, "project", log)
            held = servers.read_document(document, log) if document else ()
            directory = os.path.dirname(file)
            made = Sources(servers=held, diagnostics=tuple(log))
            yield self._made(directory, made, self._owners.of(directory))

    def single(self, file: str) -> Project:
        """One file that no project holds, by its name, its folder and its fields."""
        kind = files.guess(file)
        return self._made(os.path.dirname(file), files.read(file, kind, within=self.main.within))

    def _marketplaces(self, roots: Sequence[str]) -> Iterator[Project]:
        for root in self._written(roots, claude_plugins.MANIFEST_DIR, claude_plugins.MARKETPLACE_FILE):
            sources = installed.own_marketplace(self._place(root), set())
            manifest = claude_plugins.MARKETPLACE_FILE
            if self._is_new(os.path.join(root, claude_plugins.MANIFEST_DIR, manifest)):
                yield self._made(root, sources)

    def _written(self, roots: Sequence[str], *manifest: str) -> Iterator[str]:
        """The folders whose manifest is not a template: its name is no place to fill."""
        for root in roots:
            file = os.path.join(root, *manifest)
            if _UNNAMED.search(read_text(file, within=()).text) is None:
                yield root
            else:
                self.skipped[file] = TEMPLATE

    def _manifests(self) -> set[str]:
        return {os.path.dirname(path) for path in self.reached if path.endswith(claude_plugins.MANIFEST_FILE)}

    def _skills(self, found: Sequence[str]) -> Iterator[Project]:
        """The skills of one folder together: they are one collection."""
        new = (file for file in self._new(found) if not self._is_template(file))
        for collection, members in groupby(new, lambda file: os.path.dirname(os.path.dirname(file))):
            log = self._log(collection)
            held = [
                skills.read_skill(
                    file, os.path.dirname(file), os.path.basename(os.path.dirname(file)), "project", log
                )
                for file in members
            ]
            made = Sources(skills=tuple(one for one in held if one), diagnostics=tuple(log))
            yield self._made(collection, made, self._owners.of(collection))

    def _parts(
        self, found: Sequence[str], folder: str, read: Callable[[str, Log], Sources | None]
    ) -> Iterator[Project]:
        for root, members in groupby(self._new(found), lambda file: _above(file, folder)):
            if self._owners.of(root) is not None:
                self.skipped.update(dict.fromkeys(members, FOREIGN))
                continue
            log = self._log(root)
            sources = Sources()
            bare: list[str] = []
            for file in members:
                if self._is_template(file):
                    continue
                part = read(file, log)
                if part is None:
                    bare.append(file)
                else:
                    sources += part
            for file in bare:
                if sources.commands and _is_lower(file):
                    sources += self._read_command(file, log)
                else:
                    self.skipped[file] = NO_FRONTMATTER
            if any(getattr(sources, kind) for kind in ("agents", "commands")):
                yield self._made(root, replace(sources, diagnostics=tuple(log)))

    def _agent(self, file: str, log: Log) -> Sources | None:
        fields = _fields(file)
        if not {"name", "description"} <= fields.keys():
            return None
        stem = os.path.basename(file).removesuffix(".md")
        if "tools" not in fields and _plain(str(fields["name"])) != _plain(stem):
            return None
        agent: Agent | None = agents.read(file, "project", log)
        return Sources(agents=(agent,)) if agent else Sources()

    def _command(self, file: str, log: Log) -> Sources | None:
        return self._read_command(file, log) if _fields(file).keys() & _COMMAND_FIELDS else None

    def _read_command(self, file: str, log: Log) -> Sources:
        """A command needs no fields: beside one with fields, a text is a command too."""
        command: Command | None = skills.read_command(
            file, files.command_name(file, os.path.basename(file).removesuffix(".md")), "project", log
        )
        return Sources(commands=(command,)) if command else Sources()

    def _instructions(self, file: str) -> Project:
        directory = os.path.dirname(file)
        kind: FileKind = files.kind_of(file)
        if os.path.basename(file) == "AGENTS.md":
            sources = files.read(file, kind, within=self.main.within)
            return self._made(directory, sources, "agents_md")
        log = self._log(directory)
        items = instructions.read_nested(self._place(directory), directory, log)
        self.reached.update(os.path.realpath(item.origin.file) for item in items)
        return self._made(directory, Sources(instructions=items, diagnostics=tuple(log)))

    def _is_template(self, file: str) -> bool:
        head = read_text(file, within=()).text[:2000].split("\n---", 1)[0]
        if "{{" not in head and "<%" not in head:
            return False
        self.skipped[file] = TEMPLATE
        return True

    def _new(self, found: Sequence[str]) -> Iterator[str]:
        return (file for file in found if self._is_new(file))

    def _is_new(self, file: str) -> bool:
        return os.path.realpath(file) not in self.reached

    def _log(self, root: str) -> Log:
        return Log(self._place(root).within)

    def _place(self, root: str) -> Place:
        return Place(
            cwd=root,
            root=root,
            root_reason="fallback",
            home=self.main.home,
            config_dir=self.main.config_dir,
            repo_root=self.main.repo_root or self.main.root,
        )

    def _made(self, root: str, sources: Sources, owner: str | None = None) -> Project:
        place = self._place(root)
        if owner is None:
            project = resolve(place, sources, _UNKNOWN)
        else:
            others = {owner: resolve_other(place, sources, owner)}
            project = replace(resolve(place, Sources(), _UNKNOWN), others=others)
        self.reached.update(files_of(project))
        return project


def files_of(project: Project) -> Iterator[str]:
    """The real paths of all files that a project's items come from."""
    folders: dict[str, str] = {}
    for one in (project, *project.others.values()):
        sources = one.sources
        files = {item.origin.file for kind in sources.__struct_fields__ for item in getattr(sources, kind)}
        for file in files:
            directory, name = os.path.split(file)
            if directory not in folders:
                folders[directory] = os.path.realpath(directory)
            path = os.path.join(folders[directory], name)
            yield os.path.realpath(path) if os.path.islink(path) else path


def _above(file: str, folder: str) -> str:
    """The nearest folder of that name above a file."""
    directory = os.path.dirname(file)
    while os.path.basename(directory) != folder:
        directory = os.path.dirname(directory)
    return directory


def _fields(file: str) -> dict[str, Any]:
    return frontmatter.parse(read_text(file, within=()).text).values


def _is_lower(file: str) -> bool:
    """Commands have small letters; README.md and the like are about them."""
    return os.path.basename(file).islower()


def _plain(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "").replace(" ", "")

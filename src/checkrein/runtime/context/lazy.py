"""What enters the context when a tool reads a file: nested instructions, rules and skills with `paths`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Literal

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.llm.port import Message, Text
from checkrein.model.items import Instruction, Skill
from checkrein.model.view import View
from checkrein.runtime.context.withheld import Denial, readable
from checkrein.runtime.skills.listing import description
from checkrein.runtime.skills.shelf import Shelf

LoadReason = Literal["nested_traversal", "path_glob_match"]


_WORDS = "instructions for files here; follow them"
_LOADED = re.compile(rf"^Contents of (.+) \({_WORDS}\):$", re.MULTILINE)


class Loaded(Struct, frozen=True):
    """An instruction that a read file brought in, and why."""

    item: Instruction
    reason: LoadReason
    trigger: str

    @property
    def text(self) -> str:
        head = f"Contents of {self.item.name} ({_WORDS}):"
        return f"{head}\n\n{self.item.text.strip()}"


class LazyContext:
    """Brings in each file once; `forget` (after compaction) lets it come again."""

    def __init__(self, view: View, shelf: Shelf, denial: Denial) -> None:
        self._shelf = shelf
        self._denial = denial
        self._left_out: list[Diagnostic] = []
        self._place = view.project.place
        self._conditional = [item for item in view.project.instructions if item.lazy and item.paths]
        self._start = {os.path.realpath(item.name) for item in view.project.instructions if not item.lazy}
        self._loaded: set[str] = set()
        self._visited: set[str] = set()
        self._shelved: set[str] = set()
        self.active_skills: set[str] = set()

    def restore(self, messages: Sequence[Message]) -> None:
        """Find the files that the conversation of a resumed session already holds."""
        for message in messages:
            for block in message.content:
                if isinstance(block, Text) and message.role == "user":
                    self._loaded.update(_LOADED.findall(block.text))

    def forget(self) -> None:
        self._loaded.clear()
        self._visited.clear()

    def after_read(self, path: str) -> list[Loaded]:
        """What reading `path` brings in, outermost directory first, then rules."""
        real = os.path.realpath(path)
        found = [Loaded(item, "nested_traversal", path) for item in self._nested(real)]
        for item in self._conditional:
            if item.name not in self._loaded and self._matches(item.paths, real):
                self._loaded.add(item.name)
                found.append(Loaded(item, "path_glob_match", path))
        return found

    def take_left_out(self) -> list[Diagnostic]:
        """What it did not bring in since the last call, because no request may hold it."""
        found, self._left_out = self._left_out, []
        return found

    def new_skills(self, path: str) -> str | None:
        """A note on the skills closer to this file, and on those whose `paths` match, once each."""
        real = os.path.realpath(path)
        near = {
            item.name for folder in self._between(os.path.dirname(real)) for item in self._shelf_of(folder)
        }
        fresh = [
            item
            for item in self._shelf.items()
            if item.model_invocable
            and item.name not in self.active_skills
            and self._shelf.override(item) not in ("off", "user-invocable-only")
            and (self._matches(item.paths, real) if item.paths else item.name in near)
        ]
        if not fresh:
            return None
        self.active_skills.update(item.name for item in fresh)
        lines = (f"- {item.name}: {description(item)}" for item in fresh)
        return "\n".join(("More skills fit the files you are working on:", *lines))

    def _shelf_of(self, folder: str) -> Sequence[Skill]:
        if folder in self._shelved:
            return ()
        self._shelved.add(folder)
        return self._shelf.visit(folder)

    def _nested(self, real: str) -> Iterator[Instruction]:
        for directory in self._between(os.path.dirname(real)):
            if directory in self._visited:
                continue
            self._visited.add(directory)
            for item in self._read(directory):
                if item.paths:
                    self._conditional.append(item)
                elif item.name not in self._loaded and item.text.strip():
                    self._loaded.add(item.name)
                    yield item

    def _read(self, directory: str) -> Sequence[Instruction]:
        from checkrein.dialects.claude.instructions import read_nested
        from checkrein.dialects.codes import Log

        log = Log(self._place.within)
        found = read_nested(self._place, directory, log, known=self._start)
        self._left_out += (finding for finding in log if finding.code == "FILE009")
        return tuple(readable(found, self._denial, self._left_out))

    def _between(self, directory: str) -> list[str]:
        """The directories below cwd down to `directory`."""
        root = self._place.cwd
        found: list[str] = []
        while directory.startswith(root.rstrip("/") + "/"):
            found.insert(0, directory)
            directory = os.path.dirname(directory)
        return found

    def _matches(self, patterns: Sequence[str], real: str) -> bool:
        relative = os.path.relpath(real, self._place.cwd)
        return not relative.startswith("..") and _spec(tuple(patterns))(relative)


@cache
def _spec(patterns: tuple[str, ...]) -> Matcher:
    return Matcher(patterns)


class Matcher:
    """Globs of rules and skills: `*.md` means only the root, `**/` any depth, braces list alternatives."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        from pathspec import GitIgnoreSpec

        from checkrein.passes.checks.globpatterns import dead_reason, expand

        alive = [full for pattern in patterns if dead_reason(pattern) is None for full in expand(pattern)]
        self._spec = GitIgnoreSpec.from_lines("/" + one.removeprefix("./").lstrip("/") for one in alive)

    def __call__(self, relative: str) -> bool:
        return bool(self._spec.match_file(relative))

"""Skills and commands that change while a session runs: the new text counts, the grants only shrink.

A skill keeps the grants and hooks that it had at the start, minus those that its file no longer lists. A new
skill grants nothing. Wider grants wait for a new session.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Literal, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Scope
from checkrein.model.items import Command, Invocable, Skill
from checkrein.model.project import Candidate, Place, Resolved
from checkrein.model.view import View

if TYPE_CHECKING:
    from checkrein.runtime.skills.shelf import Shelf

Stamp = tuple[int, int, int]
Found = TypeVar("Found", bound=Invocable)


class Root(Struct, frozen=True):
    """A `skills/` or `commands/` directory."""

    path: str
    scope: Scope
    kind: Literal["skills", "commands"]


class Stamps:
    """What files were like at the last look. `files` lists them."""

    def __init__(self, files: Callable[[], Iterable[str]]) -> None:
        self._files = files
        self._seen = self._now()

    def changed(self) -> set[str]:
        """The files that are new, gone or different since the last call."""
        before, self._seen = self._seen, self._now()
        return {path for path in before.keys() | self._seen if before.get(path) != self._seen.get(path)}

    def _now(self) -> dict[str, Stamp]:
        return {path: stamp for path in self._files() if (stamp := _stamp_of(path)) is not None}


class SkillFiles:
    """The directories that exist now, and the state of their files at the last look. `unread` files count as
    changed."""

    def __init__(self, place: Place, *, unread: bool = False) -> None:
        self._unread = unread
        self._within = place.within
        self._roots = tuple(_roots(place))
        self._stamps = Stamps(lambda: (path for root in self._roots for path in _files(root)))

    def changed(self) -> bool:
        """Whether anything has changed since the last call."""
        unread, self._unread = self._unread, False
        return bool(self._stamps.changed()) or unread

    def skills(self) -> list[Skill]:
        """Highest precedence first."""
        from checkrein.dialects.claude.read import read_skills
        from checkrein.dialects.codes import Log

        log = Log(self._within)
        seen: set[str] = set()
        return [
            skill
            for root in self._roots
            if root.kind == "skills"
            for skill in read_skills(root.path, root.scope, log, seen)
        ]

    def commands(self) -> list[Command]:
        from checkrein.dialects.claude.read import read_commands
        from checkrein.dialects.codes import Log

        log = Log(self._within)
        return [
            command
            for root in self._roots
            if root.kind == "commands"
            for command in read_commands(root.path, root.scope, log)
        ]

    def holds(self, item: Invocable) -> bool:
        """Whether an item is in one of the directories."""
        if isinstance(item, Skill):
            parent = os.path.dirname(item.directory)
            return any(root.path == parent for root in self._roots)
        return any(item.origin.file.startswith(f"{root.path}/") for root in self._roots)


def _roots(place: Place) -> Iterator[Root]:
    kinds: tuple[Literal["skills", "commands"], ...] = ("skills", "commands")
    return (Root(path, scope, kind) for kind in kinds for path, scope in config_dirs(place, kind))


def config_dirs(place: Place, kind: str) -> Iterator[tuple[str, Scope]]:
    """The directories of a kind that a session looks at again, as far as they exist."""
    from checkrein.dialects.claude.place import chain

    def reads(source: str) -> bool:
        return place.setting_sources is None or source in place.setting_sources

    wanted: list[tuple[str, Scope]] = []
    if reads("user"):
        wanted.append((os.path.join(place.config_dir, kind), "user"))
    if reads("project"):
        folders = (*chain(place), *place.add_dirs)
        wanted += [(os.path.join(folder, ".claude", kind), "project") for folder in folders]
    if kind == "skills":
        from checkrein.passes.load import own_skill_dirs

        wanted += [(path, "project") for path in own_skill_dirs(place)]
    return ((path, scope) for path, scope in wanted if os.path.isdir(path))


def _files(root: Root) -> Iterator[str]:
    if root.kind == "commands":
        for folder, _, names in os.walk(root.path):
            yield from (f"{folder}/{name}" for name in names if name.endswith(".md"))
        return
    try:
        yield from (f"{root.path}/{name}/SKILL.md" for name in os.listdir(root.path))
    except OSError:
        return


def _stamp_of(path: str) -> Stamp | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def renew(shelf: Shelf, files: SkillFiles) -> str:
    """Read the files again and put the result on the shelf. Returns the news for the model: skills that are
    new, gone, or have a new description."""
    before = shelf.view
    shelf.view = renewed(shelf, files)
    return _news(before, shelf.view)


def renewed(shelf: Shelf, files: SkillFiles) -> View:
    """What the shelf would show with the files as they are now."""
    from checkrein.passes.resolve import resolve

    project = shelf.view.project
    sources = replace(
        project.sources,
        skills=(*(one for one in project.sources.skills if not files.holds(one)), *files.skills()),
        commands=(*(one for one in project.sources.commands if not files.holds(one)), *files.commands()),
    )
    now = resolve(project.place, sources, project.detection)
    project = replace(
        project,
        skills=_ordered(project.skills, _readable(now.skills, shelf)),
        commands=_ordered(project.commands, _readable(now.commands, shelf)),
    )
    view = replace(shelf.view, project=project)
    if view.rules is None:
        return view
    from checkrein.passes.visibility.session_view import ruled

    return ruled(view)


def _readable(items: Mapping[str, Resolved[Found]], shelf: Shelf) -> dict[str, Resolved[Found]]:
    return {name: one for name, one in items.items() if shelf.denial(one.item.origin.file) is None}


def _ordered(
    old: Mapping[str, Resolved[Found]], new: Mapping[str, Resolved[Found]]
) -> dict[str, Resolved[Found]]:
    """The current items, without wider grants than before. Known items keep their place."""
    found: dict[str, Resolved[Found]] = {}
    for name in (*(name for name in old if name in new), *(name for name in new if name not in old)):
        kept = _narrowed(old[name].item if name in old else None, new[name].item)
        found[name] = Resolved(name, kept, (Candidate(kept), *new[name].candidates[1:]))
    return found


def _narrowed(before: Invocable | None, now: Found) -> Found:
    """The new text with the old grants at most, and no grants for a new item. New prohibitions count too."""
    if before is None:
        return replace(now, allowed_tools=(), hooks=())
    return replace(
        now,
        allowed_tools=tuple(rule for rule in now.allowed_tools if rule in before.allowed_tools),
        disallowed_tools=tuple(dict.fromkeys((*before.disallowed_tools, *now.disallowed_tools))),
        hooks=before.hooks,
    )


def _news(before: View, now: View) -> str:
    from checkrein.runtime.skills.listing import description, listable

    old, new = listable(before), listable(now)
    lines = [
        f"- {name}: {description(item)}"
        for name, item in new.items()
        if name not in old or description(old[name]) != description(item)
    ]
    known, left = before.skills | before.commands, now.skills | now.commands
    gone = [name for name in known if name not in left]
    parts = ["\n".join(("These skills are new or have a new description:", *lines))] if lines else []
    parts += [f"These skills are gone: {', '.join(gone)}."] if gone else []
    return "\n".join(parts)

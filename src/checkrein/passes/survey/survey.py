"""From the paths that a user names to the projects that are checked."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from checkrein.base.files import beneath
from checkrein.dialects.claude.place import Located, ancestors, locate
from checkrein.facts import claude, claude_plugins
from checkrein.model.project import Place, Project
from checkrein.passes.load import load
from checkrein.passes.survey.units import Units, files_of
from checkrein.passes.survey.walk import Walked, walk

_TEMPLATES = frozenset(
    {"template", "templates", "examples", "example", "starter", "scaffold", "skeleton", "assets"}
)


class Unit(Struct, frozen=True):
    """A project to check. Only findings in files below `bounds` count; None means all. `part`: what it needs
    may be elsewhere."""

    project: Project
    bounds: tuple[str, ...] | None = None
    part: bool = False


class Target(Struct, frozen=True):
    """What a user named: real paths (none for the whole project), the project's place, what a walk found."""

    place: Place
    named: tuple[str, ...]
    walked: tuple[Walked, ...]
    files: tuple[str, ...] = ()


def targets(paths: Sequence[str]) -> list[Target]:
    """The named paths by project, with one walk over each named directory."""
    located: dict[str, list[tuple[str, Located]]] = {}
    for path in paths or (".",):
        one = locate(path, env=os.environ)
        located.setdefault(one.place.root, []).append((os.path.realpath(path), one))
    return [_target([(real, one) for real, one in members], bool(paths)) for members in located.values()]


def _target(members: list[tuple[str, Located]], named: bool) -> Target:
    place = members[0][1].place
    tops: list[str] = []
    single: list[str] = []
    for real, one in members:
        if not os.path.isdir(real):
            single.append(real)
        elif named or one.place.root_reason == "home":
            tops.append(real)
        else:
            tops.append(one.place.root)
    tops = [
        top for top in dict.fromkeys(tops) if not any(beneath(top, other) and top != other for other in tops)
    ]
    walked = tuple(walk(top, place.repo_root) for top in tops if not beneath(place.home, top))
    whole = not named or place.root in tops
    return Target(place, () if whole else (*tops, *single), walked, tuple(dict.fromkeys(single)))


def survey(target: Target) -> Iterator[Unit]:
    """The project itself, the projects in it, its plugins and collections, and single files."""
    place = target.place
    bounds = target.named or None
    start = place.cwd if place.root_reason in ("home", "fallback") else place.root
    main = load(start)
    yield Unit(main, bounds)
    reached = set(files_of(main))
    units = Units(main.place, reached, {})
    for root in dict.fromkeys(_nested(target)):
        project = load(root)
        reached.update(files_of(project))
        yield Unit(project, (root,), _is_template(root, place.root))
    for found in target.walked:
        units.skipped = found.skipped
        for project in units.of(found):
            yield Unit(project, (project.place.root,), not project.plugins)
    for file in target.files:
        if file not in reached:
            yield Unit(units.single(file), (file,), part=True)


def _is_template(root: str, top: str) -> bool:
    """Whether a nested project is material to copy, not one that anyone works in."""
    return not _TEMPLATES.isdisjoint(os.path.relpath(root, top).split(os.sep))


def _nested(target: Target) -> Iterator[str]:
    """Directories with an agent's folder, other than the root: below a walk, or above a named file."""
    root = target.place.root
    for found in target.walked:
        yield from (project for project in found.projects if project != root)
    for file in target.files:
        for directory in ancestors(os.path.dirname(file)):
            if directory == root or not beneath(directory, root):
                break
            if os.path.isdir(os.path.join(directory, claude_plugins.MANIFEST_DIR)):
                yield directory
            if os.path.basename(directory) == claude.CONFIG_DIR:
                yield os.path.dirname(directory)

"""Where a project is: working directory, workspace root, repository, home, managed directory."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from msgspec import Struct

from checkrein.base.errors import FileError, NotFoundError
from checkrein.base.files import beneath, read_text
from checkrein.base.origin import Origin
from checkrein.facts import claude
from checkrein.model.project import Place, RootReason


class Located(Struct, frozen=True):
    """A Place, and the file that the user named, if any."""

    place: Place
    spec: str | None = None


def locate(
    path: str,
    *,
    env: Mapping[str, str],
    home: str | None = None,
    managed_dir: str | None = None,
    add_dirs: Sequence[str] = (),
    up_to_home: bool = False,
) -> Located:
    """Find the workspace of a directory, of a skill's directory, or of one skill, command or agent file.

    Without a marker it is the directory itself; `up_to_home` makes it the home directory, if that is above.
    """
    start = os.path.realpath(path)
    spec: str | None = None
    if os.path.isdir(start):
        if os.path.isfile(os.path.join(start, claude.SKILL_FILE)) and not _is_root(start):
            spec = os.path.join(start, claude.SKILL_FILE)
    elif os.path.exists(start):
        spec = start
    else:
        raise NotFoundError(
            f"{path} does not exist", kind="path_not_found", hint="Name a directory or a file."
        )
    home_dir = os.path.realpath(home or env.get("HOME") or os.path.expanduser("~"))
    config = env.get(claude.ENV_CONFIG_DIR)
    config_dir = (
        os.path.realpath(os.path.expanduser(config)) if config else os.path.join(home_dir, claude.CONFIG_DIR)
    )
    if spec is not None:
        named = os.path.abspath(path)
        file = os.path.join(named, claude.SKILL_FILE) if os.path.isdir(start) else named
        _require_inside(file, home_dir, config_dir)
    inside = _config_dir_above(start)
    begin = os.path.dirname(spec) if spec else start
    root, reason = _find_root(os.path.dirname(inside) if inside else begin, home_dir, up_to_home)
    cwd = root if spec or inside else start
    managed = managed_dir or claude.managed_dir()
    place = Place(
        cwd=cwd,
        root=root,
        root_reason=reason,
        home=home_dir,
        config_dir=config_dir,
        repo_root=_find_repository(cwd),
        add_dirs=tuple(os.path.realpath(os.path.join(cwd, added)) for added in add_dirs),
        managed_dir=managed,
        managed_servers=managed is not None
        and os.path.lexists(os.path.join(managed, claude.MANAGED_MCP_FILE)),
    )
    return Located(place, spec)


def _require_inside(path: str, home: str, config_dir: str) -> None:
    """Refuse a file that a link of a project leads to, if it is not in that project.

    The links of home directories, and those outside all projects, are the user's own.
    """
    parts = path.split(os.sep)[1:]
    holder = os.sep
    while parts:
        current = os.path.join(holder, parts.pop(0))
        real = os.path.realpath(current)
        if os.path.islink(current) and not beneath(current, config_dir):
            root, reason = _find_root(holder, home)
            if reason in ("claude", "git") and not beneath(real, _find_repository(root) or root):
                raise FileError(
                    f"{current} is a symbolic link that leaves the project {root}.",
                    kind="link_leaves_project",
                    hint=f"If you mean {os.path.realpath(path)}, name that.",
                    origin=Origin(current, "project"),
                )
        holder = real


def _find_root(start: str, home: str, up_to_home: bool = False) -> tuple[str, RootReason]:
    """The first directory from `start` up that holds `.claude/` or `.git`, below the home directory."""
    for directory in ancestors(start):
        if directory == home:
            return (home, "home") if up_to_home or start == home else (start, "fallback")
        if os.path.isdir(os.path.join(directory, claude.CONFIG_DIR)):
            return directory, "claude"
        if os.path.exists(os.path.join(directory, ".git")):
            return directory, "git"
    return start, "fallback"


def _find_repository(start: str) -> str | None:
    for directory in ancestors(start):
        if os.path.exists(os.path.join(directory, ".git")):
            return directory
    return None


def main_checkout(repository: str) -> str:
    """The main checkout that a linked worktree belongs to; any other repository is its own.

    The main checkout must know the worktree: a `.git` file alone, which an archive can bring, could name any
    repository and get its local settings and memory.
    """
    marker = os.path.join(repository, ".git")
    if not os.path.isfile(marker):
        return repository
    line = read_text(marker, limit=4096, within=()).text.strip()
    target = os.path.normpath(os.path.join(repository, line.removeprefix("gitdir:").strip()))
    worktrees, _, _ = target.rpartition(os.sep)
    git_dir, _, folder = worktrees.rpartition(os.sep)
    if folder != "worktrees" or os.path.basename(git_dir) != ".git":
        return repository
    back = read_text(os.path.join(target, "gitdir"), limit=4096).text.strip()
    if not back or os.path.realpath(os.path.join(target, back)) != os.path.realpath(marker):
        return repository
    return os.path.dirname(git_dir)


def ancestors(start: str) -> list[str]:
    """`start` and every directory above it, nearest first."""
    found = [start]
    while (parent := os.path.dirname(found[-1])) != found[-1]:
        found.append(parent)
    return found


def chain(place: Place) -> list[str]:
    """Directories whose `.claude/` counts as the project's: cwd and its parents up to the repository root."""
    stop = place.repo_root or place.root
    found = []
    for directory in ancestors(place.cwd):
        found.append(directory)
        if directory == stop:
            return found
    return [place.cwd]


def state_file(place: Place) -> str:
    """`.claude.json`: beside the moved config directory, or else in the home directory."""
    default = os.path.join(place.home, claude.CONFIG_DIR)
    holder = place.home if place.config_dir == default else place.config_dir
    return os.path.join(holder, claude.STATE_FILE)


def project_paths(place: Place) -> list[str]:
    """The names that a project may have in the state file, nearest first."""
    return list(dict.fromkeys(path for path in (place.cwd, place.repo_root, place.root) if path))


def _config_dir_above(start: str) -> str | None:
    """The `.claude` directory that contains or is `start`; a checkout inside one is a separate project."""
    for directory in ancestors(start):
        if os.path.basename(directory) == claude.CONFIG_DIR and os.path.isdir(directory):
            return directory
        if os.path.exists(os.path.join(directory, ".git")):
            return None
    return None


def _is_root(directory: str) -> bool:
    return any(
        os.path.exists(os.path.join(directory, name))
        for name in (claude.CONFIG_DIR, ".git", ".claude-plugin")
    )

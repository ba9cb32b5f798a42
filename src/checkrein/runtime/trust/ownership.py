"""Which settings and files belong to the project, and which to the user."""

from __future__ import annotations

import os
from collections.abc import Callable

from checkrein.base.origin import Origin
from checkrein.model.project import Place

IsProject = Callable[[Origin], bool]


def project_content(place: Place) -> IsProject:
    """A test for origins: True for what came with the project.

    That is everything of the project's scope, plugins inside the project, and local settings, unless git
    ignores and does not track them: only then do they surely belong to the user.
    """
    locals_: dict[str, bool] = {}
    real = _Real()
    roots = {place.root, place.cwd, *(() if place.repo_root is None else (place.repo_root,))}

    def inside(file: str) -> bool:
        if place.home in roots:
            return False
        return any(_below(path, root) for path in (file, real(file)) for root in roots)

    def is_project(origin: Origin) -> bool:
        if origin.scope == "project":
            return True
        if origin.scope == "plugin":
            return inside(origin.file)
        if origin.scope != "local" or not inside(origin.file):
            return False
        if origin.file not in locals_:
            locals_[origin.file] = not _is_users_own(origin.file, place)
        return locals_[origin.file]

    return is_project


class _Real:
    """Paths without links. Each directory is looked at once: plugins bring thousands of files."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def __call__(self, path: str) -> str:
        above, name = os.path.split(path)
        if not os.path.isabs(path) or name in ("", ".", ".."):
            return os.path.realpath(path)
        if above not in self._known:
            self._known[above] = self(above)
        plain = os.path.join(self._known[above], name)
        return os.path.realpath(plain) if os.path.islink(plain) else plain


def _below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip(os.sep) + os.sep)


def _is_users_own(file: str, place: Place) -> bool:
    from checkrein.passes.checks.ignored import is_ignored
    from checkrein.runtime.trust.gitindex import is_tracked

    repository = _repository(file)
    if repository is None or os.path.realpath(file) != file:
        return False
    from msgspec.structs import replace

    return is_ignored(file, replace(place, repo_root=repository)) and not is_tracked(file, repository)


def _repository(file: str) -> str | None:
    directory = os.path.dirname(file)
    while not os.path.lexists(os.path.join(directory, ".git")):
        above = os.path.dirname(directory)
        if above == directory:
            return None
        directory = above
    return directory

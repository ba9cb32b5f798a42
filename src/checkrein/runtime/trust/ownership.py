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

    def is_project(origin: Origin) -> bool:
        if origin.scope == "project":
            return True
        if origin.scope == "plugin":
            return _inside(origin.file, place)
        if origin.scope != "local" or not _inside(origin.file, place):
            return False
        if origin.file not in locals_:
            locals_[origin.file] = not _is_users_own(origin.file, place)
        return locals_[origin.file]

    return is_project


def _inside(file: str, place: Place) -> bool:
    real = os.path.realpath(file)
    roots = {place.root, place.cwd, *(() if place.repo_root is None else (place.repo_root,))}
    if place.home in roots:
        return False
    return any(_below(path, root) for root in roots for path in (file, real))


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

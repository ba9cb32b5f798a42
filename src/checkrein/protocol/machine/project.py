"""The project that a verb works on."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from checkrein.base.errors import NotFoundError

if TYPE_CHECKING:
    from checkrein.model.project import Project


def place_of(project: str) -> str:
    """The directory that sessions belong to. It must exist; everything in it may be broken."""
    if not os.path.exists(project):
        raise NotFoundError(f"{project!r} does not exist.", kind="project_not_found").during(
            "open_project", project
        )
    return project if os.path.isdir(project) else os.path.dirname(os.path.abspath(project))


def load_project(project: str) -> Project:
    from checkrein.passes.load import load

    place_of(project)
    return load(project)

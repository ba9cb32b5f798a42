"""The project that a command works on: its argument, and the check that it exists."""

from __future__ import annotations

from checkrein.base.origin import Origin
from checkrein.cli.registry import Arg

PROJECT_ARG = Arg(
    name="project",
    flags=("--project", "-C"),
    default=".",
    metavar="DIR",
    help="The project; its directory or a file in it.",
)


def require(project: str) -> None:
    """A project must exist; everything in it may be broken."""
    import os

    from checkrein.base.errors import NotFoundError

    if not os.path.exists(project):
        raise NotFoundError(
            f"{project} does not exist.",
            kind="project_not_found",
            hint="Name a directory, or a SKILL.md, command or agent file.",
            origin=Origin(os.path.abspath(project), "project"),
        )

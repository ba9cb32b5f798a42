"""Where the steps of a run work: the directory that it was started in, or a git repository of its own."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from checkrein.base.errors import RunError
from checkrein.model.recipe_plan import Plan
from checkrein.recipes.database import RunRow
from checkrein.recipes.port import Task, Workplace


class Directory:
    """The directory of the run, for all steps."""

    def __init__(self, cwd: str) -> None:
        self._cwd = cwd

    @contextlib.contextmanager
    def visit(self, task: Task) -> Iterator[str]:
        if not Path(self._cwd).is_dir():
            raise RunError(
                f"The directory {self._cwd} of the run is not there.",
                kind="workplace_missing",
                hint="Give the recipe a `workspace`, a git repository, to run on any machine.",
            )
        yield self._cwd

    def merge(self, run: str, branch: str, paths: Sequence[str]) -> str | None:
        return None


def workplace_of(row: RunRow, plan: Plan, home: Path, machine: str) -> Workplace:
    return Directory(row.cwd)

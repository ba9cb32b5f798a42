"""Where the steps of a run work: the directory that it was started in, or a git repository of its own."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from checkrein.base.errors import RunError
from checkrein.base.home import private_dir
from checkrein.model.recipe_plan import Plan
from checkrein.recipes.database import RunRow
from checkrein.recipes.port import Task, Workplace


class Directory:
    """The directory of the run, for all steps."""

    def __init__(self, cwd: str, artifacts: Path) -> None:
        self._cwd = cwd
        self._artifacts = artifacts

    @contextlib.contextmanager
    def visit(self, task: Task) -> Iterator[str]:
        if not Path(self._cwd).is_dir():
            raise RunError(
                f"The directory {self._cwd} of the run is not there.",
                kind="workplace_missing",
                hint="Give the recipe a `workspace`, a git repository, to run on any machine.",
            )
        yield self._cwd

    def artifacts(self, task: Task, cwd: str) -> str | None:
        return str(private_dir(self._artifacts))

    def merge(self, run: str, branch: str, paths: Sequence[str]) -> str | None:
        return None


def workplace_of(row: RunRow, plan: Plan, home: Path, confirm: Callable[[], None]) -> Workplace:
    """`confirm` ends the process when the run is not ours any more."""
    if plan.workspace is None:
        return Directory(row.cwd, home / "recipes" / "artifacts" / row.id)
    from checkrein.recipes.git_workspace import GitWorkspace

    address = hashlib.sha256(plan.workspace.encode()).hexdigest()[:8]
    root = home / "recipes" / "workspaces" / f"{row.id}-{address}"
    return GitWorkspace(row.id, plan.workspace, root, confirm)

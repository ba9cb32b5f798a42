from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.worktrees.worktrees import Worktrees
from support.repositories import make_repository

ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
Open = Callable[..., Worktrees]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "repository")


@pytest.fixture
def open_trees() -> Iterator[Open]:
    """Worktrees of a directory; all are closed at the end."""
    opened: list[Worktrees] = []
    with Spawner(lambda origin: True) as spawner:

        def make(cwd: Path | str, **more: object) -> Worktrees:
            trees = Worktrees(str(cwd), env=ENV, spawner=spawner, cancel=Cancel(), **more)  # type: ignore[arg-type]
            opened.append(trees)
            return trees

        yield make
        for trees in opened:
            trees.close()


@pytest.fixture
def trees(checkout: Path, open_trees: Open) -> Worktrees:
    return open_trees(checkout)

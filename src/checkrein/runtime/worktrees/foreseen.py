"""The worktree that an agent would get, for judging its calls before there is one."""

from __future__ import annotations

import os

from msgspec import Struct

from checkrein.dialects.claude.place import main_checkout
from checkrein.model.project import Place
from checkrein.policy.situation import Situation
from checkrein.runtime.worktrees.confine import confine
from checkrein.runtime.worktrees.repository import Repository
from checkrein.runtime.worktrees.worktree import Worktree
from checkrein.runtime.worktrees.worktree_names import branch_of, is_folder


class Foreseen(Struct, frozen=True):
    repository: Repository
    worktree: Worktree

    @property
    def path(self) -> str:
        return self.worktree.path

    def confine(self, situation: Situation) -> Situation:
        return confine(situation, self.repository, self.worktree)


def foreseen(agent: str, place: Place) -> Foreseen | None:
    """Starts no git and makes nothing. None where there is no repository, so that there can be none."""
    if place.repo_root is None:
        return None
    root = os.path.realpath(main_checkout(place.repo_root))
    repository = Repository(root, os.path.realpath(os.path.join(root, ".git")))
    folder = f"agent-{agent}" if is_folder(f"agent-{agent}") else "agent"
    path = os.path.join(repository.place, folder)
    return Foreseen(repository, Worktree(path, folder, branch_of(folder), "", root))

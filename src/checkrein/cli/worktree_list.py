"""`checkrein worktree list`: the worktrees of a repository, who works in them, and what is in them."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.runtime.worktrees.worktree import Row

ERRORS = (
    "project_not_found",
    "worktree_no_repository",
    "worktree_no_checkout",
    "worktree_no_commit",
    "worktree_git_failed",
)


class Payload(Struct, frozen=True):
    """`root` is the main checkout."""

    root: str
    worktrees: tuple[Row, ...] = ()


COMMAND = Command(
    name="worktree list",
    summary="List the worktrees of a repository: who works in them, and what would be lost.",
    args=(PROJECT_ARG,),
    payload=Payload,
    errors=ERRORS,
    examples=(("checkrein worktree list", "the worktrees of this repository"),),
)


def run(project: str) -> Outcome:
    import os

    from msgspec.structs import replace

    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.alone import worktrees_of

    require(project)
    with worktrees_of(project, os.environ) as trees:
        compared = trees.compared(Cancel())
        rows = (replace(row, conflicts=compared.conflicts(row.path)) for row in trees.list(Cancel()))
        payload = Payload(trees.repository.root, tuple(rows))

    def text() -> str:
        from checkrein.cli.worktree_text import table

        return table(payload.worktrees)

    return Outcome(data=payload, text=text)

"""`checkrein worktree clean`: remove the worktrees that nobody uses and nobody would miss."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.cli.worktree_list import ERRORS
from checkrein.runtime.worktrees.worktree import Cleaned, Row


class Payload(Struct, frozen=True):
    """`left` are those that stay, each with the reason."""

    root: str
    removed: tuple[str, ...] = ()
    left: tuple[tuple[str, str], ...] = ()


COMMAND = Command(
    name="worktree clean",
    summary="Remove worktrees that nobody uses, that have nothing to lose and are old enough.",
    args=(
        PROJECT_ARG,
        Arg(
            name="days",
            flags=("--days",),
            type="float",
            help="Remove those that were last used so many days ago; `cleanupPeriodDays` without it.",
        ),
        Arg(
            name="force",
            flags=("--force",),
            multiple=True,
            metavar="NAME",
            help="Also remove this one, with the work in it. Nobody may be using it.",
        ),
        Arg(name="yes", flags=("--yes", "-y"), type="bool", help="With --force: do not ask."),
    ),
    payload=Payload,
    errors=(*ERRORS, "worktree_not_found", "worktree_not_confirmed"),
    exits=((0, "done"), (1, "a worktree of --force stays, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein worktree clean", "what is clean, unused and old"),
        ("checkrein worktree clean --days 0", "what is clean and unused"),
        ("checkrein worktree clean --force fix --yes", "this one too, with its changes and commits"),
    ),
)


def run(project: str, days: float | None, force: tuple[str, ...], yes: bool) -> Outcome:
    import os

    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.worktrees.alone import worktrees_of

    require(project)
    age = _days(project) if days is None else days
    with worktrees_of(project, os.environ) as trees:
        if force:
            _confirm(force, {row.name: row for row in trees.list(Cancel())}, yes)
        done: Cleaned = trees.clean(age, Cancel(), force=force)
        payload = Payload(trees.repository.root, done.removed, done.left)

    def text() -> str:
        from checkrein.cli.worktree_text import cleaned

        return cleaned(payload.removed, payload.left)

    stays = any(name in force for name, _ in payload.left)
    return Outcome(data=payload, text=text, status=1 if stays else 0)


def _days(project: str) -> float:
    from checkrein.passes.load import load
    from checkrein.runtime.worktrees.alone import cleanup_days

    return cleanup_days(load(project, detect=False))


def _confirm(force: tuple[str, ...], rows: dict[str, Row], yes: bool) -> None:
    import sys

    from checkrein.base.errors import NotFoundError, PolicyError
    from checkrein.cli import out
    from checkrein.cli.paint import path

    for name in force:
        if name not in rows:
            raise NotFoundError(
                f"There is no worktree {name}.",
                kind="worktree_not_found",
                hint="`checkrein worktree list` shows them.",
            )
        row = rows[name]
        if yes:
            continue
        asked = f"Remove {path(row.path)} with {row.reason}?"
        if not (sys.stdin.isatty() and sys.stderr.isatty() and out.confirm(asked)):
            raise PolicyError(
                f"The worktree {name} stays: {row.reason}.",
                kind="worktree_not_confirmed",
                hint="--yes removes it without a question.",
            )

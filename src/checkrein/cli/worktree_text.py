"""Worktrees for people."""

from __future__ import annotations

from collections.abc import Sequence

from checkrein.base.harmless import one_line
from checkrein.cli import paint
from checkrein.runtime.worktrees.worktree import Row

_MINUTES = len("2026-11-17 12:00")


def table(rows: Sequence[Row]) -> str:
    if not rows:
        return "No worktrees here."
    room = max(4, *(len(one_line(row.name)) for row in rows))
    lines = [f"{'name':<{room}}  {'used (UTC)':<{_MINUTES}}  {'state':<6}  what"]
    for row in rows:
        used = row.since[:_MINUTES].replace("T", " ")
        state = row.state.replace("_", " ")
        lines.append(f"{one_line(row.name):<{room}}  {used:<{_MINUTES}}  {state:<6}  {one_line(row.reason)}")
        lines.append(paint.dim(f"{'':<{room}}  {paint.path(row.path)}"))
        lines += [f"{'':<{room}}  conflict: {one_line(one)}" for one in row.conflicts]
    return "\n".join(lines)


def cleaned(removed: Sequence[str], left: Sequence[tuple[str, str]]) -> str:
    lines = [f"Removed {one_line(name)}." for name in removed]
    lines += [f"{one_line(name)} stays: {one_line(why)}." for name, why in left]
    return "\n".join(lines) or "There is nothing to clean."

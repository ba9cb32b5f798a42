"""Comparisons and tests of rules, for people."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkrein.base.harmless import one_line
from checkrein.cli import out, paint

if TYPE_CHECKING:
    from checkrein.policy.review.comparison import Comparison, Side
    from checkrein.policy.review.rows import Checked

_COLORS = {"allow": "green", "ask": "yellow", "deny": "red"}


def compared_text(before: str, after: str, found: Comparison) -> str:
    lines = [f"{one_line(before)} to {one_line(after)}, by {found.calls} calls:"]
    for change in found.changes:
        lines.append(f"{'looser ' if change.looser else 'tighter'}  {change.call} became {change.became}")
        lines += [f"  before  {_side(change.before)}", f"  after   {_side(change.after)}"]
    for hook in found.hooks:
        what = "looser   the PreToolUse hook is gone" if hook.lost else "tighter  a PreToolUse hook came"
        lines.append(f"{what}: {hook.hook} ({one_line(hook.origin)})")
    if not found.differs:
        lines.append("No verdict differs.")
    return "\n".join(lines)


def _side(side: Side) -> str:
    verdict = out.style(f"{side.verdict:<5}", _COLORS[side.verdict])
    if side.rule and side.origin:
        return f"{verdict}  {one_line(side.rule)} ({one_line(side.origin)})"
    return f"{verdict}  {side.reason}"


def tested(rows: int, failures: Sequence[Checked], root: str) -> str:
    lines = [line for row in failures for line in _failure(row, root)]
    failed = f", {len(failures)} fail" if failures else ""
    lines.append(
        f"{rows - len(failures)} of {rows} rows pass{failed}." if rows else "The files have no rows."
    )
    return "\n".join(lines)


def _failure(row: Checked, root: str) -> list[str]:
    place = f"{one_line(os.path.relpath(row.file, root) if os.path.isabs(row.file) else row.file)}:{row.line}"
    if row.problem:
        return [f"{paint.bold(place)}: {one_line(row.problem)}"]
    wanted = " or ".join(map(one_line, row.want))
    by = f" by {one_line(row.wanted_rule)}" if row.wanted_rule else ""
    note = f" ({one_line(row.note)})" if row.note else ""
    origin = (row.origin or "").removeprefix(f"{root}/")
    rule = f"{one_line(row.rule)} ({one_line(origin)})" if row.rule and origin else row.reason
    return [
        f"{paint.bold(place)}: {row.call}{note}",
        f"  wanted {wanted}{by}",
        f"  got    {row.verdict}: {rule}",
    ]

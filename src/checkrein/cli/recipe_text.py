"""How runs of recipes look in a terminal."""

from __future__ import annotations

import threading
import time

from checkrein.base.harmless import one_line
from checkrein.cli import out
from checkrein.recipes.journal import Entry, Wait
from checkrein.recipes.views import Line, RunView

_MARKS = {
    "success": ("✓", "green"),
    "failure": ("✗", "red"),
    "context_limit": ("✗", "yellow"),
    "again": ("↻", "yellow"),
    "later": ("…", "yellow"),
    "skipped": ("-", None),
    "started": ("▸", None),
    "asked": ("?", "cyan"),
    "waited": ("…", None),
}
_COLORS = {"done": "green", "failed": "red", "crashed": "red", "waiting": "cyan", "running": "blue"}
_SHOWN = 160


class Progress:
    """A line for each step as it begins and ends: indented like the tree of bodies, with time and cost."""

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._lock = threading.Lock()

    def saw(self, path: str, entry: Entry | None) -> None:
        with self._lock:
            if entry is None:
                self._began[path] = time.monotonic()
                return
            began = self._began.pop(path, None)
        if began is not None and entry.state != "started":
            out.say(entry_line(entry, time.monotonic() - began), err=True)


def entry_line(entry: Entry, seconds: float) -> str:
    mark, color = _MARKS[entry.state]
    parts = ["  " * entry.path.count("/") + out.style(mark, color), one_line(entry.path)]
    if entry.attempt > 1:
        parts.append(f"(attempt {entry.attempt})")
    if entry.state not in ("skipped", "asked"):
        parts.append(out.style(f"{seconds:.1f} s", dim=True))
    if entry.usd:
        parts.append(f"${entry.usd:.2f}")
    if entry.by:
        parts.append(f"by {one_line(entry.by)}")
    said = entry.shown if entry.state == "asked" else entry.problem
    return " ".join(parts) + (f": {one_line(said)[:_SHOWN]}" if said else "")


def table(views: list[RunView]) -> str:
    if not views:
        return "No runs."
    rows = [
        (one.run_id, one.state, one_line(one.recipe), _ago(one.created), one_line(one.message)[:60])
        for one in views
    ]
    widths = [max(len(row[number]) for row in rows) for number in range(4)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths)) + (f"  {row[4]}" if row[4] else "")
        for row in rows
    )


def tree(view: RunView) -> str:
    """A run with its steps."""
    head = f"{view.run_id} {one_line(view.recipe)} {out.style(view.state, _COLORS.get(view.state))}"
    if view.message:
        head += f": {one_line(view.message)[:_SHOWN]}"
    lines = [head, *(_step(one) for one in view.steps if one.entry.state != "started")]
    for now in view.running:
        indent = "  " * (now.path.count("/") + 1)
        lines.append(f"{indent}{out.style('▸', 'blue')} {one_line(now.path)} since {_ago(now.since)}")
    lines += [wait_line(view.run_id, one) for one in view.waits]
    if view.usd or view.tokens:
        lines.append(f"${view.usd:.2f}, {view.tokens:,} tokens")
    return "\n".join(lines)


def wait_line(run: str, wait: Wait) -> str:
    path, shown = one_line(wait.path), one_line(wait.shown)
    match wait.kind:
        case "confirm":
            return f"{path} waits for an answer: {shown}\n  checkrein recipe approve|reject {run} {path}"
        case "reconcile":
            return f"{path}: {shown}\n  checkrein recipe reconcile {run} {path} --done|--failed|--again"
        case "timer":
            left = max(0.0, (wait.until or 0) - time.time())
            return f"{path} waits for {left:.0f} s"
        case "pause":
            return f"paused before {path}\n  checkrein recipe resume {run}"
    return f"{path} waits for a worker\n  checkrein recipe worker, or checkrein recipe resume {run}"


def _step(line: Line) -> str:
    return "  " + entry_line(line.entry, line.ended - line.began)


def _ago(moment: float) -> str:
    seconds = max(0, int(time.time() - moment))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{seconds} s ago"

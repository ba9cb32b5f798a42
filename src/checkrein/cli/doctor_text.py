"""`checkrein doctor` in a terminal."""

from __future__ import annotations

from checkrein.base.harmless import one_line
from checkrein.cli import paint
from checkrein.cli.doctor import Payload, State
from checkrein.cli.out import style

_MARKS: dict[State, tuple[str, str]] = {
    "ok": ("✓", "green"),
    "weak": ("!", "yellow"),
    "missing": ("✗", "red"),
}


def render(payload: Payload) -> str:
    width = max(len(line.name) for line in payload.lines)
    rows = []
    for line in payload.lines:
        mark, color = _MARKS[line.state]
        rows.append(f"{style(mark, fg=color)} {line.name:<{width}}  {one_line(line.found)}")
        if line.fix and line.state != "ok":
            rows.append(f"  {'':<{width}}  {paint.dim(one_line(line.fix))}")
        if line.name == "sandbox":
            rows += [f"  {'':<{width}}  {paint.dim('+ ' + text)}" for text in payload.sandbox.enforced]
            rows += [f"  {'':<{width}}  {paint.dim('- ' + text)}" for text in payload.sandbox.missing]
    return "\n".join(rows)

"""The text of `checkrein show`."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import click

from checkrein.base.harmless import indented, one_line
from checkrein.cli import paint
from checkrein.cli.out import style
from checkrein.model.project import Detection
from checkrein.passes.rows import KINDS, Row

if TYPE_CHECKING:
    from checkrein.cli.show import Payload
    from checkrein.passes.agent_row import AgentRow

_TITLES = {kind: f"{kind}s" for kind in KINDS} | {"instruction": "instructions (in loading order)"}
_FOREIGN = "files of another agent: shown and checked, not part of a session here"
_SETTINGS_SHOWN = 12
# Fields for programs, and default values.
_INNER = ("spans", "body_line", "has_frontmatter", "element", "sensitive")
_USUAL = {"model_invocable": True, "user_invocable": True, "always_load": False, "lazy": False}
_ROOT_REASONS = {
    "claude": "it holds .claude/",
    "git": "it holds .git",
    "home": "it is the home directory",
    "fallback": "no .claude/ or .git above; the scope may be incomplete",
}


def tree(payload: Payload, *, everything: bool) -> str:
    place = payload.place
    note = f"{payload.dialect}; root: {_ROOT_REASONS[place.root_reason]}"
    lines = [f"{paint.bold(paint.whole_path(place.root))}  {paint.dim(note)}"]
    off = [row for row in payload.rows if row.state == "disabled"]
    lines += _groups([row for row in payload.rows if row.dialect is None], payload.counts, everything)
    for name, counts in payload.others.items():
        rows = [row for row in payload.rows if row.dialect == name]
        if rows:
            lines += ["", f"{paint.bold(name)}  {paint.dim(_FOREIGN)}", *_groups(rows, counts, everything)]
    if not payload.rows and not payload.agents:
        lines.append("  nothing here yet")
    for agent in payload.agents:
        lines += ["", *_agent(agent)]
    if off and not everything:
        listed = ", ".join(
            f"{n} {kind}{'s' * (n > 1)}" for kind, n in Counter(row.kind for row in off).items()
        )
        lines += ["", f"not in effect: {listed}; {paint.bold('checkrein show --all')} says why"]
    if payload.problems:
        found = ", ".join(
            f"{number} {severity}{'s' * (number > 1)}" for severity, number in payload.problems.items()
        )
        lines += ["", f"{found} while loading: run {paint.bold('checkrein check')}"]
    return "\n".join(lines)


def _agent(row: AgentRow) -> list[str]:
    """What an agent has in effect, and what it has not."""
    place = "built in" if row.origin.scope == "bundled" else paint.place(row.origin)
    tools = ", ".join(row.tools) or "none"
    if row.inherits:
        tools = "all of its parent's" + (f" but {', '.join(row.without)}" if row.without else "")
    lines = [
        f"{paint.bold(one_line(row.name))}  {paint.dim(place)}",
        f"  tools: {one_line(tools)}",
        f"  model: {one_line(row.model)}; mode: {row.mode}",
    ]
    if row.starts is not None:
        lines.append(f"  starts only: {one_line(', '.join(row.starts))}")
    if row.denied:
        lines.append(f"  denies: {one_line(', '.join(row.denied))}")
    if row.unknown:
        lines.append(f"  nothing matches: {one_line(', '.join(row.unknown))}")
    for one in row.ignored:
        lines.append(f"  {one.field} ignored: {one_line(one.why)}  {paint.dim(paint.place(one.origin))}")
    if row.refused is not None:
        lines.append(f"  {one_line(row.refused)}")
    return lines


def _groups(rows: list[Row], counts: dict[str, int], everything: bool) -> list[str]:
    lines: list[str] = []
    for kind in KINDS:
        group = [row for row in rows if row.kind == kind and (everything or row.state != "disabled")]
        shown = _group(kind, group, counts.get(kind, 0), everything) if group else []
        lines += ["", *shown] if shown else []
    return lines


def _group(kind: str, group: list[Row], count: int, everything: bool) -> list[str]:
    hidden = 0
    if kind == "setting" and not everything:
        told = [row for row in group if not row.name.startswith(("permissions.", "hooks", "env."))]
        hidden = len(group) - len(told[:_SETTINGS_SHOWN])
        group = told[:_SETTINGS_SHOWN]
        if not group:
            return []
    offered = sum(row.state == "offered" for row in group)
    told_count = f"{count}, and {offered} for others to install" if offered else str(count)
    lines = [f"{paint.bold(_TITLES[kind])} {paint.dim(told_count)}"]
    widest = min(36, max((paint.cells(_name(row)) for row in group), default=0))
    for index, row in enumerate(group):
        branch = "└─" if index == len(group) - 1 and not hidden else "├─"
        lines.append(f"{paint.dim(branch)} {_line(row, widest)}")
    if hidden:
        lines.append(paint.dim(f"└─ {hidden} more: checkrein show settings"))
    return lines


def _name(row: Row) -> str:
    if row.kind == "rule":
        return one_line(f"{row.summary} {row.name}")
    return paint.path(row.name) if row.kind == "instruction" else one_line(row.name)


def _line(row: Row, widest: int) -> str:
    scope = style(f"{row.scope:<8}", fg=paint.SCOPE_COLOR.get(row.scope))
    name = paint.pad(_name(row), widest)
    if row.state == "shadowed":
        detail = f"shadowed: {row.note}"
    elif row.state == "disabled":
        detail = f"off: {row.note or 'not enabled'}"
    elif row.note and row.state != "offered":
        verb, by, file = row.note.partition("imported by ")
        detail = f"{by}{paint.path(file)}" if by and not verb else row.note
    else:
        detail = paint.place(row.origin) if row.kind in ("rule", "hook") else row.summary
    room = paint.width() - widest - 14
    text = f"{name}  {scope}  {paint.fit(one_line(detail), room)}"
    return paint.dim(click.unstyle(text)) if row.state in ("shadowed", "disabled") else text


def full(items: tuple[dict[str, Any], ...]) -> str:
    import json

    blocks = []
    for item in items:
        item = dict(item)
        origin, kind, lost = item.pop("origin"), item.pop("kind"), item.pop("lost", None)
        name = item.pop("text" if kind == "rule" else "name", "")
        name = paint.path(name) if kind == "instruction" else one_line(name)
        body = item.pop("body", None) or item.pop("text", None)
        line = origin.get("span", {}).get("line")
        where = paint.path(origin["file"]) + (f":{line}" if line else "")
        lines = [f"{paint.bold(f'{kind} {name}')}  {paint.dim(where + ' (' + origin['scope'] + ')')}"]
        if lost:
            lines.append(f"  not in effect: {lost}")
        for field, value in item.items():
            if field in _INNER or value is _USUAL.get(field):
                continue
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            lines.append(f"  {field}: {indented(text)}")
        if body:
            lines += ["", *(f"  {paint.dim('|')} {line}".rstrip() for line in body.strip("\n").split("\n"))]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def signals(detection: Detection) -> str:
    lines = [f"dialect {paint.bold(detection.dialect)}: {detection.rule}"]
    if len(detection.contributors) > 1:
        lines.append(f"made of {', '.join(detection.contributors)}")
    for dialect, score in sorted(detection.scores.items(), key=lambda pair: (-pair[1], pair[0])):
        lines += ["", f"{paint.bold(dialect)} {score:g}"]
        for signal in detection.signals:
            if signal.dialect == dialect:
                where = paint.dim(f"  {paint.path(signal.file)}") if signal.file else ""
                lines.append(f"  {signal.weight:>4g}  {signal.id:<8} {signal.evidence}{where}")
    return "\n".join(lines)

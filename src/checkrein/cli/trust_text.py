"""The text of `checkrein trust`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.base.harmless import one_line
from checkrein.cli import paint
from checkrein.cli.out import style

if TYPE_CHECKING:
    from checkrein.cli.trust import Payload

_TITLES = {
    "hook": "hooks",
    "server": "MCP servers",
    "helper": "helper commands",
    "shell line": "shell lines of skills and commands",
    "script": "scripts that these name",
    "env": "environment",
    "allow rule": "allow rules",
    "allowed tools": "allowed tools of skills and commands",
    "directory": "added directories",
    "setting": "settings that loosen something",
    "plugin": "plugins that the project switches on",
    "workspace": "repositories that recipes clone and push to",
}
_COLORS = {"added": "green", "changed": "yellow", "removed": "red"}


def surface(payload: Payload) -> str:
    """Everything that needs trust, with file and line; new items first."""
    lines = [f"{paint.bold(paint.path(payload.root))}  {payload.reason}"]
    if payload.problem:
        lines.append(style(payload.problem, fg="red"))
    for one in payload.changes:
        where = f"  {paint.dim(paint.place(one.origin))}" if one.origin else ""
        lines.append(f"  {style(one.change, fg=_COLORS[one.change])} {one_line(one.label)}{where}")
    for kind, title in _TITLES.items():
        group = [item for item in payload.items if item.kind == kind]
        if group:
            lines += ["", paint.bold(title)]
        for item in group:
            note = style(" (left out unless --env names it)", fg="yellow") if item.guarded else ""
            lines.append(f"  {one_line(item.label)}{note}  {paint.dim(paint.place(item.origin))}")
    return "\n".join([*lines, ""])


def settled(payload: Payload) -> str:
    if not payload.items:
        return f"{paint.path(payload.root)}: {payload.reason}"
    held = [item.label.partition("=")[0] for item in payload.items if item.guarded]
    note = f"\nLeft out unless --env names them: {', '.join(held)}." if held else ""
    return f"{paint.path(payload.root)} is trusted: {len(payload.items)} thing(s) may run or count.{note}"


def refused(payload: Payload) -> str:
    return f"{surface(payload)}\nNot trusted. Answer yes on a terminal, or give --yes."


def listing(payload: Payload) -> str:
    if payload.problem:
        return payload.problem
    if not payload.projects:
        return "No project is trusted."
    return "\n".join(f"{one.trusted_at}  {one.items:>4}  {one.root}" for one in payload.projects)

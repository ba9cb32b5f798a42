"""The text of the commands on plugins."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from checkrein.base.harmless import one_line
from checkrein.cli import paint
from checkrein.cli.out import style

if TYPE_CHECKING:
    from checkrein.cli import plugin_audit, plugin_info, plugin_install, plugin_list, plugin_marketplace_list
    from checkrein.model.plugins import Capabilities
    from checkrein.runtime.plugins.plugin_plan import PluginChange

_TITLES = {
    "hooks": "hook",
    "servers": "MCP server",
    "commands": "shell line",
    "tools": "pre-approved tool",
    "hosts": "host",
    "writes": "writes",
    "programs": "starts",
    "modules": "loads",
    "executables": "on PATH",
    "lsp": "language server",
    "monitors": "monitor",
    "settings": "setting",
    "opaque": "can't be judged",
}


def changes(found: Iterable[PluginChange]) -> str:
    """Each version, and what it can do that the one before could not."""
    lines = []
    for one in found:
        before = f" (was {one_line(one.before)})" if one.before else ""
        why = paint.dim("  another plugin needs it") if one.auto else ""
        lines.append(f"{paint.bold(one_line(one.identity))} {one_line(one.version)}{before}{why}")
        lines += _capabilities(one.gained, style("+", fg="yellow"))
        lines += _capabilities(one.lost, style("-", fg="green"))
        if not one.gained.lines and not one.lost.lines:
            lines.append("  the same capabilities" if one.before else "  nothing runs on its own")
    return "\n".join(lines)


def _capabilities(found: Capabilities, mark: str) -> list[str]:
    return [f"  {mark} {_TITLES[kind]}: {one_line(line)}" for kind, line in found.lines]


def installed(payload: plugin_install.Payload) -> str:
    if payload.frozen:
        return f"{len(payload.frozen)} locked plugin(s) are installed, byte for byte."
    if not payload.changes:
        return "Up to date."
    text = changes(payload.changes)
    if payload.installed:
        done = "Installed" if payload.enabled else "Installed, not enabled"
        return f"{text}\n{done} in the scope {payload.scope}. New sessions use it."
    return f"{text}\n{style('Not installed', fg='red')}: say --yes when you have read what it can do."


def listing(payload: plugin_list.Payload) -> str:
    lines = []
    for row in payload.plugins:
        mark = style("✓", fg="green") if row.enabled else style("-", fg="yellow")
        why = f"  {one_line(row.problem)}" if row.problem else ""
        where = paint.dim(f"{row.scope or ''} {row.by}".strip())
        lines.append(f"{mark} {paint.bold(one_line(row.identity))} {one_line(row.version)}  {where}{why}")
    for entry in payload.available:
        about = f"  {one_line(entry.description)}" if entry.description else ""
        lines.append(f"  {one_line(entry.identity)}{paint.dim(about)}")
    return "\n".join(lines) or "No plugins. `checkrein plugin marketplace add SOURCE` adds a marketplace."


def info(payload: plugin_info.Payload) -> str:
    head = f"{paint.bold(one_line(payload.identity))} {one_line(payload.version)}"
    lines = [head, *([f"  {one_line(payload.description)}"] if payload.description else [])]
    lines.append(
        f"  from {one_line(payload.source)}" + (f" at {payload.commit[:12]}" if payload.commit else "")
    )
    lines += [f"  {payload.hash}"] if payload.hash else []
    lines += [f"  {kind}: {count}" for kind, count in payload.parts.items()]
    lines += [f"  needs {one_line(one)}" for one in payload.needs]
    lines += [f"  option {one_line(one)}" for one in payload.options]
    lines += _capabilities(payload.capabilities, "·")
    return "\n".join(lines)


def audit(payload: plugin_audit.Payload) -> str:
    lines = []
    for one in payload.findings:
        lines.append(
            f"{style('✗', fg='red')} {one.kind} {paint.bold(one_line(one.name))}: {one_line(one.message)}"
        )
        lines += _capabilities(one.gained, style("+", fg="yellow"))
    if payload.lock_written:
        lines.append("checkrein.lock is written.")
    return "\n".join(lines) or "Everything is as checkrein.lock says."


def marketplaces(payload: plugin_marketplace_list.Payload) -> str:
    lines = []
    for row in payload.marketplaces:
        state = one_line(row.problem) if row.problem else f"{row.plugins} plugin(s)"
        lines.append(f"{paint.bold(one_line(row.name))}  {state}  {paint.dim(one_line(row.source))}")
    return "\n".join(lines) or "No marketplaces. `checkrein plugin marketplace add SOURCE` adds one."

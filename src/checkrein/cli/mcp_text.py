"""The text of the commands on servers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.base.harmless import indented, one_line
from checkrein.cli import paint
from checkrein.cli.out import style

if TYPE_CHECKING:
    from checkrein.cli import mcp_add, mcp_approve, mcp_get, mcp_list, mcp_remove, mcp_test
    from checkrein.runtime.mcp.server_row import Changes, ServerRow

_MARKS = {"connected": ("✓", "green"), "failed": ("✗", "red"), "broken": ("✗", "red"), "pending": ("…", None)}
_WARNS = ("!", "yellow")
_TEXT_SHOWN = 2000


def added(payload: mcp_add.Payload) -> str:
    where = paint.place(payload.origin)
    line = f"Added {paint.bold(payload.name)} ({payload.transport}, {payload.scope}) to {where}."
    if payload.part == "used":
        return line
    return f"{line}\nA session does not use it: {one_line(payload.reason or payload.part)}"


def removed(payload: mcp_remove.Payload) -> str:
    note = " Its tokens are gone too." if payload.signed_out else ""
    return (
        f"Removed {paint.bold(payload.name)} ({payload.scope}) from {paint.path(payload.origin.file)}.{note}"
    )


def listing(payload: mcp_list.Payload) -> str:
    lines = [style(indented(problem), fg="red") for problem in payload.problems]
    if not payload.servers:
        lines.append("No MCP servers. `checkrein mcp add` adds one.")
    widest = max((paint.cells(one_line(row.name)) for row in payload.servers), default=0)
    for row in payload.servers:
        lines += _row(row, widest)
    if payload.lock_written:
        lines.append("checkrein.lock is written.")
    return "\n".join(lines)


def _row(row: ServerRow, widest: int) -> list[str]:
    name = paint.pad(one_line(row.name), widest)
    head = f"{_mark(row.state)} {paint.bold(name)}  {_state(row)}  {paint.dim(paint.place(row.origin))}"
    lines = [head, f"    {row.scope} {row.transport}: {one_line(row.summary)}"]
    if row.reason:
        lines.append(f"    {indented(row.reason)}")
    return [*lines, *(f"    {line}" for line in _offers(row))]


def _offers(row: ServerRow) -> list[str]:
    lines = []
    if row.tools:
        lines.append(paint.fit(f"tools: {', '.join(map(one_line, row.tools))}", max(60, paint.width() - 4)))
    if row.asks:
        names = ", ".join(map(one_line, row.asks))
        told = f"changed since you accepted them, so each call asks: {names}"
        lines += [style(told, fg="yellow"), f"look at them with `checkrein mcp approve {one_line(row.name)}`"]
    if row.lock is not None:
        lines.append(f"checkrein.lock differs: {_changes(row.lock)}")
    return lines


def _changes(changes: Changes) -> str:
    parts = (("new", changes.added), ("changed", changes.changed), ("gone", changes.removed))
    return "; ".join(f"{word} {', '.join(map(one_line, names))}" for word, names in parts if names)


def _state(row: ServerRow) -> str:
    if row.state != "connected":
        return row.state
    counts = [(len(row.tools), "tool"), (row.prompts, "prompt"), (row.resources, "resource")]
    told = ", ".join(f"{number} {noun}{'s' * (number != 1)}" for number, noun in counts if number)
    took = "" if row.connect_ms is None else f" in {row.connect_ms} ms"
    return f"connected{took}: {told or 'nothing offered'}"


def _mark(state: str) -> str:
    mark, color = _MARKS.get(state, ("•", None) if state in ("configured", "shadowed", "off") else _WARNS)
    return style(mark, fg=color) if color else mark


def one(payload: mcp_get.Payload) -> str:
    row = payload.server
    lines = [f"{_mark(row.state)} {paint.bold(one_line(row.name))}  {_state(row)}"]
    lines += [f"  {indented(row.reason)}"] if row.reason else []
    lines.append(f"  from {paint.place(row.origin)} ({row.scope})")
    if row.program:
        lines.append(f"  program: {one_line(row.program)}, protocol {one_line(row.protocol or 'unknown')}")
    for key, value in payload.entry.items():
        if key != "name" and value is not False:
            lines.append(f"  {key}: {indented(_value(value))}")
    lines += [f"  {line}" for line in _offers(row)]
    if payload.claims:
        lines.append("  claims of the server, which nobody has checked:")
    lines += [
        f"    {one_line(tool)}: {'; '.join(map(one_line, told))}" for tool, told in payload.claims.items()
    ]
    for other in payload.others:
        lines.append(f"  also in {paint.place(other.origin)} ({other.scope}), {other.state}: {other.reason}")
    return "\n".join(lines)


def tested(payload: mcp_test.Payload) -> str:
    status = payload.status
    head = f"{_mark(status.state)} {paint.bold(one_line(status.name))}  {status.state}"
    lines = [f"{head} after {payload.ready_ms} ms"]
    lines += [f"  {indented(status.error)}"] if status.error else []
    if payload.program:
        lines.append(f"  {one_line(payload.program)}, protocol {one_line(payload.protocol or 'unknown')}")
    widest = min(36, max((paint.cells(one_line(tool.name)) for tool in payload.tools), default=0))
    for tool in payload.tools:
        told = paint.fit(one_line(tool.description), max(20, paint.width() - widest - 6))
        lines.append(f"  {paint.pad(one_line(tool.name), widest)}  {paint.dim(told)}")
    lines += _named("prompts", payload.prompts) + _named("resources", payload.resources)
    if payload.call is not None:
        lines += _call(payload.call)
    return "\n".join(lines)


def _named(title: str, names: Iterable[str]) -> list[str]:
    listed = ", ".join(map(one_line, names))
    return [paint.fit(f"  {title}: {listed}", paint.width())] if listed else []


def _call(call: mcp_test.Called) -> list[str]:
    failed = call.failure is not None or call.is_error
    mark = style("✗", fg="red") if failed else style("✓", fg="green")
    lines = ["", f"{mark} {paint.bold(one_line(call.tool))}  {call.ms} ms"]
    if call.failure is not None:
        return [*lines, f"  {indented(call.failure)}"]
    lines += [f"  {indented(_block(block))}" for block in call.content]
    if call.structured is not None:
        lines.append(f"  structured: {indented(_value(call.structured))}")
    return lines


def _block(block: dict[str, Any]) -> str:
    text = block.get("text")
    if block.get("type") == "text" and isinstance(text, str):
        left = len(text) - _TEXT_SHOWN
        return text if left <= 0 else f"{text[:_TEXT_SHOWN]}\n… {left} more characters; --json has them all"
    return f"[{block.get('type')}: {len(_value(block))} characters; --json has them]"


def to_approve(servers: Iterable[mcp_approve.Server]) -> str:
    """What changed, in the server's own words, all of it."""
    lines = []
    for server in servers:
        if not server.tools:
            continue
        lines.append(paint.bold(one_line(server.name)))
        for tool in server.tools:
            lines.append(f"  {style(tool.change, fg='yellow')} {one_line(tool.name)}")
            lines.append(f"    {paint.dim('|')} {indented(tool.description or '(no description)')}")
        removed = () if server.changes is None else server.changes.removed
        lines += [f"  gone {one_line(name)}" for name in removed]
    return "\n".join(lines)


def unapproved(payload: mcp_approve.Payload) -> str:
    return f"{to_approve(payload.servers)}\n\nNot accepted. Answer yes on a terminal, or give --yes."


def approved(payload: mcp_approve.Payload) -> str:
    if not payload.servers:
        return "No session here uses an MCP server. `checkrein mcp list` says why."
    lines = []
    for server in payload.servers:
        name = paint.bold(one_line(server.name))
        if server.problem:
            lines.append(f"{name}: not accepted. {indented(server.problem)}")
        elif server.tools:
            lines.append(f"{name}: {len(server.tools)} tool(s) accepted as they are now.")
        else:
            lines.append(f"{name}: nothing changed.")
    return "\n".join([*lines, *(["checkrein.lock is written."] if payload.lock_written else [])])


def _value(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()

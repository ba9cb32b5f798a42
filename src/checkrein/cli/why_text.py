"""The text of `checkrein why`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from checkrein.base.harmless import indented, one_line
from checkrein.cli import paint
from checkrein.cli.out import style
from checkrein.passes.explain import Explanation, Link
from checkrein.policy.values import Decision, Piece
from checkrein.runtime.mcp.server_row import ServerRow

if TYPE_CHECKING:
    from checkrein.cli.why import AgentTerms


def explanation(found: Explanation) -> str:
    lines = [f"{found.kind} {paint.bold(_path_or_name(found))} = {_value(found.value)}"]
    if found.origin is not None:
        field = f"  {paint.dim(found.origin.field)}" if found.origin.field else ""
        lines.append(f"  from {paint.place(found.origin)}{field}")
    lines += [f"  {_note(note)}" for note in found.notes]
    if found.order:
        lines.append(f"  {paint.dim('order: ' + found.order)}")
    if len(found.chain) > 1:
        lines += [_link(number, link) for number, link in enumerate(found.chain, 1)]
    return "\n".join(lines)


def no_part(path: str) -> str:
    return (
        f"{paint.bold(one_line(path))} is not part of the project's configuration. What tools may do with it:"
    )


_VERDICT_COLOR = {"allow": "green", "ask": "yellow", "deny": "red"}


def decision(call: str, found: Decision, parent: Decision | None = None) -> str:
    """The verdict, then each piece of the call with its own verdict, rule and place. `parent` is the verdict
    on the same call of the conversation above."""
    lines = [f"{_verdict(found.verdict)} {paint.bold(indented(call))}"]
    if found.rule is not None and found.origin is not None:
        lines.append(f"  by {indented(found.rule)}  {paint.place(found.origin)}")
    else:
        lines.append(f"  {indented(found.reason)}")
    if not found.offered and parent is None:
        lines.append("  a rule takes this tool away")
    elif not found.offered and found.rule is not None:
        lines.append(f"  {indented(found.reason)}")
    lines += [f"  {indented(note)}" for note in found.notes]
    lines += [_piece(piece) for piece in found.trace]
    if parent is not None:
        lines += [f"  main conversation: {_verdict(parent.verdict)} {indented(_cause(parent))}"]
    return "\n".join(lines)


def agent(terms: AgentTerms) -> str:
    name = paint.bold(one_line(terms.name))
    where = f", in a worktree such as {one_line(terms.worktree)}" if terms.worktree is not None else ""
    return f"agent {name}, in the mode {terms.mode}{where}  {paint.place(terms.origin)}"


def server(row: ServerRow) -> str:
    """Where a server comes from, how it is, and why it is not used."""
    lines = [f"server {paint.bold(one_line(row.name))}: {row.state}"]
    lines += [f"  {indented(row.reason)}"] if row.reason else []
    lines.append(f"  from {paint.place(row.origin)} ({row.scope})")
    if row.asks:
        asks = ", ".join(map(one_line, row.asks))
        lines.append(f"  changed since you accepted them, so each call asks: {asks}")
    return "\n".join(lines)


def unknown_server(tool: str) -> str:
    return f"No server of this project has the tool {one_line(tool)}. `checkrein mcp list` shows the servers."


def table(decisions: dict[str, Decision], parents: dict[str, Decision]) -> str:
    """A row for each call: the verdict, the call, the rule with its place, the reason; its notes below, and
    the verdict of the conversation above."""
    calls = {call: paint.fit(one_line(call), max(20, paint.width() // 3)) for call in decisions}
    rules = {
        call: f"{one_line(one.rule)}  {paint.place(one.origin)}" if one.rule and one.origin else ""
        for call, one in decisions.items()
    }
    widths = [max(map(paint.cells, column.values())) for column in (calls, rules)]
    rows = []
    for call, one in decisions.items():
        cells = (paint.pad(calls[call], widths[0]), paint.pad(rules[call], widths[1]))
        rows.append(
            f"{_verdict(one.verdict)} {'  '.join((*cells, paint.dim(one_line(one.reason))))}".rstrip()
        )
        rows += [f"        {one_line(note)}" for note in one.notes]
        if (parent := parents.get(call)) is not None:
            rows.append(f"        main conversation: {parent.verdict} {one_line(_cause(parent))}")
    return "\n".join(rows)


def _cause(found: Decision) -> str:
    return f"by {found.rule}  {paint.place(found.origin)}" if found.rule and found.origin else found.reason


def _piece(piece: Piece) -> str:
    rule = f"{piece.rule}  {paint.place(piece.origin)}" if piece.rule and piece.origin else piece.reason
    shown = paint.fit(piece.text, max(20, paint.width() - len(rule) - 16))
    return f"  {_verdict(piece.verdict)} {indented(shown)}  {paint.dim(indented(rule))}"


def _verdict(verdict: str) -> str:
    return style(f"{verdict:<5}", fg=_VERDICT_COLOR[verdict], bold=True)


def _path_or_name(found: Explanation) -> str:
    return paint.path(found.name) if found.kind == "instruction" else one_line(found.name)


def _note(note: str) -> str:
    verb, by, file = note.partition("imported by ")
    return f"{verb}{by}{paint.path(file)}" if by else indented(note)


def _link(number: int, link: Link) -> str:
    mark = "✗" if link.lost else "✓"
    reason = f"  — {link.lost}" if link.lost else ""
    room = max(24, paint.width() - 60)
    value = paint.fit(f"{link.key} = {_value(link.value)}" if link.key else _value(link.value), room)
    line = f"  {number:>2}. {mark} {link.scope:<8} {paint.place(link.origin)}  {value}{reason}"
    return paint.dim(line) if link.lost else line


def _value(value: object) -> str:
    return indented(value) if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()

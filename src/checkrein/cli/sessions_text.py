"""Sessions for people: a table of them, and what a search found."""

from __future__ import annotations

from collections.abc import Sequence

from checkrein.base.harmless import harmless
from checkrein.cli import paint
from checkrein.protocol.session_rows import Hits, Row, Rows

_ID = 8
_MINUTES = len("2026-11-17 12:00")


def table(rows: Rows) -> str:
    if not rows.total:
        return "No sessions here. `--all` shows those of all projects."
    lines = [f"{'id':<{_ID}}  {'updated (UTC)':<{_MINUTES}}  prompts  session"]
    room = paint.width() - _ID - _MINUTES - 13
    for row in rows.sessions:
        mark = "" if row.stopped else " (open)"
        summary = paint.fit(_plain(row.summary) or "(no prompt)", room - len(mark))
        lines.append(
            f"{row.session_id[:_ID]:<{_ID}}  {_time(row.updated_at):<{_MINUTES}}  {row.prompts:>7}  "
            f"{summary}{paint.dim(mark)}"
        )
    left = rows.total - len(rows.sessions)
    if left:
        lines.append(paint.dim(f"{left} more; --limit shows them."))
    return "\n".join(lines)


def listing(found: Hits) -> str:
    if not found.hits:
        return f"Nothing holds {_plain(found.text)!r}."
    lines: list[str] = []
    last = None
    for hit in found.hits:
        if hit.session_id != last:
            last = hit.session_id
            head = f"{paint.bold(last[:_ID])}  {_time(hit.updated_at)}"
            lines.append(f"{head}  {paint.fit(_plain(hit.summary), paint.width() - _ID - _MINUTES - 4)}")
        role = "prompt" if hit.role == "user" else "reply"
        lines.append(f"  {role:<6}  {paint.fit(_plain(hit.excerpt), paint.width() - 10)}")
    if found.more:
        lines.append(paint.dim("There are more; --limit shows them."))
    return "\n".join(lines)


def whole(row: Row, said: Sequence[tuple[str, str, Sequence[str]]], total: int) -> str:
    """One session: who said what, and which tools were called."""
    head = f"{paint.bold(_plain(row.summary) or row.session_id)}"
    facts = f"{row.session_id}  {_time(row.updated_at)}  {total} messages  {row.model or ''}"
    lines = [head, paint.dim(facts.rstrip())]
    if len(said) < total:
        lines.append(paint.dim(f"… {total - len(said)} messages before"))
    for role, text, calls in said:
        if text.strip():
            lines += ["", paint.bold("> You" if role == "user" else "Model"), harmless(text)]
        lines += [f"  {paint.dim('call')} {_plain(call)}" for call in calls]
    return "\n".join(lines)


def _time(stamp: str | None) -> str:
    return (stamp or "")[:_MINUTES].replace("T", " ")


def _plain(text: str) -> str:
    """One line without control characters."""
    return "".join(char if char.isprintable() else "·" for char in " ".join(text.split()))

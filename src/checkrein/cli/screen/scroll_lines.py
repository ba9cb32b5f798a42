"""What stays in the scrollback, as lines: prompts, tools with their results, notices, the end of a turn."""

from __future__ import annotations

from typing import Any

from checkrein.base.harmless import harmless, one_line
from checkrein.cli import approval, paint
from checkrein.cli.screen.ink import Line
from checkrein.cli.screen.theme import Theme
from checkrein.llm.port import text_of
from checkrein.runtime.session.events import Finished, ToolFinished

_LAST_LINES = 4
_DIFF_LINES = 24
_LONGEST = 400
_SEEN = 64 * 1024
"""Characters of a result that are looked at: its end is what people read."""


def prompt(text: str, theme: Theme) -> list[Line]:
    """What the person said."""
    first, *more = harmless(text).split("\n")
    return [
        [],
        [(theme["accent"], "> "), (theme["prompt"], first)],
        *([("", "  "), (theme["prompt"], line)] for line in more),
    ]


def tool(event: ToolFinished, theme: Theme, columns: int) -> list[Line]:
    """One line for a call, and the end of what it said."""
    bad = event.refused or event.is_error
    name, took = one_line(event.name), _seconds(event.duration_ms)
    words = paint.fit(" ".join(approval.primary(event.input).split()), columns - len(name) - 14)
    head: Line = [
        (theme["bad" if bad else "good"], "✗ " if bad else "✓ "),
        (theme["tool"], name),
        ("", f" {words} "),
        (theme["quiet"], "" if event.refused else took),
    ]
    if event.refused:
        rule = f"{event.rule} at {paint.place(event.origin)}" if event.rule and event.origin else event.reason
        return [[], head, [("", "    "), (theme["bad"], "refused"), ("", f": {rule}")]]
    return [[], head, *_said(event, theme)]


def _said(event: ToolFinished, theme: Theme) -> list[Line]:
    if event.name in ("Edit", "Write", "MultiEdit", "NotebookEdit") and not event.is_error:
        return difference_lines(_change(event.input), theme, _DIFF_LINES)
    said = event.content if isinstance(event.content, str) else text_of(event.content)
    return last_lines(said, theme, _LAST_LINES if event.name == "Bash" or event.is_error else 0)


def last_lines(said: str, theme: Theme, most: int) -> list[Line]:
    """The end of a text. Everything else is on a key."""
    whole = said.count("\n") + 1 if said.strip() else 0
    lines = [line for line in said[-_SEEN:].rstrip().split("\n") if line.strip()][-most:] if most else []
    left = whole - len(lines)
    more: list[Line] = []
    if left > 0 and (most or whole > 1):
        plural = "s" * (left != 1)
        more = [[(theme["quiet"], f"    … {left} {'more ' if lines else ''}line{plural} (Ctrl-O)")]]
    return [*more, *([(theme["quiet"], f"    {harmless(line[:_LONGEST])}")] for line in lines)]


def difference_lines(text: str, theme: Theme, most: int | None = None) -> list[Line]:
    """A diff in colours."""
    lines = [line for line in harmless(text).split("\n") if line]
    shown = lines if most is None else lines[:most]
    roles = {"+": "added", "-": "removed", "@": "quiet"}
    made: list[Line] = [
        [(theme[roles[line[0]]] if line[0] in roles else "", f"    {line}")] for line in shown
    ]
    left = len(lines) - len(shown)
    return [*made, [(theme["quiet"], f"    … {left} more lines (Ctrl-O)")]] if left else made


def _change(input: dict[str, Any]) -> str:
    old, new = input.get("old_string"), input.get("new_string")
    if isinstance(old, str) and isinstance(new, str) and len(old) + len(new) < _SEEN:
        return approval.difference(old, new)
    content = input.get("content") or input.get("new_source")
    return approval.difference("", content[:_SEEN]) if isinstance(content, str) else ""


def notice(text: str, theme: Theme, *, warns: bool) -> list[Line]:
    style = theme["warn" if warns else "quiet"]
    return [[(style, f"  {line}")] for line in harmless(text).split("\n")]


def thought(text: str, theme: Theme) -> list[Line]:
    """Thinking is collapsed to one line."""
    words = len(text.split())
    return [[], [(theme["thought"], f"  ∴ Thought for {words:,} words (Ctrl-O)")]] if words else []


def end(event: Finished, theme: Theme) -> list[Line]:
    result = event.result
    lines: list[Line] = [[]]
    if result.is_error:
        cut = result.terminal_reason.startswith("aborted")
        words = "Interrupted" if cut else f"{result.terminal_reason}: {result.problem}"
        lines += [[(theme["warn" if cut else "bad"], f"  {line}")] for line in harmless(words).split("\n")]
    money = f" · ${result.cost_usd:.4f}" if result.cost_usd else ""
    refused = f" · {len(result.denials)} refused" if result.denials else ""
    tokens = f"{result.usage.prompt + result.usage.output:,} tokens"
    lines.append([(theme["quiet"], f"  {_seconds(result.duration_ms)} · {tokens}{money}{refused}")])
    return lines


def _seconds(milliseconds: int) -> str:
    if milliseconds < 1000:
        return f"{milliseconds} ms"
    seconds = milliseconds / 1000
    return f"{seconds:.1f} s" if seconds < 60 else f"{int(seconds // 60)} min {int(seconds % 60)} s"

"""What a person sees before a call may run: what it does, then all of it, then why there is a question.

Nothing is cut. Every line of the call stands behind a bar, so that no text of it looks like ours.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from checkrein.base.harmless import harmless, one_line
from checkrein.cli import paint
from checkrein.cli.out import style
from checkrein.policy.updates import AddDirectories, AddRules, SetMode, Update

if TYPE_CHECKING:
    from checkrein.policy.values import Mode, Piece
    from checkrein.runtime.session.control import Question

_KEYS = ("command", "file_path", "notebook_path", "pattern", "url", "query", "skill", "description")
_MANY_LINES = 30
_EMPTY_LINES = 4
_SPACES = re.compile(r"[ \u00a0\u1680\u2000-\u200a\u202f\u205f\u2800\u3000\t]{40,}")
_LARGEST = 4 * 1024 * 1024
_COMPARABLE = 200_000


def primary(values: dict[str, Any]) -> str:
    """The value that says most about a call."""
    for key in _KEYS:
        if isinstance(values.get(key), str):
            return str(values[key])
    return ", ".join(f"{key}={value}" for key, value in values.items() if isinstance(value, str | int))


def whole(question: Question) -> str:
    """The question in full. After a long call its first line comes again, next to the question."""
    does, parts, rest = _described(question.tool, dict(question.input))
    head = f"{paint.bold(one_line(question.tool))} {does}"
    lines = [line for part in parts for line in _bars(part)]
    if rest:
        lines += _bars(json.dumps(rest, indent=2, ensure_ascii=False, default=str))
    shown = [head, *lines]
    if len(lines) > _MANY_LINES:
        shown.append(f"{head} ({len(lines)} lines above)")
    if question.claims:
        claims = "; ".join(map(one_line, question.claims))
        shown.append(paint.dim(f"  Claims, which nobody has checked: {claims}."))
    rule = f"  {question.rule}" if question.rule else ""
    where = f" ({paint.place(question.origin)})" if question.rule and question.origin else ""
    if len(question.trace) > 1:
        shown += [_traced(piece) for piece in question.trace if piece.text]
    shown.append(paint.dim(f"  {one_line(question.reason)}{one_line(rule)}{where}"))
    if question.near is not None:
        near = question.near
        closest = f"{one_line(near.rule)} at {paint.place(near.origin)}"
        shown.append(
            paint.dim(f"  closest rule {closest} does not cover this because {one_line(near.because)}")
        )
    return "\n".join(shown)


def _traced(piece: Piece) -> str:
    """One part of a call, its verdict, and the rule with its place."""
    color = {"allow": "green", "ask": "yellow", "deny": "red"}[piece.verdict]
    why = piece.reason
    if piece.rule is not None:
        why = f"{piece.rule} at {paint.place(piece.origin)}" if piece.origin is not None else piece.rule
    text = _SPACES.sub(lambda gap: f"({len(gap[0])} spaces)", one_line(piece.text))
    return f"  {style(f'{piece.verdict:<5}', fg=color)} {text}  {paint.dim(one_line(why))}"


def _described(tool: str, input: dict[str, Any]) -> tuple[str, list[str], dict[str, Any]]:
    """What the call does, its texts, and the other values."""
    if tool == "Bash" and isinstance(input.get("command"), str):
        outside = " outside the sandbox" if input.get("dangerouslyDisableSandbox") else ""
        later = " in the background" if input.get("run_in_background") else ""
        command = input.pop("command")
        return f"runs this command{outside}{later}:", [command], input
    absolute = os.path.isabs(os.path.expanduser(str(input.get("file_path", ""))))
    if tool == "Write" and absolute and isinstance(input.get("content"), str):
        file, content = str(input.pop("file_path", "")), input.pop("content")
        before = _current(file)
        if before is None:
            return f"creates {_named(file)}:", [content], input
        if len(before) + len(content) > _COMPARABLE:
            return f"replaces {_named(file)} with:", [content], input
        return f"replaces {_named(file)}:", [difference(before, content)], input
    if tool == "Edit" and isinstance(input.get("new_string"), str):
        file, old = str(input.pop("file_path", "")), str(input.pop("old_string", ""))
        every = " at every place" if input.get("replace_all") else ""
        new = input.pop("new_string")
        if len(old) + len(new) > _COMPARABLE:
            return f"changes {_named(file)}{every}:", [f"from:\n{old}", f"to:\n{new}"], input
        return f"changes {_named(file)}{every}:", [difference(old, new)], input
    texts = {key: value for key, value in input.items() if isinstance(value, str) and "\n" in value}
    rest = {key: value for key, value in input.items() if key not in texts}
    return "is called with:", [f"{one_line(key)}:\n{value}" for key, value in texts.items()], rest


def adds_rules(update: Update) -> bool:
    return isinstance(update, AddRules)


def update_words(update: Update) -> str:
    """What a change of the permissions means, in words."""
    match update:
        case SetMode(mode="acceptEdits"):
            return "accept edits"
        case SetMode(mode=mode):
            return f"enter the mode {mode}"
        case AddDirectories(directories=directories):
            return f"work in {', '.join(map(paint.path, directories))} too"
    return "change the permissions"


def mode_updates(mode: Mode) -> tuple[Update, ...]:
    return (SetMode(mode=mode, destination="session"),)


def _named(file: str) -> str:
    """The file, and where it really is when a link leads there."""
    real = os.path.realpath(os.path.expanduser(file)) if "\0" not in file else file
    same = real == os.path.abspath(os.path.expanduser(file))
    return paint.path(file) if same else f"{paint.path(file)} (a link to {paint.path(real)})"


def _current(file: str) -> str | None:
    from checkrein.base.files import read_text

    found = read_text(os.path.expanduser(file), limit=_LARGEST)
    if found.problem == "does not exist":
        return None
    return found.text if found.readable else f"({found.problem})"


def difference(old: str, new: str) -> str:
    from difflib import unified_diff

    lines = unified_diff(old.split("\n"), new.split("\n"), lineterm="", n=3)
    return "\n".join(list(lines)[2:]) or "(nothing changes)"


def _bars(text: str) -> Iterator[str]:
    """Each line behind a bar. Long gaps, which could push text out of sight, are counted instead."""
    bar = paint.dim("│")
    empty = 0
    for line in (*harmless(text).split("\n"), None):
        if line is not None and not line.strip():
            empty += 1
            continue
        if empty > _EMPTY_LINES:
            yield f"  {bar} {paint.dim(f'({empty} empty lines)')}"
        else:
            yield from [f"  {bar}"] * (empty if line is not None else 0)
        empty = 0
        if line is not None:
            yield f"  {bar} {_SPACES.sub(lambda gap: f'({len(gap[0])} spaces)', line)}"

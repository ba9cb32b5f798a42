"""Make the changes that findings offer."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic, Edit
from checkrein.base.files import write_atomic
from checkrein.base.jsonpos import line_starts

_BOM = "\ufeff"


class Fixed(Struct, frozen=True):
    """`made` are the findings with an applied fix.

    `left` are those that overlap one, or whose file has changed.
    """

    made: tuple[Diagnostic, ...]
    left: tuple[Diagnostic, ...]


class Plan(Struct, frozen=True):
    """The fixes that do not overlap an earlier one, and their edits by file."""

    fixed: Fixed
    edits: dict[str, list[Edit]]


def plan_fixes(found: Iterable[Diagnostic], *, unsafe: bool = False) -> Plan:
    made: list[Diagnostic] = []
    left: list[Diagnostic] = []
    edits: dict[str, list[Edit]] = {}
    for finding in found:
        fix = finding.fix
        if fix is None or not (fix.safe or unsafe):
            continue
        if any(_overlaps(edit, taken) for edit in fix.edits for taken in edits.get(edit.file, ())):
            left.append(finding)
            continue
        made.append(finding)
        for edit in fix.edits:
            edits.setdefault(edit.file, []).append(edit)
    return Plan(Fixed(tuple(made), tuple(left)), edits)


def apply_fixes(found: Iterable[Diagnostic], *, unsafe: bool = False) -> Fixed:
    """Apply every fix of the plan; each file is written once, atomically."""
    plan = plan_fixes(found, unsafe=unsafe)
    for file, changes in plan.edits.items():
        path = Path(file)
        write_atomic(path, rewritten(path.read_bytes().decode("utf-8"), changes))
    return plan.fixed


def rewritten(text: str, edits: Iterable[Edit]) -> str:
    """The whole text of a file with its edits; a byte order mark stays."""
    mark = _BOM if text.startswith(_BOM) else ""
    return mark + rewrite(text.removeprefix(mark), edits)


def rewrite(text: str, edits: Iterable[Edit]) -> str:
    starts = line_starts(text)
    placed = sorted(((_offset(text, starts, edit), edit.replacement) for edit in edits), reverse=True)
    for (begin, end), replacement in placed:
        text = text[:begin] + replacement + text[end:]
    return text


def _offset(text: str, starts: list[int], edit: Edit) -> tuple[int, int]:
    span = edit.span
    begin = starts[span.line - 1] + span.column - 1
    if span.end_column:
        return begin, starts[span.last_line - 1] + span.end_column - 1
    end = text.find("\n", starts[span.last_line - 1])
    return begin, len(text) if end < 0 else end


def _overlaps(one: Edit, other: Edit) -> bool:
    if one.file != other.file:
        return False
    first, second = sorted((_range(one), _range(other)))
    return second[0] < first[1] or first == second


def _range(edit: Edit) -> tuple[tuple[int, int], tuple[int, int]]:
    span = edit.span
    return (span.line, span.column), (span.last_line, span.end_column or 1_000_000)

"""Feature by agent: what deploy kept, approximated or lost of this project."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from checkrein.dialects.generic.keys import written_key
from checkrein.dialects.generic.written import Outcome, Written

MARKS = {"kept": "●", "approximated": "◐", "lost": "○", "": "·"}


class Cell(Struct, frozen=True):
    """How often deploy kept, approximated and lost a feature for one agent."""

    kept: int = 0
    approximated: int = 0
    lost: int = 0

    @property
    def status(self) -> str:
        """The worst that happened; empty when the project does not have the feature."""
        if self.lost:
            return "lost"
        if self.approximated:
            return "approximated"
        return "kept" if self.kept else ""


class Loss(Struct, frozen=True):
    """One line of the list under the matrix."""

    target: str
    code: str
    severity: str
    message: str
    file: str
    line: int | None


class Matrix(Struct, frozen=True):
    """`rows` maps a feature such as `skill` or `skill.model` to a cell for every agent."""

    targets: tuple[str, ...]
    rows: dict[str, dict[str, Cell]]
    losses: tuple[Loss, ...] = ()


def make_matrix(written: Mapping[str, Written]) -> Matrix:
    counts: dict[str, dict[str, list[int]]] = {}
    losses: list[Loss] = []
    order = {"kept": 0, "approximated": 1, "lost": 2}
    for target, answer in written.items():
        for outcome in answer.outcomes:
            held = counts.setdefault(_feature(outcome), {}).setdefault(target, [0, 0, 0])
            held[order[outcome.status]] += 1
            if outcome.status != "kept":
                place = outcome.origin
                losses.append(
                    Loss(target, outcome.code, outcome.severity, outcome.message, place.file, place.line)
                )
    rows = {
        feature: {target: Cell(*cells) for target, cells in sorted(found.items())}
        for feature, found in sorted(counts.items())
    }
    return Matrix(tuple(written), rows, tuple(losses))


def _feature(outcome: Outcome) -> str:
    if not outcome.field:
        return outcome.kind
    head, dot, _ = outcome.field.partition(".")
    if head in ("unknown", "agents") or outcome.code == "DEP004":
        return f"{outcome.kind}.{head}"
    return f"{outcome.kind}.{outcome.field if dot else written_key(head)}"


def matrix_text(matrix: Matrix) -> str:
    """The matrix for a terminal: ● kept, ◐ approximated, ○ lost, · absent."""
    width = max((len(feature) for feature in matrix.rows), default=7)
    heads = [target[:12] for target in matrix.targets]
    lines = [" " * width + "  " + "  ".join(heads)]
    for feature, cells in matrix.rows.items():
        marks = []
        for target, head in zip(matrix.targets, heads, strict=True):
            cell = cells.get(target, Cell())
            number = cell.lost or cell.approximated or cell.kept
            text = MARKS[cell.status] + (f" {number}" if number > 1 else "")
            marks.append(text.ljust(len(head)))
        lines.append(f"{feature.ljust(width)}  {'  '.join(marks)}".rstrip())
    lines.append("")
    lines.append("● kept   ◐ approximated   ○ lost   · the project has none")
    return "\n".join(lines)


def matrix_html(matrix: Matrix, title: str) -> str:
    """The matrix and every loss as one page that needs nothing else."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("checkrein.deploy"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    return environment.get_template("report.html").render(
        matrix=matrix, title=title, marks=MARKS, empty=Cell()
    )

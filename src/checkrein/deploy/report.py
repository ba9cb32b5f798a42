"""Feature by agent: what deploy kept, approximated or lost of this project."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from checkrein.deploy.gather import relative
from checkrein.dialects.generic.keys import written_key
from checkrein.dialects.generic.written import GUARD_LOST, Outcome, Written

MARKS = {"kept": "●", "approximated": "◐", "lost": "○", "": "·"}
LEGEND = (
    "● kept   ◐ approximated   ○ lost   · nothing to write there\n"
    "A mark is the worst that happened; the number says how often it happened."
)


class Cell(Struct, frozen=True):
    """How often deploy kept, approximated and lost a feature for one agent.

    A field of an item that is lost as a whole counts as lost.
    """

    kept: int = 0
    approximated: int = 0
    lost: int = 0

    @property
    def status(self) -> str:
        """The worst that happened; empty when there was nothing to write."""
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
    """`rows` maps a feature such as `skill` or `skill.model` to a cell for every agent.

    `losses` start with guards that do not hold. `variables` replace secrets.
    """

    project: str
    targets: tuple[str, ...]
    rows: dict[str, dict[str, Cell]]
    losses: tuple[Loss, ...] = ()
    variables: dict[str, str] = {}


def variables(written: Mapping[str, Written]) -> dict[str, str]:
    """The variables that replace secrets, each with the item and field that it is for."""
    found: dict[str, str] = {}
    for answer in written.values():
        for outcome in answer.outcomes:
            if outcome.variable is not None:
                field = outcome.field.rpartition(".")[0]
                found.setdefault(outcome.variable, f"{field} of {outcome.kind} `{outcome.name}`")
    return dict(sorted(found.items()))


def make_matrix(written: Mapping[str, Written], root: str = "") -> Matrix:
    counts: dict[str, dict[str, list[int]]] = {}
    losses: list[Loss] = []
    order = {"kept": 0, "approximated": 1, "lost": 2}
    for target, answer in written.items():
        for outcome in answer.outcomes:
            held = counts.setdefault(_feature(outcome), {}).setdefault(target, [0, 0, 0])
            held[order[outcome.status]] += 1
            if outcome.status != "kept":
                losses.append(_loss(outcome, root))
    _lost_with_their_items(counts, written)
    rows = {
        feature: {target: Cell(*cells) for target, cells in sorted(found.items())}
        for feature, found in sorted(counts.items())
    }
    losses.sort(
        key=lambda loss: (
            loss.code != GUARD_LOST,
            "`deny: " not in loss.message,
            "`ask: " not in loss.message,
        )
    )
    name = root.rstrip("/").rpartition("/")[2]
    return Matrix(name, tuple(written), rows, tuple(losses), variables(written))


def _loss(outcome: Outcome, root: str) -> Loss:
    place = outcome.origin
    file = relative(place.file, root) or place.file
    return Loss(outcome.target, outcome.code, outcome.severity, outcome.message, file, place.line)


def _lost_with_their_items(counts: dict[str, dict[str, list[int]]], written: Mapping[str, Written]) -> None:
    """Count a field as lost where its whole item is: another agent's outcomes say which fields it has."""
    fields: dict[tuple[str, str], set[str]] = {}
    lost: dict[tuple[str, str], set[str]] = {}
    for target, answer in written.items():
        for outcome in answer.outcomes:
            item = (str(outcome.origin.file), f"{outcome.kind} {outcome.name}")
            if outcome.field:
                fields.setdefault(item, set()).add(_feature(outcome))
            elif outcome.status == "lost":
                lost.setdefault(item, set()).add(target)
    for item, agents in lost.items():
        for feature in fields.get(item, ()):
            for target in agents:
                counts[feature].setdefault(target, [0, 0, 0])[2] += 1


def _feature(outcome: Outcome) -> str:
    if not outcome.field:
        return outcome.kind
    head, dot, _ = outcome.field.partition(".")
    if head in ("unknown", "agents") or outcome.code == "DEP004":
        return f"{outcome.kind}.{head}"
    return f"{outcome.kind}.{outcome.field if dot else written_key(head)}"


def matrix_text(matrix: Matrix) -> str:
    """The matrix for a terminal, with its legend."""
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
    lines.append(LEGEND)
    return "\n".join(lines)


def matrix_html(matrix: Matrix) -> str:
    """The matrix and every loss as one page that needs nothing else."""
    from jinja2 import Environment, PackageLoader

    environment = Environment(
        loader=PackageLoader("checkrein.deploy"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    guards = [loss for loss in matrix.losses if loss.code == GUARD_LOST]
    others = [loss for loss in matrix.losses if loss.code != GUARD_LOST]
    tables = {
        "Guards that do not hold: deny and ask rules, limits of tools": guards,
        "What was approximated or lost": others,
    }
    return environment.get_template("report.html").render(
        matrix=matrix, marks=MARKS, empty=Cell(), legend=LEGEND.splitlines(), tables=tables
    )

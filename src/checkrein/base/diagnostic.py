"""One finding about a project, the same whether a check, a reader, deploy or the runtime made it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, get_args

from msgspec import Struct

from checkrein.base.origin import Origin, Span

Severity = Literal["error", "warning", "info"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)


def count(found: Iterable[Diagnostic]) -> dict[str, int]:
    """The number of findings of each severity, the most severe first."""
    totals = dict.fromkeys(SEVERITIES, 0)
    for finding in found:
        totals[finding.severity] += 1
    return {str(severity): total for severity, total in totals.items()}


class Edit(Struct, frozen=True):
    """Replace the text in `span` of `file`; columns count characters. An empty span inserts."""

    file: str
    span: Span
    replacement: str


class Fix(Struct, frozen=True):
    """A change that `checkrein check --fix` can make. It makes only `safe` fixes without asking."""

    title: str
    edits: tuple[Edit, ...]
    safe: bool = True


class Diagnostic(Struct, frozen=True, omit_defaults=True):
    """`message` says what is wrong, `reason` why it matters, `hint` what to do; `fix` does it."""

    code: str
    severity: Severity
    message: str
    origin: Origin
    reason: str | None = None
    hint: str | None = None
    fix: Fix | None = None
    related: tuple[Origin, ...] = ()

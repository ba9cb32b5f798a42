"""The documentation of every code a Diagnostic may have: of checks, of readers and writers, of all others."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.diagnostic import Severity

if TYPE_CHECKING:
    from checkrein.passes.checks.check import Check


class Page(Struct, frozen=True, kw_only=True):
    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    hint: str
    bad: dict[str, str] = {}
    good: dict[str, str] = {}
    fixable: bool = False


def documentation(code: str) -> Page | None:
    """The page of a code; case does not matter."""
    return next((page for known, page in pages().items() if known.upper() == code.upper()), None)


def page_of(check: Check) -> Page:
    return Page(
        code=check.code,
        name=check.name,
        severity=check.severity,
        summary=check.summary,
        why=check.why,
        hint=check.hint,
        bad=check.bad,
        good=check.good,
        fixable=check.fixable,
    )


@cache
def pages() -> dict[str, Page]:
    """Code to page, in order of code."""
    from checkrein.dialects.codes import CODES as READING
    from checkrein.dialects.generic.loss_codes import CODES as WRITING
    from checkrein.facts.codes import CODES as OTHERS
    from checkrein.facts.recipe_codes import CODES as RECIPES
    from checkrein.passes.checks.table import checks

    found = {check.code: page_of(check) for check in checks().values()}
    for code, entry in (READING | WRITING | OTHERS | RECIPES).items():
        found[code] = Page(
            code=code,
            name=entry.name,
            severity=entry.severity,
            summary=entry.summary,
            why=entry.why,
            hint=entry.hint,
        )
    return dict(sorted(found.items()))

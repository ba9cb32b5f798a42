"""Run the checks over a project."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.model.project import Project
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.table import checks


def check(project: Project, select: Collection[str] = (), ignore: Collection[str] = ()) -> list[Diagnostic]:
    """All findings, those of loading included, in the order of file and line.

    `select` and `ignore` hold codes or prefixes of codes; the longer prefix wins, `ignore` on a tie.
    """
    subject = Subject(project)
    found: list[Diagnostic] = [
        finding for finding in project.diagnostics if wanted(finding.code, select, ignore)
    ]
    for code, one in checks().items():
        if wanted(code, select, ignore) and (one.profile == "default" or _named(code, select)):
            found.extend(one.diagnostics(subject))
    return sort(_only_own_fixes(project, finding) for finding in found)


def _only_own_fixes(project: Project, finding: Diagnostic) -> Diagnostic:
    """Files outside the project are reported, never changed."""
    if finding.fix is None:
        return finding
    place = project.place
    roots = tuple(root.rstrip(os.sep) + os.sep for root in (place.root, place.cwd))
    if all(edit.file.startswith(roots) for edit in finding.fix.edits):
        return finding
    return replace(finding, fix=None)


def sort(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """In the order of file, line and column, each finding once."""
    return sorted(dict.fromkeys(found), key=_place)


def _place(found: Diagnostic) -> tuple[str, int, int, str, str]:
    span = found.origin.span
    return found.origin.file, span.line if span else 0, span.column if span else 0, found.code, found.message


def wanted(code: str, select: Collection[str], ignore: Collection[str]) -> bool:
    """Whether a code is to be reported; the longer prefix wins, `ignore` on a tie."""
    chosen = _longest(code, select) if select else 0
    return chosen >= 0 and chosen > _longest(code, ignore)


def _longest(code: str, prefixes: Collection[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def _named(code: str, select: Collection[str]) -> bool:
    return any(code.startswith(prefix) and prefix for prefix in select)

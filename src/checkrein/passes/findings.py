"""Run the checks over a project."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable

from msgspec.structs import replace

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin
from checkrein.facts.agent_skills import COLLECTION, SKILLS_DIR
from checkrein.model.project import Project
from checkrein.passes.checks.check import Check, Subject
from checkrein.passes.checks.table import checks
from checkrein.passes.others import deployed, only_new
from checkrein.passes.owners import Owners

_SHARED = f"{os.sep}{SKILLS_DIR.replace('/', os.sep)}{os.sep}"


def check(
    project: Project,
    select: Collection[str] = (),
    ignore: Collection[str] = (),
    extra: Iterable[Check] = (),
    *,
    part: bool = False,
) -> list[Diagnostic]:
    """All findings, including those of loading, in the order of file and line.

    `select` and `ignore` hold codes or prefixes of codes; the longer prefix wins, `ignore` on a tie. `extra`
    are checks of other packages: if one raises, that becomes a finding. `part`: the project is a piece of a
    larger tree.
    """

    def is_chosen(one: Check) -> bool:
        if part and one.whole:
            return False
        return wanted(one.code, select, ignore) and (one.profile == "default" or _named(one.code, select))

    ours = [one for one in checks().values() if is_chosen(one)]
    theirs = [one for one in extra if is_chosen(one)]
    subjects = [Subject(project)]
    copies = deployed(project.place.root) if project.others else set()
    for name, other in project.others.items():
        subjects.append(Subject(only_new(other, project.sources, copies), name))
    apart = _apart(project)
    found: list[Diagnostic] = []
    for subject in subjects:
        left_out = "others" if subject.dialect is None else "own"
        found.extend(subject.project.diagnostics)
        for one in ours:
            if one.dialects != left_out:
                found.extend(_own(one, one.diagnostics(subject), apart))
        for one in theirs:
            if one.dialects != left_out:
                found.extend(_guarded(one, subject))
    kept = (finding for finding in found if wanted(finding.code, select, ignore))
    return sort(_only_own_fixes(project, finding) for finding in kept)


def _apart(project: Project) -> tuple[str, ...]:
    """What the path of a skill holds that is not for Claude Code: the shared folder, and the collection of a
    package for another agent."""
    place = project.place
    collection = os.path.join(place.root, COLLECTION, "")
    if os.path.isdir(collection) and Owners(place).of(place.root) is not None:
        return _SHARED, collection
    return (_SHARED,)


def _own(one: Check, found: Iterable[Diagnostic], apart: tuple[str, ...]) -> Iterable[Diagnostic]:
    """Without findings about Claude Code in skills that it does not read."""
    if one.dialects != "own":
        return found
    return (finding for finding in found if not any(path in finding.origin.file for path in apart))


def _guarded(check: Check, subject: Subject) -> list[Diagnostic]:
    try:
        return list(check.diagnostics(subject))
    except Exception as error:
        message = f"The check {check.code} failed: {type(error).__name__}: {error}"
        return [Diagnostic("EXT002", "warning", message, Origin(subject.project.place.root, "project"))]


def _only_own_fixes(project: Project, finding: Diagnostic) -> Diagnostic:
    """The finding without a fix for files outside the project: those are never changed."""
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
    """Whether to report a code; the longer prefix wins, `ignore` on a tie."""
    chosen = _longest(code, select) if select else 0
    return chosen >= 0 and chosen > _longest(code, ignore)


def _longest(code: str, prefixes: Collection[str]) -> int:
    return max((len(prefix) for prefix in prefixes if code.startswith(prefix)), default=-1)


def _named(code: str, select: Collection[str]) -> bool:
    return any(code.startswith(prefix) and prefix for prefix in select)

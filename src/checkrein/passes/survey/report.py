"""Run the checks over what the user named, and say what was looked at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import beneath
from checkrein.model.project import Project
from checkrein.passes.checks.check import Check
from checkrein.passes.codes import pages
from checkrein.passes.findings import check, sort
from checkrein.passes.suppressions import suppress
from checkrein.passes.survey.examined import Examined, count_items
from checkrein.passes.survey.survey import Target, Unit, survey


class Choice(Struct, frozen=True, kw_only=True):
    """Which codes count: `select` and `ignore` for all files, `per_file` by pattern. `told` are findings that
    are not about files of the project; `extra` are checks of installed packages."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    per_file: dict[str, list[str]] = {}
    told: tuple[Diagnostic, ...] = ()
    extra: tuple[Check, ...] = ()
    extended: bool = False
    """An installed package adds a check, a tool or a dialect."""


class Report(Struct, frozen=True):
    """`hidden` counts the findings that comments and the configuration leave out."""

    found: tuple[Diagnostic, ...]
    examined: Examined
    hidden: int = 0


def make_report(target: Target, choice: Choice) -> tuple[Report, list[Project]]:
    """The findings of one target, in the order of files and lines, and the projects they come from."""
    units = list(survey(target))
    found = [finding for unit in units for finding in _within(unit, target, choice)]
    if not target.named:
        found.extend(choice.told)
    known = (*pages(), *(one.code for one in choice.extra))
    kept = suppress(sort(found), choice.per_file, target.place.root, known)
    projects = [unit.project for unit in units]
    skipped = {path: reason for found in target.walked for path, reason in found.skipped.items()}
    looked = count_items(projects, skipped, target.place.root, target.named)
    return Report(tuple(sort(kept.found)), looked, kept.hidden), projects


def _within(unit: Unit, target: Target, choice: Choice) -> Iterator[Diagnostic]:
    kept: dict[str, bool] = {}
    for finding in check(unit.project, choice.select, choice.ignore, choice.extra, part=unit.part):
        file = finding.origin.file
        if file not in kept:
            real = os.path.realpath(file)
            kept[file] = _is_below(real, unit.bounds) and _is_below(real, target.named or None)
        if kept[file]:
            yield finding


def _is_below(file: str, bounds: Sequence[str] | None) -> bool:
    return bounds is None or any(beneath(file, bound) for bound in bounds)


def join(reports: Sequence[Report]) -> Report:
    """Several targets as one."""
    if len(reports) == 1:
        return reports[0]
    counts: dict[str, int] = {}
    for report in reports:
        for kind, number in report.examined.counts.items():
            counts[kind] = counts.get(kind, 0) + number
    looked = Examined(
        sum(report.examined.files for report in reports),
        counts,
        tuple(unread for report in reports for unread in report.examined.unread),
    )
    found = sort(finding for report in reports for finding in report.found)
    return Report(tuple(found), looked, sum(report.hidden for report in reports))

"""`checkrein check`: what is wrong, dead, ignored or unsafe in a project, and how to fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.cli.check_args import ARGS, Given
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import require
from checkrein.passes.codes import Page
from checkrein.passes.survey.examined import Examined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checkrein.base.config import Config
    from checkrein.passes.survey.report import Choice, Report
    from checkrein.passes.survey.survey import Target

_ROUNDS = 10
"""A fix can lie in the way of another, which the next round makes."""


class Payload(Struct, frozen=True, omit_defaults=True):
    """`known` counts the findings in the baseline and `hidden` those that comments and the configuration
    leave out; neither are listed. --fix repaired the `fixed` ones. `diff` is what --fix would change."""

    root: str
    findings: tuple[Diagnostic, ...]
    counts: dict[str, int]
    examined: Examined
    known: int = 0
    hidden: int = 0
    fixed: tuple[Diagnostic, ...] = ()
    diff: str | None = None


class Listed(Struct, frozen=True):
    """All codes that `check` can report, with their pages."""

    codes: tuple[Page, ...]


COMMAND = Command(
    name="check",
    summary="Report what is wrong, dead, ignored or unsafe in a project, with the fix.",
    args=ARGS,
    payload=(Payload, Page, Listed),
    errors=("project_not_found", "code_not_found", "baseline_invalid", "revision_not_found"),
    exits=((0, "nothing at or above --fail-on"), (1, "findings, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein check", "the project in this directory, and everything in it"),
        ("checkrein check skills/review .claude", "only what is there"),
        ("checkrein check --diff-base main", "only what a branch can have caused"),
        ("checkrein check --fix", "and apply the safe fixes"),
        ("checkrein check --explain AS003", "what a code means"),
    ),
)


def run(given: Given) -> Outcome:
    if given.explain is not None:
        from checkrein.cli.check_codes import explain

        return explain(given.explain)
    if given.list_codes:
        from checkrein.cli.check_codes import listing

        return listing(_codes(given.select), _codes(given.ignore))
    for path in given.path:
        require(path)
    from checkrein.base.diagnostic import SEVERITIES, count
    from checkrein.passes.survey.report import join
    from checkrein.passes.survey.survey import targets

    chosen = [(target, *_choice(target, given)) for target in targets(given.path)]
    pairs = [(target, choice) for target, choice, _ in chosen]
    root = _root([target.place.root for target, _ in pairs])
    report = join([_report(target, choice, cached=not given.no_cache) for target, choice in pairs])
    fixed: list[Diagnostic] = []
    if given.fix or (given.unsafe_fixes and not given.diff):
        report, fixed = _fixed(report, pairs, given)
    found = list(report.found)
    if given.diff_base is not None:
        found = _since(found, root, given.diff_base)
    found, known = _without_baseline(found, root, chosen[0][2], given)
    diff = None
    if given.diff:
        from checkrein.passes.differences import difference

        diff = difference(found, root, unsafe=given.unsafe_fixes)
    payload = Payload(
        root, tuple(found), count(found), report.examined, known, report.hidden, tuple(fixed), diff
    )
    failing = SEVERITIES[: [str(s) for s in SEVERITIES].index(given.fail_on) + 1]
    status = 1 if any(finding.severity in failing for finding in found) else 0

    def text() -> str:
        from checkrein.cli import check_text

        return check_text.render(payload, given.format_, statistics=given.statistics, files=given.files)

    return Outcome(data=payload, text=text, status=status, is_data=given.format_ != "text" or given.diff)


def _choice(target: Target, given: Given) -> tuple[Choice, Config]:
    from pathlib import Path

    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS
    from checkrein.passes.extensions import installed_checks, installed_dialects, installed_tools
    from checkrein.passes.findings import wanted
    from checkrein.passes.survey.report import Choice

    root = target.place.root
    config = load_config(KEYS, Path(root), checkrein_home())
    select = _codes(given.select) or config.get("check.select")
    ignore = _codes(given.ignore) or config.get("check.ignore")
    installed, dialects = installed_checks(root), installed_dialects(root)
    per_file = config.get("check.per_file")
    named = [code.upper() for codes in per_file.values() for code in codes]
    _require_known([*select, *ignore, *named], [one.name for one in installed.added])
    told = (*config.diagnostics, *_effects(config), *installed.problems, *dialects.problems)
    return Choice(
        select=tuple(select),
        ignore=tuple(ignore),
        per_file=per_file,
        told=tuple(finding for finding in told if wanted(finding.code, select, ignore)),
        extra=tuple(installed.values()),
        extended=bool(installed.added or dialects.added or installed_tools(root).added),
    ), config


def _report(target: Target, choice: Choice, *, cached: bool) -> Report:
    from checkrein.passes.survey.cache import Cache

    cache = Cache(target, choice) if cached else None
    held = cache.load() if cache else None
    if held is not None:
        return held
    from checkrein.passes.survey.report import make_report

    report, projects = make_report(target, choice)
    if cache is not None:
        cache.store(report, projects)
    return report


def _fixed(
    report: Report, pairs: Sequence[tuple[Target, Choice]], given: Given
) -> tuple[Report, list[Diagnostic]]:
    """Apply fixes until none is left, and check again."""
    from checkrein.passes.fix import apply_fixes
    from checkrein.passes.survey.report import join

    fixed: list[Diagnostic] = []
    for _ in range(_ROUNDS):
        made = apply_fixes(report.found, unsafe=given.unsafe_fixes).made
        fixed.extend(made)
        if not made:
            break
        report = join([_report(target, choice, cached=False) for target, choice in pairs])
    return report, fixed


def _since(found: list[Diagnostic], root: str, revision: str) -> list[Diagnostic]:
    import os

    from checkrein.passes.survey.affected import affected
    from checkrein.runtime.process.git_changes import changed_files

    return affected(found, changed_files(root, revision, os.environ))


def _without_baseline(
    found: list[Diagnostic], root: str, config: Config, given: Given
) -> tuple[list[Diagnostic], int]:
    from pathlib import Path

    from checkrein.passes import baseline

    default = ".checkrein-baseline.json" if given.write_baseline else None
    file = given.baseline or config.get("check.baseline") or default
    if file is None:
        return found, 0
    place = Path(file) if given.baseline else Path(root, file)
    held = config.values["check.baseline"]
    if not given.baseline and held.layer in ("default", "project"):
        baseline.require_inside(place, root, held.origin)
    if given.write_baseline:
        baseline.write_baseline(place, found, root)
    return baseline.subtract_baseline(place, found, root)


def _root(roots: Sequence[str]) -> str:
    import os

    return roots[0] if len(roots) == 1 else os.path.commonpath(roots)


def _effects(config: Config) -> list[Diagnostic]:
    """What is wrong with the declared effects of server tools."""
    if not config.get("mcp.effects"):
        return []
    from checkrein.runtime.mcp.declared_effects import DeclaredEffects

    return DeclaredEffects.of(config).problems


def _codes(values: Sequence[str]) -> list[str]:
    return [code.strip().upper() for value in values for code in value.split(",") if code.strip()]


def _require_known(prefixes: list[str], installed: list[str]) -> None:
    """A misspelt code would select nothing, and an empty report looks like a clean project."""
    from checkrein.base.errors import UsageError
    from checkrein.base.nearest import did_you_mean
    from checkrein.passes.codes import pages

    known = [*pages(), *installed] if prefixes else []
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in known):
            raise UsageError(
                f"No code starts with {prefix}.{did_you_mean(prefix, known)}",
                kind="code_not_found",
                hint="`checkrein check --list` names all codes; a family such as PERM selects all of them.",
            )

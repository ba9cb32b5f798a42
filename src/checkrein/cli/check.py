"""`checkrein check`: what is wrong, dead, ignored or unsafe in a project, and how to fix it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import require
from checkrein.passes.codes import Page

if TYPE_CHECKING:
    from checkrein.base.config import Config
    from checkrein.model.project import Project

_FORMATS = ("text", "json", "sarif", "github")


class Payload(Struct, frozen=True, omit_defaults=True):
    """`known` counts the findings in the baseline, which are not listed. --fix repaired the `fixed` ones."""

    root: str
    findings: tuple[Diagnostic, ...]
    counts: dict[str, int]
    known: int = 0
    fixed: tuple[Diagnostic, ...] = ()


class Given(Struct, frozen=True, kw_only=True):
    path: str
    fix: bool
    unsafe_fixes: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    format_: str
    baseline: str | None
    write_baseline: bool
    explain: str | None
    fail_on: str


COMMAND = Command(
    name="check",
    summary="Report what is wrong, dead, ignored or unsafe in a project, with the fix.",
    args=(
        Arg(
            name="path", default=".", help="The project. With one file of it: only the findings in that file."
        ),
        Arg(name="fix", flags=("--fix",), type="bool", help="Apply the safe fixes."),
        Arg(name="unsafe_fixes", flags=("--unsafe-fixes",), type="bool", help="With --fix: apply all fixes."),
        Arg(
            name="select",
            flags=("--select",),
            multiple=True,
            metavar="CODES",
            help="Only codes that start with these, separated by commas.",
        ),
        Arg(
            name="ignore",
            flags=("--ignore",),
            multiple=True,
            metavar="CODES",
            help="Leave out codes that start with these.",
        ),
        Arg(
            name="format_",
            flags=("--format",),
            type="choice",
            choices=_FORMATS,
            default="text",
            help="How to print the findings.",
        ),
        Arg(
            name="baseline",
            flags=("--baseline",),
            metavar="FILE",
            help="Do not report the findings in this file.",
        ),
        Arg(
            name="write_baseline",
            flags=("--write-baseline",),
            type="bool",
            help="Write the current findings into the baseline.",
        ),
        Arg(
            name="explain",
            flags=("--explain",),
            complete="codes",
            metavar="CODE",
            help="Explain one code, with examples.",
        ),
        Arg(
            name="fail_on",
            flags=("--fail-on",),
            type="choice",
            choices=("error", "warning", "info"),
            default="warning",
            help="The lowest severity that makes the exit status 1.",
        ),
    ),
    payload=(Payload, Page),
    errors=("project_not_found", "code_not_found", "baseline_invalid"),
    exits=((0, "nothing at or above --fail-on"), (1, "findings, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein check", "the project in this directory"),
        ("checkrein check --fix", "and apply the safe fixes"),
        ("checkrein check --explain AS003", "what a code means"),
    ),
)


def run(given: Given) -> Outcome:
    if given.explain is not None:
        return _explain(given.explain)
    path = given.path
    require(path)
    import os
    from pathlib import Path

    from checkrein.base.config import load_config
    from checkrein.base.diagnostic import SEVERITIES, count
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS
    from checkrein.passes import baseline as known_findings
    from checkrein.passes.extensions import installed_checks, installed_dialects
    from checkrein.passes.findings import check, sort, wanted
    from checkrein.passes.fix import apply_fixes
    from checkrein.passes.load import load

    project = load(path)
    root = project.place.root
    config = load_config(KEYS, Path(root), checkrein_home())
    chosen = _codes(given.select) or config.get("check.select")
    left_out = _codes(given.ignore) or config.get("check.ignore")
    installed = installed_checks(root)
    _require_known([*chosen, *left_out], [one.name for one in installed.added])
    told = (*config.diagnostics, *_effects(config), *installed.problems, *installed_dialects(root).problems)
    own = [finding for finding in told if wanted(finding.code, chosen, left_out)]
    only = os.path.realpath(path) if os.path.isfile(path) else None

    def findings(loaded: Project) -> list[Diagnostic]:
        found = sort([*check(loaded, chosen, left_out, installed.values()), *own])
        return [one for one in found if only is None or os.path.realpath(one.origin.file) == only]

    found = findings(project)
    fixed: tuple[Diagnostic, ...] = ()
    if given.fix or given.unsafe_fixes:
        fixed = apply_fixes(found, unsafe=given.unsafe_fixes).made
        if fixed:
            found = findings(load(path))
    default = ".checkrein-baseline.json" if given.write_baseline else None
    file = given.baseline or config.get("check.baseline") or default
    known = 0
    if file is not None:
        place = Path(file) if given.baseline else Path(root, file)
        held = config.values["check.baseline"]
        if not given.baseline and held.layer in ("default", "project"):
            known_findings.require_inside(place, root, held.origin)
        if given.write_baseline:
            known_findings.write_baseline(place, found, root)
        found, known = known_findings.subtract_baseline(place, found, root)
    payload = Payload(root, tuple(found), count(found), known, fixed)
    failing = SEVERITIES[: [str(s) for s in SEVERITIES].index(given.fail_on) + 1]
    status = 1 if any(finding.severity in failing for finding in found) else 0

    def text() -> str:
        from checkrein.cli import check_text

        return check_text.render(payload, given.format_)

    return Outcome(data=payload, text=text, status=status)


def _effects(config: Config) -> list[Diagnostic]:
    """What is wrong with the declared effects of server tools."""
    if not config.get("mcp.effects"):
        return []
    from checkrein.runtime.mcp.declared_effects import DeclaredEffects

    return DeclaredEffects.of(config).problems


def _codes(values: tuple[str, ...]) -> list[str]:
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
                hint="docs/checks.md lists all codes; a family such as PERM selects all of its codes.",
            )


def _explain(code: str) -> Outcome:
    from checkrein.base.errors import NotFoundError
    from checkrein.base.nearest import did_you_mean
    from checkrein.passes.codes import documentation, page_of, pages
    from checkrein.passes.extensions import installed_checks

    page = documentation(code.upper())
    if page is None:
        added = installed_checks().added
        page = next((page_of(one.value) for one in added if one.name == code.upper()), None)
    if page is None:
        raise NotFoundError(
            f"There is no code {code}.{did_you_mean(code.upper(), pages())}",
            kind="code_not_found",
            hint="docs/checks.md lists all codes.",
        )

    def text() -> str:
        from checkrein.cli import check_text

        return check_text.page(page)

    return Outcome(data=page, text=text)

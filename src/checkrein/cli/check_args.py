"""The arguments of `checkrein check`."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.registry import Arg

FORMATS = ("text", "json", "sarif", "github", "gitlab")


class Given(Struct, frozen=True, kw_only=True):
    path: tuple[str, ...]
    fix: bool
    unsafe_fixes: bool
    diff: bool
    select: tuple[str, ...]
    ignore: tuple[str, ...]
    diff_base: str | None
    format_: str
    statistics: bool
    files: bool
    baseline: str | None
    write_baseline: bool
    list_codes: bool
    explain: str | None
    fail_on: str
    no_cache: bool


ARGS = (
    Arg(
        name="path",
        multiple=True,
        help="Files and folders to check; without any, the whole project.",
    ),
    Arg(name="fix", flags=("--fix",), type="bool", help="Apply the safe fixes, and list them."),
    Arg(
        name="unsafe_fixes",
        flags=("--unsafe-fixes",),
        type="bool",
        help="Apply all fixes, also those that can add a power.",
    ),
    Arg(
        name="diff", flags=("--diff",), type="bool", help="Print what --fix would change, and change nothing."
    ),
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
        name="diff_base",
        flags=("--diff-base",),
        metavar="REV",
        help="Only findings that the changes since this git revision can have caused.",
    ),
    Arg(
        name="format_",
        flags=("--format",),
        type="choice",
        choices=FORMATS,
        default="text",
        help="How to print the findings.",
    ),
    Arg(name="statistics", flags=("--statistics",), type="bool", help="Count the findings by code."),
    Arg(name="files", flags=("--files",), type="bool", help="List what was not read, and why."),
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
    Arg(name="list_codes", flags=("--list",), type="bool", help="List all codes, with what they mean."),
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
    Arg(name="no_cache", flags=("--no-cache",), type="bool", help="Read everything again."),
)

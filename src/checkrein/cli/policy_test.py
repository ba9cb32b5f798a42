"""`checkrein policy test`: a team's tests of its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.errors import NotFoundError
from checkrein.cli.layers import layers_arg, layers_of
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.policy.review.rows import PATTERN, Checked

if TYPE_CHECKING:
    from checkrein.model.project import Project
    from checkrein.policy.review.rows import Terms
    from checkrein.policy.situation import Situation
    from checkrein.policy.values import KernelLayer
    from checkrein.runtime.call.links import LiveLinks


class Payload(Struct, frozen=True):
    """`failures` are rows that got another verdict or another rule, or are broken."""

    files: tuple[str, ...]
    rows: int
    passed: int
    failures: tuple[Checked, ...]


COMMAND = Command(
    name="policy test",
    summary="Run the tests of a project's permission rules.",
    args=(
        Arg(
            name="tests",
            multiple=True,
            metavar="FILE...",
            help=f"The tests; without it, `{PATTERN}` beside the settings: in `.claude/` and `.checkrein/`.",
        ),
        PROJECT_ARG,
        Arg(
            name="effective",
            flags=("--effective",),
            type="bool",
            help="Judge by your own and the managed settings too, and by your trust; without it, as for"
            " everybody who clones the project and trusts it.",
        ),
        layers_arg("none"),
    ),
    payload=Payload,
    errors=("project_not_found", "file_not_found", "tests_not_found"),
    exits=((0, "every row passes"), (1, "a row fails, or there is none"), (2, "wrong usage")),
    examples=(
        ("checkrein policy test", "all rows beside the settings"),
        ("checkrein policy test team.policy.jsonl --json", "one file, for a program"),
    ),
    details="""A row is `{"call": "Bash(git push)", "want": "deny", "rule": "Bash(git push *)"}`: a call,
as text or with `tool` and `input`, and the verdict that it must get, or a list of verdicts. `rule` names
the rule that must decide, `note` says why the row is there. The other fields are those of `checkrein decide`,
apart from `permissions`. A line that begins with `//` or `#` is a comment.""",
)


def run(tests: tuple[str, ...], project: str, effective: bool, layers: str | None) -> Outcome:
    from checkrein.passes.load import load
    from checkrein.passes.shared import load_shared
    from checkrein.policy.review.rows import checked, is_row

    require(project)
    loaded = load(project, detect=False) if effective else load_shared(project)
    files = tests or _beside(loaded)
    if not files:
        raise NotFoundError(
            f"There is no {PATTERN} beside the settings of {loaded.place.root}.",
            kind="tests_not_found",
            hint='Write rows such as {"call": "Bash(git push)", "want": "ask"} to .claude/team.policy.jsonl.',
        )
    terms = _terms(loaded, None if effective else True, layers_of(layers or "none"))
    rows = [
        checked(line, file, number, terms)
        for file in files
        for number, line in enumerate(_read(file).split(b"\n"), 1)
        if is_row(line)
    ]
    failures = tuple(row for row in rows if not row.passed)
    payload = Payload(tuple(files), len(rows), len(rows) - len(failures), failures)

    def text() -> str:
        from checkrein.cli.policy_text import tested

        return tested(payload.rows, failures, loaded.place.root)

    return Outcome(data=payload, text=text, status=1 if failures or not rows else 0)


def _terms(project: Project, trusted: bool | None, layers: tuple[KernelLayer, ...] | None) -> Terms:
    from functools import cache

    from checkrein.passes.calls import parse_call
    from checkrein.passes.tools import added_tools
    from checkrein.policy.review.rows import Terms
    from checkrein.policy.situation import Terms as Session
    from checkrein.runtime.call.links import LiveLinks
    from checkrein.runtime.session.prospect import situation_of

    added = added_tools(project.place.root)
    tools = added.registry()

    @cache
    def situation(mode: str | None, said: bool | None) -> Situation:
        chosen = trusted if said is None else said
        return situation_of(project, Session(mode=mode, tools=tools), trusted=chosen, layers=layers)

    def judge(mode: str | None, said: bool | None) -> tuple[Situation, LiveLinks]:
        return situation(mode, said), LiveLinks()

    return Terms(project=judge, parse=lambda text: parse_call(text, added), tools=tools)


def _beside(project: Project) -> tuple[str, ...]:
    import os
    from glob import escape, glob

    folders = (os.path.join(project.place.cwd, name) for name in (".claude", ".checkrein"))
    return tuple(path for folder in folders for path in sorted(glob(os.path.join(escape(folder), PATTERN))))


def _read(file: str) -> bytes:
    from checkrein.base.files import read_bytes

    found = read_bytes(file)
    if found.problem is not None:
        raise NotFoundError(f"{file} {found.problem}.", kind="file_not_found")
    return found.data

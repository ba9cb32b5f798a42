"""`checkrein policy diff`: what two revisions of a project's rules decide differently."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.cli.layers import layers_arg, layers_of
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.policy.review.comparison import Comparison

if TYPE_CHECKING:
    from checkrein.base.diagnostic import Diagnostic
    from checkrein.policy.review.comparison import Sample
    from checkrein.policy.review.past import PastCall
    from checkrein.policy.situation import Situation
    from checkrein.policy.values import KernelLayer
    from checkrein.runtime.worktrees.revision import Revision

SOURCES = ("built-in", "transcripts")
_FAILS = ("looser", "any", "never")


class Payload(Struct, frozen=True):
    before: str
    after: str
    comparison: Comparison


COMMAND = Command(
    name="policy diff",
    summary="List the calls that became allowed, asked or denied between two commits.",
    args=(
        Arg(
            name="revisions",
            required=True,
            metavar="REV..REV",
            help="Two commits; `A...B` begins where they branched, `A` alone ends at the work tree.",
        ),
        PROJECT_ARG,
        Arg(
            name="calls",
            flags=("--calls",),
            multiple=True,
            metavar="SOURCE",
            help="The calls to compare: built-in, transcripts (those of past sessions here), or a file with"
            " records as for `decide`. Without it, built-in. Calls that the rules name come with each.",
        ),
        Arg(
            name="fail_on",
            flags=("--fail-on",),
            type="choice",
            choices=_FAILS,
            default="looser",
            help="What makes the exit status 1.",
        ),
        layers_arg("none"),
    ),
    payload=Payload,
    errors=("project_not_found", "file_not_found", "revision_not_found", "git_failed"),
    exits=(
        (0, "nothing that --fail-on names"),
        (1, "a call became looser, or a difference of the named kind"),
        (2, "wrong usage"),
    ),
    examples=(
        ("checkrein policy diff origin/main...HEAD", "what a branch changes, for its review"),
        ("checkrein policy diff HEAD", "what the work tree changes"),
        ("checkrein policy diff v1..v2 --calls transcripts --json", "by the calls of past sessions"),
    ),
    details="""The rules are those that everybody gets with the project, trusted; your own and managed
settings do not count. Nothing is checked out, and nothing of the repository runs: the files of both commits
are read from git into a temporary directory.""",
)


def run(
    revisions: str, project: str, calls: tuple[str, ...], fail_on: str, layers: str | None = None
) -> Outcome:
    import os

    from checkrein.policy.review.comparison import compared
    from checkrein.runtime.worktrees.revision import both_ends

    require(project)
    root = os.path.realpath(project if os.path.isdir(project) else os.path.dirname(project) or ".")
    samples = [sample for source in calls or SOURCES[:1] for sample in _samples(source, root)]
    held = layers_of(layers or "none")
    with both_ends(revisions, root, os.environ) as (before, after):
        found = compared(_situation(before, held), _situation(after, held), samples)
    payload = Payload(before.name, after.name, found)
    failed = found.looser if fail_on == "looser" else found.differs and fail_on == "any"

    def text() -> str:
        from checkrein.cli.policy_text import compared_text

        return compared_text(before.name, after.name, found)

    return Outcome(
        data=payload, text=text, status=1 if failed else 0, warnings=(*_skipped(before), *_skipped(after))
    )


def _situation(revision: Revision, layers: tuple[KernelLayer, ...] | None) -> Situation:
    from checkrein.passes.shared import load_shared
    from checkrein.runtime.session.prospect import situation_of

    project = load_shared(revision.path, ("project", "local"))
    return situation_of(project, trusted=True, layers=layers)


def _samples(source: str, root: str) -> Iterator[Sample]:
    import os

    from checkrein.facts.policy_calls import EVERYDAY, HARMFUL
    from checkrein.passes.calls import parse_call
    from checkrein.policy.review.comparison import Sample
    from checkrein.policy.review.past import PastCall
    from checkrein.runtime.store.past_calls import past_calls, transcripts_of

    if source == "built-in":
        for text in (*EVERYDAY, *HARMFUL):
            yield Sample(PastCall(call=parse_call(text)), root, "built in")
    elif source == "transcripts":
        for past in past_calls(transcripts_of(root, os.environ), root, within=True).calls:
            yield Sample(past, root, "transcripts")
    else:
        yield from (Sample(past, root, "file") for past in _records(source))


def _records(file: str) -> Iterator[PastCall]:
    import msgspec

    from checkrein.base.files import read_bytes
    from checkrein.passes.calls import parse_call
    from checkrein.policy.review.past import PastCall
    from checkrein.policy.review.rows import is_row
    from checkrein.policy.values import Call

    found = read_bytes(file)
    if found.problem is not None:
        raise NotFoundError(
            f"{file} {found.problem}.", kind="file_not_found", hint=f"Name a file, or {', '.join(SOURCES)}."
        )
    for number, line in enumerate(found.data.split(b"\n"), 1):
        if not is_row(line):
            continue
        try:
            record = msgspec.json.decode(line)
        except (msgspec.DecodeError, RecursionError) as error:
            raise UsageError(f"{file}:{number} is not a record: {error}.") from error
        if isinstance(record, dict) and isinstance(record.get("call"), str):
            yield PastCall(call=parse_call(record["call"]))
        elif isinstance(record, dict) and isinstance(record.get("tool"), str):
            input = record.get("input")
            yield PastCall(call=Call(record["tool"], input if isinstance(input, dict) else {}))
        else:
            raise UsageError(f"{file}:{number} has neither `call` nor `tool`.")


def _skipped(revision: Revision) -> tuple[Diagnostic, ...]:
    from checkrein.base.diagnostic import Diagnostic
    from checkrein.base.origin import Origin

    return tuple(
        Diagnostic(
            "AUDIT001",
            "warning",
            f"{path} of {revision.name} is a link or too large, and was not read",
            Origin(path, "project"),
        )
        for path in revision.skipped
    )

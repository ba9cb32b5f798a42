"""`checkrein audit`: what calls of past sessions would get under the rules of today."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.cli.layers import layers_arg, layers_of
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.run_args import MODES
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.policy.review.audit import Audit

if TYPE_CHECKING:
    from checkrein.base.diagnostic import Diagnostic
    from checkrein.runtime.store.past_calls import Transcripts


class Payload(Struct, frozen=True):
    """`files` are the transcripts that were read, `damaged` their lines that are torn or no JSON."""

    root: str
    files: int
    damaged: int
    audit: Audit


COMMAND = Command(
    name="audit",
    summary="Judge the calls of past sessions by the rules of today, and suggest rules that spare questions.",
    args=(
        Arg(
            name="transcripts",
            multiple=True,
            metavar="PATH...",
            help="Transcripts, or directories of them; without it, those of sessions in the project.",
        ),
        PROJECT_ARG,
        Arg(
            name="suggest",
            flags=("--suggest",),
            type="bool",
            help="Propose the smallest set of allow rules; none allows a call that a person refused.",
        ),
        Arg(
            name="at_least",
            flags=("--at-least",),
            type="int",
            default=2,
            metavar="N",
            help="With --suggest: propose a rule only for at least so many questions.",
        ),
        Arg(
            name="rule",
            flags=("--rule",),
            multiple=True,
            metavar="RULE",
            help="Say what this allow rule would have spared, and which refused calls it would allow.",
        ),
        Arg(
            name="mode",
            flags=("--mode",),
            type="choice",
            choices=MODES,
            help="Judge in this permission mode; without it, in the project's own.",
        ),
        Arg(
            name="trusted",
            flags=("--trusted",),
            off="--untrusted",
            type="bool",
            help="Judge as if the project were trusted, or not; without it, as it is.",
        ),
        layers_arg("as in a session here"),
    ),
    payload=Payload,
    errors=("project_not_found", "file_not_found"),
    exits=(
        (0, "judged, and nothing that a person refused would run today"),
        (1, "a call that a person refused would run today, or an error"),
        (2, "wrong usage"),
    ),
    examples=(
        ("checkrein audit", "the sessions of this project, Checkrein's and Claude Code's"),
        ("checkrein audit --suggest", "with rules that would have spared questions"),
        ("checkrein audit --rule 'Bash(npm run *)'", "what this rule would have spared"),
        ("checkrein audit transcripts/ --json", "named transcripts, for a program"),
    ),
)


class Given(Struct, frozen=True, kw_only=True):
    transcripts: tuple[str, ...]
    project: str
    suggest: bool
    at_least: int
    rule: tuple[str, ...]
    mode: str | None
    trusted: bool | None
    layers: str | None


def run(given: Given) -> Outcome:
    import os

    from checkrein.model.rule import split_rule
    from checkrein.passes.load import load
    from checkrein.passes.tools import added_tools
    from checkrein.policy.review.audit import Bench, Wanted, audited
    from checkrein.policy.situation import Terms
    from checkrein.runtime.call.links import LiveLinks
    from checkrein.runtime.session.prospect import situation_of
    from checkrein.runtime.store import past_calls

    for rule in given.rule:
        problem = split_rule(rule)[2]
        if problem is not None:
            raise UsageError(f"{rule!r} is not a rule: {problem}.")
    if given.at_least < 1:
        raise UsageError("--at-least is a number from 1.")
    require(given.project)
    project = load(given.project, detect=False)
    root = project.place.cwd
    if given.transcripts:
        paths = [path for one in given.transcripts for path in past_calls.named(one)]
    else:
        paths = past_calls.transcripts_of(root, os.environ)
    read = past_calls.past_calls(paths, root, within=not given.transcripts)
    tools = added_tools(project.place.root).registry()
    terms = Terms(mode="default" if given.mode == "manual" else given.mode, tools=tools)
    met = situation_of(project, terms, trusted=given.trusted, layers=layers_of(given.layers))
    wanted = Wanted(suggest=given.suggest, at_least=given.at_least, rules=given.rule)
    found = audited(Bench(met, LiveLinks), read.calls, wanted)
    payload = Payload(root, read.files, read.damaged, found)

    def text() -> str:
        from checkrein.cli.audit_text import told

        return told(payload, given.suggest)

    return Outcome(data=payload, text=text, status=1 if found.loosened else 0, warnings=_warnings(read))


def _warnings(read: Transcripts) -> tuple[Diagnostic, ...]:
    from checkrein.base.diagnostic import Diagnostic
    from checkrein.base.origin import Origin

    empty = "This file holds no entry of a session"
    problems = [(path, empty) for path in read.empty] + list(read.unreadable)
    return tuple(
        Diagnostic("AUDIT001", "warning", message, Origin(path, "user")) for path, message in problems
    )

"""`checkrein worker`: run one skill without a person, and print how it ended."""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.runtime.worker.skill_result import SkillResult

BACKENDS = ("checkrein", "claude")

COMMAND = Command(
    name="worker",
    summary="Run one skill in a session of its own, without a person, and print its typed result.",
    args=(
        Arg(name="skill", required=True, metavar="SKILL", help="The skill, with or without its slash."),
        Arg(name="arguments", multiple=True, metavar="ARGUMENT...", help="What the skill gets."),
        PROJECT_ARG,
        Arg(
            name="backend",
            flags=("--backend",),
            type="choice",
            choices=BACKENDS,
            default=BACKENDS[0],
            help="Checkrein's own runtime, or the installed `claude`; both under the project's rules.",
        ),
        Arg(name="model", flags=("--model",), complete="models", help="The model, as for `run`."),
        Arg(
            name="timeout", flags=("--timeout",), type="float", default=7200.0, help="Seconds for all of it."
        ),
        Arg(
            name="stale",
            flags=("--stale",),
            type="float",
            default=1200.0,
            help="Seconds without a step after which it counts as stuck; 0: never.",
        ),
        Arg(
            name="idle",
            flags=("--idle",),
            type="float",
            default=600.0,
            help="Seconds without a sign of life after which it counts as stuck; 0: never.",
        ),
        Arg(name="resume", flags=("--resume",), metavar="SESSION", help="Go on in this session."),
        Arg(
            name="env_names",
            flags=("--env",),
            multiple=True,
            metavar="NAME",
            help="A variable that the worker gets besides the usual ones.",
        ),
    ),
    payload=SkillResult,
    errors=(
        "project_not_found",
        "skill_not_found",
        "skill_disabled",
        "contract_invalid",
        "worker_nested",
        "skill_in_two_tiers",
    ),
    exits=(
        (0, "the skill succeeded"),
        (1, "it failed, may be tried again, or was refused"),
        (2, "wrong usage"),
    ),
    examples=(
        ("checkrein worker review src/", "the skill review, on Checkrein's runtime"),
        ("checkrein worker plan 'a feature' --backend claude --json", "with Claude Code, for a program"),
    ),
    details="""The result says whether the skill succeeded, may be retried or failed, and why. A
`contract.yaml` beside the SKILL.md names its outputs; see the page on workers.""",
)


class Given(Struct, frozen=True, kw_only=True):
    skill: str
    arguments: tuple[str, ...]
    project: str
    backend: str
    model: str | None
    timeout: float
    stale: float
    idle: float
    resume: str | None
    env_names: tuple[str, ...]


def run(given: Given) -> Outcome:
    from checkrein.passes.load import load
    from checkrein.runtime.worker.backend import Backend
    from checkrein.runtime.worker.claude_backend import ClaudeBackend
    from checkrein.runtime.worker.own_backend import OwnBackend
    from checkrein.runtime.worker.watchdog import Limits
    from checkrein.runtime.worker.worker import WorkerTerms, run_worker

    if given.timeout <= 0 or given.stale < 0 or given.idle < 0:
        raise UsageError("--timeout is a number over 0, --stale and --idle are not below 0.")
    require(given.project)
    backend: Backend = ClaudeBackend() if given.backend == "claude" else OwnBackend()
    limits = Limits(timeout=given.timeout, stale=given.stale, idle=given.idle)
    terms = WorkerTerms(model=given.model, limits=limits, resume=given.resume, env_names=given.env_names)
    command = " ".join((f"/{given.skill.removeprefix('/')}", *given.arguments))
    found = run_worker(command, load(given.project, bundled=True), backend=backend, terms=terms)
    return Outcome(data=found, text=lambda: _text(found), status=0 if found.success else 1)


def _text(found: SkillResult) -> str:
    from checkrein.base.harmless import one_line

    head = f"/{found.skill} {found.outcome}"
    if found.retry_reason != "none":
        head += f" ({found.retry_reason})"
    if not found.success:
        head += f": {one_line(found.problem or found.subtype)}"
    lines = [head]
    lines += [f"{one_line(name)} = {one_line(str(value))}" for name, value in found.outputs.items()]
    lines += [f"warning: wrote outside its directory: {path}" for path in found.write_path_warnings]
    return "\n".join([*lines, "", found.result] if found.result else lines)

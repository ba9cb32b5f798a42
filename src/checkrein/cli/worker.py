"""`checkrein worker`: run one skill without a person, and print how it ended."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.runtime.worker.configured_terms import BackendName
from checkrein.runtime.worker.skill_result import SkillResult

BACKENDS = get_args(BackendName)

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
            help="Checkrein's own runtime, or the installed `claude`; both under the project's rules."
            " Without it, `run_skill.backend`.",
        ),
        Arg(name="model", flags=("--model",), complete="models", help="The model, as for `run`."),
        Arg(
            name="timeout",
            flags=("--timeout",),
            type="float",
            help="Seconds for all of it; without it, `run_skill.timeout`.",
        ),
        Arg(
            name="stale",
            flags=("--stale",),
            type="float",
            help="Seconds without a step after which it counts as stuck; 0: never. Without it,"
            " `run_skill.stale_threshold`.",
        ),
        Arg(
            name="idle",
            flags=("--idle",),
            type="float",
            help="Seconds without a sign of life after which it counts as stuck; 0: never. Without it,"
            " `run_skill.idle_output_timeout`.",
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
        "quota_reached",
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
    backend: BackendName | None
    model: str | None
    timeout: float | None
    stale: float | None
    idle: float | None
    resume: str | None
    env_names: tuple[str, ...]


def run(given: Given) -> Outcome:
    import os

    from checkrein.base.config import load_config
    from checkrein.base.home import checkrein_home
    from checkrein.facts.config import KEYS
    from checkrein.passes.load import load
    from checkrein.runtime.worker.configured_terms import backend_named, configured_limits, configured_quota
    from checkrein.runtime.worker.worker import WorkerTerms, run_worker

    if given.timeout == 0 or min(given.timeout or 0, given.stale or 0, given.idle or 0) < 0:
        raise UsageError("--timeout is a number over 0, --stale and --idle are not below 0.")
    require(given.project)
    project = load(given.project, bundled=True)
    setting = load_config(KEYS, Path(project.place.root), checkrein_home(), os.environ).get
    terms = WorkerTerms(
        model=given.model,
        limits=configured_limits(setting, timeout=given.timeout, stale=given.stale, idle=given.idle),
        resume=given.resume,
        env_names=given.env_names,
        quota=configured_quota(setting),
    )
    backend = backend_named(given.backend or setting("run_skill.backend"))
    command = " ".join((f"/{given.skill.removeprefix('/')}", *given.arguments))
    found = run_worker(command, project, backend=backend, terms=terms)
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

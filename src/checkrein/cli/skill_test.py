"""`checkrein skill test`: test that the right skill loads for a prompt."""

from __future__ import annotations

from checkrein.base.errors import UsageError
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.runtime.skills.triggers import NONE, Report

COMMAND = Command(
    name="skill test",
    summary="Ask a model prompts, and measure whether the right skill loads.",
    args=(
        Arg(
            name="cases",
            required=True,
            metavar="FILE|DIR",
            help="Cases as JSONL, JSON or YAML, or a directory with `triggers.*` files.",
        ),
        Arg(
            name="model",
            flags=("--model",),
            complete="models",
            help="The model, as `provider:name`; `replay:FILE` answers from a recording.",
        ),
        PROJECT_ARG,
        Arg(name="record", flags=("--record",), metavar="FILE", help="Keep the exchange as a recording."),
        Arg(name="runs", flags=("--runs",), type="int", default=1, help="How often to ask each prompt."),
        Arg(
            name="turns",
            flags=("--turns",),
            type="int",
            default=3,
            help="How many requests the model has to load a skill.",
        ),
        Arg(
            name="at_least",
            flags=("--at-least",),
            type="float",
            default=1.0,
            help="The share of hits, from 0 to 1, below which the exit status is 1.",
        ),
    ),
    payload=Report,
    errors=("cases_not_found", "config_invalid", "project_not_found", "credentials_missing"),
    exits=((0, "enough hits"), (1, "too few hits, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein skill test triggers.jsonl --model opus", "each prompt once"),
        (
            "checkrein skill test .claude/skills --model haiku --runs 5 --at-least 0.9",
            "every skill's own cases",
        ),
    ),
    details='A case is {"prompt": "...", "skill": "name"}; `"skill": null` means that none should load.',
)


def run(
    cases: str, model: str | None, project: str, record: str | None, runs: int, turns: int, at_least: float
) -> Outcome:
    from checkrein.passes.load import load, session_view
    from checkrein.runtime.skills.triggers import read_cases, run_trials, score, shared_model

    if not 0 <= at_least <= 1:
        raise UsageError("--at-least is a share from 0 to 1.")
    require(project)
    found = read_cases(cases)
    view = session_view(load(project))
    asked = shared_model(view, model, record)
    report = score(list(run_trials(view, asked, found, runs=max(runs, 1), requests=turns)))
    return Outcome(data=report, text=lambda: _text(report), status=0 if report.hit_rate >= at_least else 1)


def _text(report: Report) -> str:
    width = max(len("skill"), *(len(score.skill) for score in report.scores))
    head = ("hits", "of", "missed", "wrong", "failed")
    lines = [f"{'skill':<{width}}  " + "  ".join(f"{name:>6}" for name in head)]
    for one in report.scores:
        values = (one.hits, one.trials, one.missed, one.wrong, one.failed)
        lines.append(f"{one.skill:<{width}}  " + "  ".join(f"{value:>6}" for value in values))
    for trial in report.trials:
        if not trial.hit:
            what = trial.error or f"loaded {trial.got or NONE}, expected {trial.expected or NONE}"
            lines.append(f"{trial.place}: {what}: {trial.prompt[:80]!r}")
    lines.append(f"{sum(t.hit for t in report.trials)} of {len(report.trials)} hits ({report.hit_rate:.0%})")
    return "\n".join(lines)

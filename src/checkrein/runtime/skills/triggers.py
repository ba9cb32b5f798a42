"""Do skills trigger? Send a model prompts, each with the skill that it should load (or none).

No part of a skill runs: a case ends when the model asks for a skill, when it answers, or at the limit of
requests. Until then it may only read.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct

from checkrein.base.errors import ConfigError, NotFoundError
from checkrein.llm.port import Cancel, Model, ModelEvent, Request, ToolUse
from checkrein.model.view import View
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.events import AssistantBlock, Finished
from checkrein.runtime.session.options import Options

FILES = ("triggers.jsonl", "triggers.yaml", "triggers.yml", "triggers.json")
NONE = "(none)"


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """`skill` is the one that the model should load first; None: no skill. `place` is file and line."""

    prompt: str
    skill: str | None = None
    place: str = ""


class Trial(Struct, frozen=True, omit_defaults=True):
    """One run of one case. `got` is the skill that the model asked for, or None."""

    prompt: str
    expected: str | None
    got: str | None
    place: str = ""
    error: str | None = None

    @property
    def hit(self) -> bool:
        return self.error is None and self.got == self.expected


class Score(Struct, frozen=True):
    """The results for one skill: `missed` loaded nothing, `wrong` another skill, `failed` gave no answer."""

    skill: str
    trials: int
    hits: int
    missed: int
    wrong: int
    failed: int


class Report(Struct, frozen=True):
    """`confusion`: expected skill, then the skill loaded instead, with counts."""

    hit_rate: float
    scores: tuple[Score, ...]
    confusion: dict[str, dict[str, int]]
    trials: tuple[Trial, ...]


def read_cases(path: str | Path) -> list[Case]:
    """The cases of a file, or of every `triggers.*` below a directory. In a skill's own folder a case that
    names no skill means that one; write `skill: null` for none."""
    start = Path(path)
    if not start.exists():
        raise NotFoundError(f"{path} does not exist.", kind="cases_not_found")
    found = sorted(p for name in FILES for p in start.rglob(name)) if start.is_dir() else [start]
    cases = [case for file in found for case in _cases(file)]
    if not cases:
        raise NotFoundError(
            f"There are no cases in {path}.",
            kind="cases_not_found",
            hint=f'Write {FILES[0]}: one {{"prompt": ..., "skill": ...}} on each line.',
        )
    return cases


def _cases(file: Path) -> Iterator[Case]:
    own = file.parent.name if (file.parent / "SKILL.md").is_file() else None
    for line, value in _values(file):
        if not isinstance(value, dict) or not isinstance(value.get("prompt"), str):
            raise ConfigError(
                f'{file}:{line} is not a case: it needs a "prompt" text.',
                hint='Write {"prompt": "...", "skill": "name"}.',
            )
        skill = value.get("skill", own)
        yield Case(value["prompt"], str(skill) if skill is not None else None, f"{file}:{line}")


def _values(file: Path) -> Iterator[tuple[int, object]]:
    text = file.read_text("utf-8")
    try:
        if file.suffix in (".yaml", ".yml"):
            import yaml

            yield from enumerate(yaml.safe_load(text) or [], 1)
        elif file.suffix == ".json":
            yield from enumerate(msgspec.json.decode(text), 1)
        else:
            for number, line in enumerate(text.splitlines(), 1):
                if line.strip():
                    yield number, msgspec.json.decode(line)
    except (ValueError, TypeError) as error:
        raise ConfigError(f"{file} can't be read as cases: {error}") from error


class Named:
    """One model for all cases, under the name that requests carry."""

    def __init__(self, model: Model, name: str) -> None:
        self.name = name
        self._model = model

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        return self._model.stream(request, cancel)


def shared_model(view: View, spec: str | None, record: str | None = None) -> Model:
    """The model that a spec names. `record` names a new recording to write."""
    from checkrein.runtime.session.chooser import Chooser
    from checkrein.runtime.trust import standing

    choose = Chooser(standing(view.project), dict(os.environ))
    model, name = choose(spec)
    if record is not None:
        from checkrein.llm.record import RecordingModel

        model = RecordingModel(model, record, choose.words())
    return Named(model, name)


def run_trials(
    view: View, model: Model, cases: Iterable[Case], *, runs: int = 1, requests: int = 3
) -> Iterator[Trial]:
    for case in cases:
        for _ in range(runs):
            yield _ask(view, model, case, requests)


def _ask(view: View, model: Model, case: Case, requests: int) -> Trial:
    from checkrein.runtime.session.session import Session

    options = Options(
        mode="dontAsk", allowed=("Skill",), persist=False, hooks=False, budget=Budget(requests=requests)
    )
    got: str | None = None
    error: str | None = None
    with Session(view, model=model, options=options) as session:
        stream = session.run(case.prompt)
        for event in stream:
            if isinstance(event, AssistantBlock) and isinstance(event.block, ToolUse):
                if event.block.name == "Skill":
                    got = str(event.block.input.get("skill", ""))
                    break
            elif isinstance(event, Finished) and event.result.is_error:
                limit = event.result.subtype == "error_max_turns"
                error = None if limit else event.result.problem
        stream.close()
    return Trial(case.prompt, case.skill, got, case.place, error)


def score(trials: Sequence[Trial]) -> Report:
    confusion: dict[str, Counter[str]] = {}
    for trial in trials:
        if trial.error is None and not trial.hit:
            confusion.setdefault(trial.expected or NONE, Counter())[trial.got or NONE] += 1
    scores = []
    for name in sorted({trial.expected or NONE for trial in trials}):
        own = [trial for trial in trials if (trial.expected or NONE) == name]
        failed = sum(trial.error is not None for trial in own)
        hits = sum(trial.hit for trial in own)
        missed = sum(trial.error is None and trial.got is None and not trial.hit for trial in own)
        scores.append(Score(name, len(own), hits, missed, len(own) - hits - missed - failed, failed))
    rate = sum(trial.hit for trial in trials) / len(trials) if trials else 0.0
    return Report(rate, tuple(scores), {k: dict(v) for k, v in sorted(confusion.items())}, tuple(trials))

"""Steps that call a tool: attempts, effects, and the question what a crash left behind."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from checkrein.base import clock
from checkrein.base.errors import CheckreinError
from checkrein.base.ids import new_uuid
from checkrein.model.expression import Failure
from checkrein.model.expression_value import Scope, render
from checkrein.model.recipe_plan import PlanStep
from checkrein.recipes.artifacts import kept
from checkrein.recipes.journal import Entry, Wait
from checkrein.recipes.outcome import Outcome, as_recorded, failed
from checkrein.recipes.port import Task, Waiting

if TYPE_CHECKING:
    from checkrein.recipes.interpreter import Interpreter

PYTHON = "run_python"


def called(at: Interpreter, step: PlanStep, path: str, scope: Scope) -> Entry:
    """The last attempt of a step. The journal counts its attempts, so a restart changes no budget."""
    plain = Entry(path=path, step=step.name, kind=step.kind, state="success", tool=_tool(step))
    arguments = render(step.with_args, scope)
    if isinstance(arguments, Failure):
        unclear = replace(plain, state="failure", reason="expression", problem=f"with: {arguments}")
        return at.record(path, path, lambda: unclear)
    task = _task(at, step, path, arguments)
    failures = 0
    for attempt in count(1):
        name = path if attempt == 1 else f"{path}#{attempt}"
        tried = replace(task, attempt=attempt, failures=failures)
        entry = _attempt(at, tried, replace(plain, attempt=attempt), name)
        if entry.state == "later":
            at.pause(replace(plain, attempt=attempt), f"{name} later", partial(_later, entry.pause))
        elif entry.state == "again" and failures < step.retries:
            failures += 1
        else:
            return entry
    raise AssertionError("count has no end")


def _attempt(at: Interpreter, task: Task, plain: Entry, name: str) -> Entry:
    """One attempt. After a crash `pure` and `keyed` run again; of a `once` nobody knows whether it happened,
    until a person says so."""
    if task.effect != "once":
        return at.record(task.path, name, lambda: _done(at, task, plain))
    for turn in count(1):
        began = replace(plain, state="started", token=new_uuid())
        mark = f"{name} started" if turn == 1 else f"{name} started {turn}"
        is_ours = at.record(task.path, mark, partial(replace, began)).token == began.token
        work = partial(_done, at, task, plain) if is_ours else partial(_reconciled, at, plain, turn)
        entry = at.record(task.path, name if turn == 1 else f"{name} again {turn}", work)
        if entry.reason != "reconciled_again":
            return entry
    raise AssertionError("count has no end")


def _reconciled(at: Interpreter, plain: Entry, turn: int) -> Entry:
    wait = Wait(
        kind="reconcile",
        path=plain.path,
        round=turn,
        shown=f"{plain.step} ({plain.tool}) began, and its worker died before it ended",
    )
    answer = at.durable.answer(wait)
    if answer is None:
        at.ring(wait)
        raise Waiting(wait)
    said = replace(plain, by=answer.by, at=answer.at, result=answer.result, shown=wait.shown)
    if answer.verdict == "done":
        return replace(said, state="success", reason="reconciled_done")
    if answer.verdict == "again":
        return replace(said, state="started", reason="reconciled_again")
    return replace(said, state="failure", reason="reconciled_failed", problem=f"{answer.by} says it failed")


def _done(at: Interpreter, task: Task, plain: Entry) -> Entry:
    outcome = _outcome(at, task)
    return replace(
        plain,
        state=outcome.state,
        result=outcome.result,
        reason=outcome.reason,
        problem=outcome.problem,
        usd=outcome.usd,
        tokens=outcome.tokens,
        pause=outcome.pause,
    )


def _outcome(at: Interpreter, task: Task) -> Outcome:
    try:
        with at.crew.workplace.visit(task) as cwd:
            outcome = as_recorded(at.crew.runner.do(replace(task, cwd=cwd), at.cancel))
            if outcome.state != "success" and at.cancel.cancelled and at.durable.interruption() == "handover":
                # We ended it ourselves: no failure, and as after a crash nobody knows how far it came.
                raise Waiting(Wait(kind="handover", path=task.path))
            return kept(outcome, task, at.crew.workplace.artifacts(task, cwd), cwd)
    except CheckreinError as error:
        return failed(error.kind, " ".join(filter(None, (error.message, error.hint))))
    except Exception as error:
        return as_recorded(failed("crashed", f"{type(error).__name__}: {error}"))


def _later(seconds: float) -> float:
    return clock.now() + seconds


def _tool(step: PlanStep) -> str:
    return PYTHON if step.kind == "python" else str(step.subject)


def _task(at: Interpreter, step: PlanStep, path: str, arguments: dict[str, Any]) -> Task:
    given = {"callable": step.subject, "args": arguments} if step.kind == "python" else arguments
    return Task(
        run_id=at.run_id,
        path=path,
        key=f"{at.run_id}/{path}",
        step=step.name,
        tool=_tool(step),
        arguments=given,
        effect=step.effect,
        branch=at.branch,
        model=step.model,
        stale_threshold=step.stale_threshold,
        idle_output_timeout=step.idle_output_timeout,
        timeout=step.timeout,
        enabled=at.plan.enabled,
    )

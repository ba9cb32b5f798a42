"""Steps of a campaign: each runs another recipe to its end, in a body with a plan of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from checkrein.base.errors import CheckreinError
from checkrein.model.expression import Failure
from checkrein.model.expression_value import Scope, render
from checkrein.model.recipe_plan import PlanStep
from checkrein.recipes.fan import merged
from checkrein.recipes.journal import Entry, Wait
from checkrein.recipes.port import Branch, Waiting

if TYPE_CHECKING:
    from checkrein.recipes.interpreter import Interpreter

_PLAN = "plan"


def dispatched(at: Interpreter, step: PlanStep, path: str, scope: Scope) -> Entry:
    """The plan is recorded before its body starts: a recipe file that changes later changes nothing."""
    plain = Entry(path=path, step=step.name, kind=step.kind, state="success", tool=str(step.subject))
    planned = at.record(path, f"{path} planned", lambda: _planned(at, step, plain, scope))
    if planned.state == "failure":
        return planned
    at.durable.fork(Branch(path=path, place=(), context={}, plan=planned.result[_PLAN]))
    (end,) = at.durable.join([path])
    if end.state == "waiting":
        raise Waiting(Wait(kind="branches", path=at.branch, branches=(path,)))
    wrong = end.state == "failed" or end.is_failure
    result: dict[str, Any] = {**end.captured, "state": end.state, "message": end.message}

    def ended() -> Entry:
        if not wrong:
            return merged(at, replace(plain, result=result), [path])
        problem = f"{end.step}: {end.message}" if end.message else end.step
        return replace(plain, state="failure", reason="dispatch_failed", problem=problem, result=result)

    return at.record(path, path, ended)


def _planned(at: Interpreter, step: PlanStep, plain: Entry, scope: Scope) -> Entry:
    inputs = render(step.with_args, scope)
    if isinstance(inputs, Failure):
        return replace(plain, state="failure", reason="expression", problem=f"with: {inputs}")
    try:
        made = at.crew.dispatcher.plan(str(step.subject), inputs)
    except CheckreinError as error:
        return replace(plain, state="failure", reason=error.kind, problem=error.message)
    return replace(plain, state="started", result={_PLAN: msgspec.to_builtins(made)})

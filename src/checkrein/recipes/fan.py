"""Steps with bodies of their own: `foreach` and `parallel`.

A `foreach` without a limit goes on in the body that it stands in, item after item. What runs side by side
are branches, each with a journal of its own; they start and are awaited in the order of the file, so every
reading of the journal meets them in the same order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from checkrein.base.errors import CheckreinError
from checkrein.model.expression import Failure
from checkrein.model.expression_value import Scope, render
from checkrein.model.recipe_plan import PlanStep
from checkrein.recipes.journal import End, Entry, Wait
from checkrein.recipes.port import Branch, Place, Waiting
from checkrein.recipes.step_routes import as_list

if TYPE_CHECKING:
    from checkrein.recipes.interpreter import Interpreter

_ITEM = "item"


def fanned(at: Interpreter, step: PlanStep, path: str, scope: Scope, place: Place) -> Entry:
    """`place` is that of the body that the step stands in."""
    plain = Entry(path=path, step=step.name, kind=step.kind, state="success")
    context = dict(scope.context)
    if step.kind == "parallel":
        branches = [
            Branch(
                path=f"{path}/{body.name}",
                place=(*place, (step.name, number)),
                context=context,
                plan=at.own_plan,
            )
            for number, body in enumerate(step.bodies)
        ]
        ends = _side_by_side(at, branches, step.limit or len(branches))
        result: dict[str, Any] = {body.name: end.captured for body, end in zip(step.bodies, ends)}
        return _joined(at, plain, branches, ends, result)
    items = render(step.subject, scope)
    if isinstance(items, Failure):
        unclear = replace(plain, state="failure", reason="expression", problem=str(items))
        return at.record(path, path, lambda: unclear)
    walked = [{**context, step.variable or _ITEM: item} for item in as_list(items)]
    below = (*place, (step.name, 0))
    if (step.limit or 1) > 1:
        branches = [
            Branch(path=f"{path}[{number}]", place=below, context=one, plan=at.own_plan)
            for number, one in enumerate(walked)
        ]
        ends = _side_by_side(at, branches, step.limit or 1)
        return _joined(at, plain, branches, ends, _collected(ends))
    ends = []
    for number, one in enumerate(walked):
        ends.append(at.body(step.bodies[0], f"{path}[{number}]/", one, below))
        if ends[-1].state == "failed":
            break
    return _joined(at, plain, (), ends, _collected(ends))


def _side_by_side(at: Interpreter, branches: Sequence[Branch], limit: int) -> list[End]:
    """At most `limit` at once. After a failure none begins, and those that run go on to their end."""
    ends: list[End] = []
    begun = 0
    for number in range(len(branches)):
        while begun < len(branches) and begun < number + limit:
            at.durable.fork(branches[begun])
            begun += 1
        ends += at.durable.join([branches[number].path])
        if ends[-1].state in ("failed", "stopped", "waiting"):
            break
    ends += at.durable.join([one.path for one in branches[len(ends) : begun]])
    waiting = tuple(one.path for one, end in zip(branches, ends) if end.state == "waiting")
    if waiting:
        raise Waiting(Wait(kind="branches", path=at.branch, branches=waiting))
    return ends


def _joined(
    at: Interpreter, plain: Entry, branches: Sequence[Branch], ends: list[End], result: dict[str, Any]
) -> Entry:
    from checkrein.recipes.interpreter import Stopped

    stop = next((end for end in ends if end.state == "stopped"), None)
    if stop is not None:
        raise Stopped(stop)
    wrong = [end for end in ends if end.state == "failed"]

    def join() -> Entry:
        counted = replace(plain, result=result)
        if wrong:
            problem = f"{wrong[0].step}: {wrong[0].message}" if wrong[0].message else wrong[0].step
            return replace(counted, state="failure", reason="branch_failed", problem=problem)
        return merged(at, counted, [one.path for one in branches])

    return at.record(plain.path, plain.path, join)


def merged(at: Interpreter, entry: Entry, paths: Sequence[str]) -> Entry:
    """The entry of a step whose branches come together; a failure where they don't."""
    if not paths:
        return entry
    try:
        problem = at.crew.workplace.merge(at.run_id, at.branch, paths)
    except CheckreinError as error:
        return replace(entry, state="failure", reason=error.kind, problem=error.message)
    if problem is None:
        return entry
    return replace(entry, state="failure", reason="merge_conflict", problem=problem)


def _collected(ends: Iterable[End]) -> dict[str, Any]:
    """Each captured variable as the list of its values, and the items one by one."""
    ends = list(ends)
    names = dict.fromkeys(name for end in ends for name in end.captured)
    lists = {name: [end.captured.get(name) for end in ends] for name in names}
    return {**lists, "items": [end.captured for end in ends], "count": len(ends)}

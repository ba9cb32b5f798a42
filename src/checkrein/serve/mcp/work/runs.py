"""Runs of recipes for a client: it starts them, looks at them, and passes on what its person decides.

A client executes nothing. A run in a queue brings no rights; the worker that takes it has its own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from checkrein.base.errors import CheckreinError
from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands
from checkrein.serve.mcp.work.recipes import recipe_named, shelf_of

if TYPE_CHECKING:
    from checkrein.recipes.database import RunRow
    from checkrein.recipes.journal import Verdict
    from checkrein.serve.recipes.house import House

_MOST = 500
_NO_WORKER = "No worker runs. Start one: checkrein recipe worker"


def start_recipe(
    hands: Hands,
    name: str,
    inputs: dict[str, Any] | None = None,
    queue: str = "default",
    priority: int = 100,
    enable_once: bool = False,
) -> dict[str, Any]:
    """Refused before anything starts: a recipe with errors, missing inputs, something that is switched off.
    The gate asks a person about this call unless a rule allows it."""
    from checkrein.serve.recipes.house import Ask
    from checkrein.serve.recipes.project_recipes import Enabling, plan_of

    if priority < 1:
        raise ToolFailure("priority is a number from 1 on.")
    recipe = recipe_named(shelf_of(hands), name)
    with _house(hands) as house:
        plan = plan_of(recipe.origin.file, hands.root, inputs or {}, Enabling(once=enable_once))
        run = house.add(plan, hands.root, Ask(queue=queue, priority=priority))
        answer: dict[str, Any] = {"success": True, "run_id": run, "state": house.desk.state(run)}
        return answer if _has_worker(house) else {**answer, "hint": _NO_WORKER}


def get_recipe_runs(hands: Hands, run_id: str = "", limit: int = 20) -> dict[str, Any]:
    """The newest runs of this project; with `run_id` one of them with its steps."""
    with _house(hands) as house:
        if run_id:
            view = house.desk.view(_own(hands, house, run_id).id)
            return {"success": True, "runs": [msgspec.to_builtins(view)]}
        rows = [row for row in house.database.runs(_MOST) if _is_own(hands, row)]
        views = [house.desk.view(row.id) for row in rows[: max(0, limit)]]
        short = [msgspec.structs.replace(one, steps=()) for one in views]
        return {"success": True, "runs": msgspec.to_builtins(short), "total_count": len(rows)}


def approve_step(
    hands: Hands, run_id: str, step: str, shown: str, result: dict[str, Any] | None = None
) -> dict[str, Any]:
    return _answered(hands, run_id, step, shown, "approve", result or {})


def reject_step(
    hands: Hands, run_id: str, step: str, shown: str, result: dict[str, Any] | None = None
) -> dict[str, Any]:
    return _answered(hands, run_id, step, shown, "reject", result or {})


def _answered(
    hands: Hands, run_id: str, step: str, shown: str, verdict: Verdict, result: dict[str, Any]
) -> dict[str, Any]:
    """The person behind the client decides about this call, so the call must say what the run asks."""
    from checkrein.recipes.database import user_name

    with _house(hands) as house:
        row = _own(hands, house, run_id)
        waits = [one.wait for one in house.database.waits(row.id) if one.wait.kind == "confirm"]
        named = [one for one in waits if step in (one.path, one.path.rpartition("/")[2])]
        if len(named) == 1 and named[0].shown.strip() != shown.strip():
            raise ToolFailure(f"`shown` is not what the step asks. It asks: {named[0].shown}")
        by = f"{user_name(hands.whole_env)} through the MCP server"
        wait = house.desk.answer(row.id, step, verdict, by, result).wait
        answer = {"success": True, "run_id": row.id, "step": wait.path, "verdict": verdict, "by": by}
        return answer if _has_worker(house) else {**answer, "hint": _NO_WORKER}


@contextmanager
def _house(hands: Hands) -> Iterator[House]:
    from checkrein.serve.recipes.house import open_house

    try:
        with open_house(hands.root, hands.whole_env) as house:
            yield house
    except CheckreinError as error:
        more = error.details.get("diagnostics")
        text = " ".join(filter(None, (error.message, error.hint)))
        raise ToolFailure(text, {"subtype": error.kind, **({"findings": more} if more else {})}) from None


def _own(hands: Hands, house: House, run_id: str) -> RunRow:
    """A client sees the runs of the project that is served to it."""
    row = house.desk.row(run_id)
    if not _is_own(hands, row):
        raise ToolFailure(f"{row.id} is a run of another project.")
    return row


def _is_own(hands: Hands, row: RunRow) -> bool:
    return os.path.realpath(row.cwd) == os.path.realpath(hands.root)


def _has_worker(house: House) -> bool:
    return any(one.kind == "pool" for one in house.database.workers("live"))

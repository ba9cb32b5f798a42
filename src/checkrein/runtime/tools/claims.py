"""Who may do what with a task of a team: at most one works on it, and none before what it waits for."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from checkrein.base.harmless import one_line

if TYPE_CHECKING:
    from checkrein.runtime.tools.tasks import Board, Task, TaskList


class Membership(Struct, frozen=True, kw_only=True):
    """A conversation as a part of a team. `works` says whether a member of a name is there now; `leave` ends
    this one after its turn."""

    name: str
    team: str
    leads: bool = False
    works: Callable[[str], bool]
    leave: Callable[[], None]


def open_blockers(board: Board, task: Task) -> list[str]:
    tasks = board.tasks
    return [id for id in task.blocked_by if id in tasks and tasks[id].status != "completed"]


def refusal(board: Board, task: Task, input: dict[str, Any], me: Membership) -> str | None:
    """Why a member may not change a task like this; None when it may.

    A task in progress is its owner's: nobody else claims, completes, reopens or deletes it. A pending one
    with an owner is meant for them; the lead may give it to another. Nobody begins a task that waits, and
    only the lead may complete one. The claim of an owner that is gone is free."""
    status, owner = input.get("status"), input.get("owner")
    if _is_held(task, me) and (status is not None or owner is not None):
        return _belongs(task, "works on it")
    if _is_meant(task, me) and (status is not None or owner is not None):
        return _belongs(task, "has it")
    if owner and owner != me.name and not me.leads and not me.works(owner):
        return f"There is no teammate {owner!r}."
    begins = status == "in_progress" or (owner == me.name and status is None)
    waits = open_blockers(board, task)
    if waits and (begins or (status == "completed" and not me.leads)):
        return f"It waits for {', '.join(_named(board.tasks[id]) for id in waits)}."
    if begins and task.status == "completed":
        return f"It is done{f', by {task.owner}' if task.owner else ''}."
    return _circle(board, task, input)


def settled(task: Task, input: dict[str, Any], me: Membership) -> dict[str, Any]:
    """The change with its owner in it: who begins a task owns it, and who puts it back does not."""
    status, owner = input.get("status"), input.get("owner")
    if owner == "":
        return {**input, "owner": None, **({"status": "pending"} if task.status == "in_progress" else {})}
    if owner == me.name and status is None and task.status == "pending":
        return {**input, "status": "in_progress"}
    if owner is not None:
        return input
    if status == "in_progress" or (status == "completed" and task.owner is None):
        return {**input, "owner": me.name}
    return {**input, "owner": None} if status == "pending" and task.status != "pending" else input


def freed(board: Board, task: Task) -> list[str]:
    """What waited only for this task, which is complete now."""
    later = (board.tasks[id] for id in task.blocks if id in board.tasks)
    return [one.id for one in later if one.status == "pending" and not open_blockers(board, one)]


def released(tasks: TaskList, name: str) -> list[str]:
    """Give back what a member that is gone had not completed; the tasks that are free now."""
    if not any(_is_open(task, name) for task in tasks.read().tasks.values()):
        return []
    with tasks.change() as board:
        found = [task for task in board.tasks.values() if _is_open(task, name)]
        for task in found:
            task.owner, task.status = None, "pending"
    return [_titled(task) for task in found]


def owned(tasks: TaskList, name: str) -> list[str]:
    """What a member works on."""
    found = tasks.read().tasks.values()
    return [_titled(task) for task in found if task.owner == name and task.status == "in_progress"]


def _is_held(task: Task, me: Membership) -> bool:
    """Whether somebody else works on it."""
    return (
        task.status == "in_progress"
        and task.owner is not None
        and task.owner != me.name
        and me.works(task.owner)
    )


def _is_meant(task: Task, me: Membership) -> bool:
    """Whether it is not for this member to begin, or to end."""
    mine = me.leads or task.owner in (None, me.name)
    return not mine and (task.status == "pending" or me.works(task.owner or ""))


def _belongs(task: Task, how: str) -> str:
    return f"It belongs to {task.owner}, who {how}."


def _circle(board: Board, task: Task, input: dict[str, Any]) -> str | None:
    """A task that would wait for itself through others."""
    edges = {id: set(one.blocked_by) for id, one in board.tasks.items()}
    edges[task.id] |= set(input.get("addBlockedBy") or ())
    for later in input.get("addBlocks") or ():
        edges.setdefault(later, set()).add(task.id)
    seen: set[str] = set()
    ahead = set(edges[task.id])
    while ahead:
        id = ahead.pop()
        if id == task.id:
            return "It would wait for itself."
        if id not in seen:
            seen.add(id)
            ahead |= edges.get(id, set())
    return None


def _is_open(task: Task, name: str) -> bool:
    return task.owner == name and task.status != "completed"


def _named(task: Task) -> str:
    return f"{task.id} ({task.owner or 'nobody'} has it)"


def _titled(task: Task) -> str:
    return f"{task.id} ({one_line(task.subject)})"

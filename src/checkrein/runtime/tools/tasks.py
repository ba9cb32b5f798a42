"""The task list: TaskCreate, TaskUpdate, TaskGet, TaskList.

It is one file in the session's storage. A lock protects each change, so several sessions can share it. The
members of a team do, and `claims` says what each of them may change.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec import Struct

from checkrein.base.files import locked, write_atomic
from checkrein.runtime.tools.claims import freed, open_blockers, refusal, settled
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput

if TYPE_CHECKING:
    from checkrein.runtime.tools.desk import ToolState

Status = Literal["pending", "in_progress", "completed"]


class Task(Struct, rename="camel"):
    id: str
    subject: str
    description: str = ""
    active_form: str | None = None
    status: Status = "pending"
    owner: str | None = None
    blocks: list[str] = []
    blocked_by: list[str] = []
    metadata: dict[str, Any] = {}


class Board(Struct):
    """`last` is the highest number so far, so that no task gets the id of a deleted one."""

    last: int = 0
    tasks: dict[str, Task] = {}


class TaskList:
    """`path` None keeps the list in memory."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._board = Board()
        self._lock = threading.RLock()

    def read(self) -> Board:
        if self._path is None:
            return self._board
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=Board)
        except FileNotFoundError:
            return Board()
        except (OSError, msgspec.DecodeError) as error:
            raise ToolFailure(f"The task list can't be read: {error}") from None

    @contextlib.contextmanager
    def change(self) -> Iterator[Board]:
        """The list, to change it. The end of the block writes it, unless there was an exception."""
        if self._path is None:
            with self._lock:
                board = msgspec.convert(msgspec.to_builtins(self._board), Board)
                yield board
                self._board = board
            return
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(self._path.with_suffix(".lock")):
            board = self.read()
            yield board
            write_atomic(self._path, msgspec.json.encode(board), mode=0o600)


def create(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    with task_list(context.state).change() as board:
        board.last += 1
        task = Task(
            id=str(board.last),
            subject=input["subject"],
            description=input["description"],
            active_form=input.get("activeForm"),
            metadata=input.get("metadata") or {},
        )
        _ask("TaskCreated", task, context)
        board.tasks[task.id] = task
    return ToolOutput(
        content=f"Task {task.id} has been created: {task.subject}",
        structured={"task": {"id": task.id, "subject": task.subject}},
    )


def update(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    wanted: str = input["taskId"]
    me, free = context.state.membership, []
    with task_list(context.state).change() as board:
        task = board.tasks.get(wanted)
        if task is None:
            return _failed(wanted, "There is no such task.")
        before = task.status
        if me is not None:
            why = refusal(board, task, input, me)
            if why is not None:
                return _failed(wanted, why)
            input = settled(task, input, me)
        if input.get("status") == "deleted":
            _delete(board, wanted)
            changed = ["deleted"]
        else:
            unknown = [
                id
                for key in ("addBlocks", "addBlockedBy")
                for id in input.get(key) or ()
                if id not in board.tasks
            ]
            if (
                unknown
                or wanted in (input.get("addBlocks") or ())
                or wanted in (input.get("addBlockedBy") or ())
            ):
                return _failed(wanted, f"The task can't wait for or block {', '.join(unknown) or 'itself'}.")
            if input.get("status") == "completed" != before:
                _ask("TaskCompleted", task, context)
            changed = _apply(board, task, input)
            if me is not None and task.status == "completed" != before:
                free = freed(board, task)
    structured: dict[str, Any] = {"success": True, "taskId": wanted, "updatedFields": changed}
    after = "deleted" if changed == ["deleted"] else task.status
    if after != before:
        structured["statusChange"] = {"from": before, "to": after}
    what = ", ".join(changed) or "nothing"
    after_it = f". No longer blocked: {', '.join(free)}" if free else ""
    return ToolOutput(content=f"Task {wanted} has been updated: {what}{after_it}", structured=structured)


def get(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    task = task_list(context.state).read().tasks.get(input["taskId"])
    if task is None:
        return ToolOutput(content=f"There is no task {input['taskId']}.", structured={"task": None})
    waits = f"\nwaits for: {', '.join(task.blocked_by)}" if task.blocked_by else ""
    blocks = f"\nblocks: {', '.join(task.blocks)}" if task.blocks else ""
    text = f"Task {task.id}: {task.subject}\nstatus: {task.status}\n{task.description}{waits}{blocks}"
    return ToolOutput(content=text, structured={"task": msgspec.to_builtins(task)})


def listing(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    board = task_list(context.state).read()
    rows, lines = [], []
    for task in board.tasks.values():
        blockers = open_blockers(board, task)
        row = {"id": task.id, "subject": task.subject, "status": task.status, "blockedBy": blockers}
        rows.append(row | ({"owner": task.owner} if task.owner else {}))
        owner = f" ({task.owner})" if task.owner else ""
        waits = f" [waits for {', '.join(blockers)}]" if blockers else ""
        lines.append(f"{task.id}. [{task.status}] {task.subject}{owner}{waits}")
    return ToolOutput(content="\n".join(lines) or "There are no tasks.", structured={"tasks": rows})


def _ask(event: str, task: Task, context: ToolContext) -> None:
    """Let hooks object. After an objection nothing changes, and the model gets the reason."""
    if context.objection is None:
        return
    reason = context.objection(event, task.id, task.subject, task.description)
    if reason is not None:
        raise ToolFailure(f"A {event} hook objects: {reason}")


def task_list(state: ToolState) -> TaskList:
    with state.lock:
        if state.tasks is None:
            state.tasks = TaskList(Path(state.storage, "tasks.json") if state.storage else None)
        return state.tasks


def _apply(board: Board, task: Task, input: dict[str, Any]) -> list[str]:
    changed = []
    for key, field in (
        ("subject", "subject"),
        ("description", "description"),
        ("activeForm", "active_form"),
        ("status", "status"),
        ("owner", "owner"),
    ):
        if key in input and getattr(task, field) != input[key]:
            setattr(task, field, input[key])
            changed.append(key)
    if input.get("metadata"):
        merged = {**task.metadata, **input["metadata"]}
        task.metadata = {key: value for key, value in merged.items() if value is not None}
        changed.append("metadata")
    for other in input.get("addBlocks") or ():
        _link(task, board.tasks[other])
        changed.append("blocks")
    for other in input.get("addBlockedBy") or ():
        _link(board.tasks[other], task)
        changed.append("blockedBy")
    return list(dict.fromkeys(changed))


def _link(first: Task, later: Task) -> None:
    if later.id not in first.blocks:
        first.blocks.append(later.id)
    if first.id not in later.blocked_by:
        later.blocked_by.append(first.id)


def _delete(board: Board, wanted: str) -> None:
    del board.tasks[wanted]
    for task in board.tasks.values():
        task.blocks = [id for id in task.blocks if id != wanted]
        task.blocked_by = [id for id in task.blocked_by if id != wanted]


def _failed(wanted: str, error: str) -> ToolOutput:
    structured = {"success": False, "taskId": wanted, "updatedFields": [], "error": error}
    return ToolOutput(content=f"Task {wanted} was not updated. {error}", structured=structured, is_error=True)

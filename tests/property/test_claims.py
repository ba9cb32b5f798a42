"""Tasks of a team: whatever the members do, in any order, nobody works on what another works on."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.runtime.tools import tasks
from checkrein.runtime.tools.claims import Membership, open_blockers, released
from checkrein.runtime.tools.desk import ToolState

FIXED = settings(
    max_examples=int(os.environ.get("CHECKREIN_EXAMPLES", "100")), derandomize=True, deadline=None
)
NAMES = ("lead", "ann", "bob", "eve")
TASKS = ("1", "2", "3", "4")

members = st.sampled_from(NAMES)
ids = st.sampled_from(TASKS)
changes = st.fixed_dictionaries(
    {},
    optional={
        "status": st.sampled_from(("pending", "in_progress", "completed", "deleted")),
        "owner": st.sampled_from((*NAMES, "", "zoe")),
        "addBlockedBy": st.lists(ids, max_size=2),
        "addBlocks": st.lists(ids, max_size=2),
    },
)
steps = st.lists(
    st.one_of(st.tuples(members, ids, changes), st.tuples(st.just("ends"), st.sampled_from(NAMES[1:]))),
    max_size=25,
)


class Members:
    """Each has its own desk over one file, as processes would."""

    def __init__(self, folder: str | None) -> None:
        self.there = set(NAMES)
        self.desks = {name: ToolState(("/",), storage=folder) for name in NAMES}
        if folder is None:
            shared = tasks.TaskList(None)
            for desk in self.desks.values():
                desk.tasks = shared
        for name, desk in self.desks.items():
            desk.membership = Membership(
                name=name,
                team="t",
                leads=name == "lead",
                works=self.there.__contains__,
                leave=lambda: None,
            )
        for _ in TASKS:
            tasks.create({"subject": "s", "description": ""}, self._context("lead"))

    def update(self, name: str, task: str, change: dict[str, Any]) -> bool:
        return not tasks.update({"taskId": task, **change}, self._context(name)).is_error

    def board(self) -> tasks.Board:
        return tasks.task_list(self.desks["lead"]).read()

    def end(self, name: str) -> None:
        self.there.discard(name)
        released(tasks.task_list(self.desks["lead"]), name)

    def _context(self, name: str) -> Any:
        return SimpleNamespace(state=self.desks[name], objection=None)


@FIXED
@given(steps)
def test_a_task_has_one_worker_and_nothing_begins_too_early(steps: list[Any]) -> None:
    with TemporaryDirectory() as folder:
        members = Members(folder)
        for step in steps:
            before = members.board()
            if step[0] == "ends":
                members.end(step[1])
                assert not any(
                    task.owner == step[1] and task.status != "completed"
                    for task in members.board().tasks.values()
                )
                continue
            who, id, change = step
            if who not in members.there:
                continue
            done = members.update(who, id, change)
            after = members.board()
            was, now = before.tasks.get(id), after.tasks.get(id)
            if not done:
                assert after == before
            elif was is not None:
                held = was.status == "in_progress" and was.owner in members.there and was.owner != who
                if held:
                    assert now is not None, "deleted while another works on it"
                    assert (now.owner, now.status) == (was.owner, was.status)
                if now is not None and now.status == "in_progress" and was.status != "in_progress":
                    assert now.owner is not None
                    assert not open_blockers(before, was)
            assert not _circles(after)


@FIXED
@given(st.lists(st.tuples(members, ids), min_size=4, max_size=12), st.booleans())
def test_of_several_at_once_one_wins(claims: list[tuple[str, str]], in_memory: bool) -> None:
    with TemporaryDirectory() as folder:
        members = Members(None if in_memory else folder)
        won: list[tuple[str, str]] = []
        gate = threading.Barrier(len(claims))

        def claim(who: str, id: str) -> None:
            gate.wait()
            if members.update(who, id, {"status": "in_progress"}):
                won.append((id, who))

        threads = [threading.Thread(target=claim, args=one) for one in claims]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        owners = {id: task.owner for id, task in members.board().tasks.items() if task.owner}
        assert set(won) == set(owners.items())


def test_the_list_survives_a_change_that_fails(tmp_path: Path) -> None:
    members = Members(None)
    assert members.update("ann", "1", {"owner": "ann"})
    assert members.board().tasks["1"].status == "in_progress"
    assert not members.update("bob", "1", {"status": "completed"})
    assert not members.update("ann", "2", {"addBlockedBy": ["2"]})
    assert members.update("ann", "2", {"addBlockedBy": ["1"]})
    assert not members.update("bob", "2", {"status": "in_progress"})
    assert members.update("ann", "1", {"status": "completed"})
    assert members.update("bob", "2", {"status": "in_progress"})


def _circles(board: tasks.Board) -> bool:
    left = {id: {one for one in task.blocked_by if one in board.tasks} for id, task in board.tasks.items()}
    while free := [id for id, waits in left.items() if not waits & left.keys()]:
        for id in free:
            del left[id]
    return bool(left)

"""Lists, background commands, questions and plan mode."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.tools.desk import ToolState

Desk = Any


def todo(content: str, status: str) -> dict[str, str]:
    return {"content": content, "status": status, "activeForm": f"{content}ing"}


def test_todos_are_replaced_and_kept(desk: Desk, tmp_path: Path) -> None:
    desk.state.storage = str(tmp_path / "kept")
    first = [todo("a", "in_progress"), todo("b", "pending")]
    assert desk.run("TodoWrite", {"todos": first}).structured == {"oldTodos": [], "newTodos": first}
    resumed = ToolState((str(desk.root),), storage=str(tmp_path / "kept"))
    assert resumed.todos == first
    done = [todo("a", "completed"), todo("b", "completed")]
    assert desk.run("TodoWrite", {"todos": done}).structured == {"oldTodos": first, "newTodos": done}
    assert desk.state.todos == []


def test_tasks_from_start_to_end(desk: Desk) -> None:
    for subject in ("one", "two", "three"):
        desk.run("TaskCreate", {"subject": subject, "description": f"do {subject}"})
    linked = desk.run("TaskUpdate", {"taskId": "2", "addBlockedBy": ["1"], "addBlocks": ["3"], "owner": "me"})
    assert linked.structured["updatedFields"] == ["owner", "blocks", "blockedBy"]
    listed = desk.run("TaskList", {})
    assert [row["blockedBy"] for row in listed.structured["tasks"]] == [[], ["1"], ["2"]]
    assert "2. [pending] two (me) [waits for 1]" in listed.content
    started = desk.run("TaskUpdate", {"taskId": "1", "status": "completed"})
    assert started.structured["statusChange"] == {"from": "pending", "to": "completed"}
    assert desk.run("TaskList", {}).structured["tasks"][1]["blockedBy"] == []
    task = desk.run("TaskGet", {"taskId": "2"}).structured["task"]
    assert (task["subject"], task["blocks"], task["blockedBy"]) == ("two", ["3"], ["1"])
    desk.run("TaskUpdate", {"taskId": "2", "status": "deleted"})
    assert desk.run("TaskGet", {"taskId": "2"}).structured == {"task": None}
    assert desk.run("TaskGet", {"taskId": "3"}).structured["task"]["blockedBy"] == []
    assert desk.run("TaskCreate", {"subject": "four", "description": ""}).structured["task"]["id"] == "4"


@pytest.mark.parametrize(
    "change", [{"taskId": "9"}, {"taskId": "1", "addBlocks": ["1"]}, {"taskId": "1", "addBlocks": ["9"]}]
)
def test_a_wrong_change_changes_nothing(desk: Desk, change: dict[str, Any]) -> None:
    desk.run("TaskCreate", {"subject": "one", "description": ""})
    done = desk.run("TaskUpdate", change)
    assert done.is_error
    assert done.structured["success"] is False
    assert desk.run("TaskGet", {"taskId": "1"}).structured["task"]["blocks"] == []


def test_several_sessions_share_a_list(desk: Desk, tmp_path: Path) -> None:
    states = [ToolState((str(desk.root),), storage=str(tmp_path / "shared")) for _ in range(4)]

    def add(state: ToolState) -> None:
        for _ in range(5):
            desk.run("TaskCreate", {"subject": "s", "description": ""}, state=state)

    threads = [threading.Thread(target=add, args=(state,)) for state in states]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    rows = desk.run("TaskList", {}, state=states[0]).structured["tasks"]
    assert sorted(int(row["id"]) for row in rows) == list(range(1, 21))


def test_a_broken_list_is_said_not_lost(desk: Desk, tmp_path: Path) -> None:
    desk.state.storage = str(tmp_path)
    (tmp_path / "tasks.json").write_text("{")
    assert "can't be read" in desk.failure("TaskCreate", {"subject": "s", "description": ""})
    assert (tmp_path / "tasks.json").read_text() == "{"


def start(desk: Desk, command: str) -> str:
    done = desk.run("Bash", {"command": command, "run_in_background": True, "description": "a job"})
    return str(done.structured["backgroundTaskId"])


def test_output_comes_in_parts(desk: Desk) -> None:
    name = start(desk, "echo a; read -t 0.4 < <(sleep 9); echo b")
    first = desk.run("TaskOutput", {"task_id": name, "block": True, "timeout": 200})
    assert first.structured["retrieval_status"] == "timeout"
    assert first.structured["task"] | {"output": ""} == {
        "task_id": name,
        "task_type": "local_bash",
        "status": "running",
        "description": "a job",
        "output": "",
        "exitCode": None,
    }
    rest = desk.run("TaskOutput", {"task_id": name})
    assert (first.structured["task"]["output"], rest.structured["task"]["output"]) == ("a", "b")
    assert rest.structured["task"]["status"] == "completed"
    assert "no new output" in desk.text("BashOutput", {"bash_id": name})


def test_a_background_failure_tells_its_code(desk: Desk) -> None:
    name = start(desk, "echo no; exit 3")
    done = desk.run("TaskOutput", {"task_id": name})
    assert (done.structured["task"]["status"], done.structured["task"]["exitCode"]) == ("failed", 3)


def test_much_background_output_is_cut(desk: Desk) -> None:
    name = start(desk, "yes 0123456789 | head -c 3000000; echo END")
    done = desk.text("TaskOutput", {"task_id": name})
    assert len(done) < 32_000
    assert done.endswith("END")
    assert "bytes before this are in" in done


def test_stopping(desk: Desk) -> None:
    name = start(desk, "sleep 1000")
    assert desk.run("TaskStop", {"task_id": name}).structured["command"] == "sleep 1000"
    assert desk.run("TaskOutput", {"task_id": name}).structured["task"]["status"] == "killed"
    assert "not running" in desk.failure("KillShell", {"shell_id": name})
    assert "no background command" in desk.failure("TaskStop", {"task_id": "bash_99"})
    assert "Set task_id" in desk.failure("TaskStop", {})


def test_an_end_is_reported_once(desk: Desk) -> None:
    name = start(desk, "true")
    desk.state.shells[name].running.wait(5)
    assert [shell.id for shell in desk.state.finished_shells()] == [name]
    assert desk.state.finished_shells() == []


QUESTION = {
    "question": "Which way?",
    "header": "Way",
    "multiSelect": False,
    "options": [{"label": "left", "description": ""}, {"label": "right", "description": ""}],
}


def test_a_question_and_its_answer(desk: Desk) -> None:
    asked: list[dict[str, Any]] = []

    def ask(request: dict[str, Any]) -> dict[str, Any]:
        asked.append(request)
        return {"answers": {"Which way?": ["left", "right"]}}

    done = desk.run("AskUserQuestion", {"questions": [QUESTION]}, ask_user=ask)
    assert asked == [{"kind": "questions", "questions": [QUESTION]}]
    assert done.structured == {"questions": [QUESTION], "answers": {"Which way?": "left, right"}}
    assert done.content == "Which way?\n-> left, right"


def test_answers_that_the_host_has_filled_in(desk: Desk) -> None:
    given = {"questions": [QUESTION], "answers": {"Which way?": "left"}}
    assert desk.run("AskUserQuestion", given).structured["answers"] == {"Which way?": "left"}


def test_nobody_answers(desk: Desk) -> None:
    assert "No user can answer" in desk.failure("AskUserQuestion", {"questions": [QUESTION]})
    declined = desk.failure("AskUserQuestion", {"questions": [QUESTION]}, ask_user=lambda request: None)
    assert "declined" in declined


def test_questions_must_be_askable(desk: Desk) -> None:
    twice = {"questions": [QUESTION, QUESTION]}
    assert "different" in desk.failure("AskUserQuestion", twice, ask_user=lambda request: {})
    long = {"questions": [QUESTION | {"header": "A very long header"}]}
    assert "12 characters" in desk.failure("AskUserQuestion", long, ask_user=lambda request: {})


def test_plan_mode(desk: Desk) -> None:
    modes: list[str] = []
    desk.run("EnterPlanMode", {}, set_mode=modes.append)
    done = desk.run(
        "ExitPlanMode", {"plan": "1. do it"}, set_mode=modes.append, mode_after_plan="acceptEdits"
    )
    assert modes == ["plan", "acceptEdits"]
    assert done.structured == {"plan": "1. do it", "isAgent": False}
    assert "1. do it" in done.content
    assert "can't change its mode" in desk.failure("EnterPlanMode", {})

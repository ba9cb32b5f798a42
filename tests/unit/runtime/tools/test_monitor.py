"""Monitor with real programs."""

from __future__ import annotations

import time
from typing import Any


def lines(desk: Any, count: int) -> list[str]:
    found: list[str] = []
    until = time.monotonic() + 10
    while sum(len(note.splitlines()) - 1 for note in found) < count and time.monotonic() < until:
        found += [wake.text for wake in desk.state.monitors.due()]
        time.sleep(0.02)
    return found


def test_lines_time_out_and_shape(desk: Any) -> None:
    done = desk.run("Monitor", {"command": "echo a; sleep 30", "description": "the build", "timeout_ms": 700})
    assert done.structured == {"taskId": "bash_1", "timeoutMs": 700, "persistent": False}
    assert lines(desk, 1) == ["Monitor bash_1 (the build):\na"]
    shell = desk.state.shells["bash_1"]
    shell.running.wait(5)
    assert shell.status == "killed"


def test_it_is_a_shell_like_any_other(desk: Any) -> None:
    desk.run("Monitor", {"command": "echo a; sleep 30", "description": "d", "persistent": True})
    lines(desk, 1)
    assert "a" in desk.text("TaskOutput", {"task_id": "bash_1", "block": False})
    assert "has been stopped" in desk.text("TaskStop", {"task_id": "bash_1"})


def test_there_are_not_too_many(desk: Any) -> None:
    for _ in range(16):
        desk.run("Monitor", {"command": "sleep 30", "description": "d"})
    assert "16 monitors" in desk.failure("Monitor", {"command": "sleep 30", "description": "d"})


def test_background_work_may_be_off(desk: Any) -> None:
    desk.env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    assert "switched off" in desk.failure("Monitor", {"command": "true", "description": "d"})


def test_a_nul_is_refused(desk: Any) -> None:
    assert "NUL" in desk.failure("Monitor", {"command": "a\0b", "description": "d"})

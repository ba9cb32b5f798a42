from __future__ import annotations

import re
from typing import Any

import pytest

from checkrein.runtime.timers.late_jobs import LateJobs


@pytest.mark.parametrize(
    ("name", "input"),
    [
        ("CronCreate", {"cron": "* * * * *", "prompt": "x"}),
        ("CronDelete", {"id": "x"}),
        ("CronList", {}),
        ("ScheduleWakeup", {"delaySeconds": 60, "prompt": "x"}),
    ],
)
def test_only_the_main_conversation_has_jobs(desk: Any, name: str, input: dict[str, Any]) -> None:
    assert "only in the main conversation" in desk.failure(name, input)


class TestMain:
    @pytest.fixture(autouse=True)
    def jobs(self, desk: Any) -> None:
        desk.state.jobs = LateJobs(lambda kept: None, lambda jobs: None)

    def test_create_list_delete(self, desk: Any) -> None:
        made = desk.run("CronCreate", {"cron": " */5  * * * * ", "prompt": "look\x1b[1m"})
        job = made.structured["id"]
        assert re.fullmatch(r"[0-9a-f]{8}", job)
        assert set(made.structured) == {"id", "humanSchedule", "recurring", "durable"}
        listed = desk.run("CronList", {})
        assert re.fullmatch(rf"{job}: `\*/5 \* \* \* \*`, next at [-0-9: ]+: look\\x1b\[1m", listed.content)
        (row,) = listed.structured["jobs"]
        assert (row["cron"], row["prompt"], row["recurring"]) == ("*/5 * * * *", "look\x1b[1m", True)
        assert desk.run("CronDelete", {"id": job}).structured == {"id": job}
        assert desk.text("CronList", {}) == "There are no jobs."

    def test_durable_promises_nothing(self, desk: Any) -> None:
        made = desk.run("CronCreate", {"cron": "* * * * *", "prompt": "x", "durable": True})
        assert made.structured["durable"] is False

    @pytest.mark.parametrize("cron", ["0 0 30 2 *", "x", "1," * 500_000])
    def test_a_wrong_expression(self, desk: Any, cron: str) -> None:
        said = desk.failure("CronCreate", {"cron": cron, "prompt": "x"})
        assert "cron expression" in said
        assert len(said) < 300

    @pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "\x1b[2J", "", "x" * 1_000_000])
    def test_an_id_is_only_a_name(self, desk: Any, name: str) -> None:
        said = desk.failure("CronDelete", {"id": name})
        assert said.startswith("There is no job ")
        assert "\x1b" not in said
        assert len(said) < 200

    def test_wake_up(self, desk: Any) -> None:
        done = desk.run("ScheduleWakeup", {"delaySeconds": 5, "prompt": "again", "reason": "the build"})
        assert done.structured["clampedDelaySeconds"] == 60
        assert done.structured["wasClamped"] is True
        assert "wake-up at" in desk.text("CronList", {})

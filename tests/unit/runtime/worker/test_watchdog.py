"""A worker that makes no progress, without waiting for it."""

from __future__ import annotations

import pytest

from checkrein.runtime.worker.session_report import Termination
from checkrein.runtime.worker.watchdog import Beat, Limits, Watchdog

LIMITS = Limits(timeout=1000, stale=100, idle=50, suppression=200, exit_grace=5)


@pytest.mark.parametrize(
    ("beats", "now", "due"),
    [
        ([], 49, None),
        ([], 50, "idle_stall"),
        ([("output", 40), ("output", 80), ("output", 99)], 99, None),
        ([("output", 40), ("output", 80), ("output", 99)], 100, "stale"),
        ([("step", 40), ("step", 80), ("step", 120)], 169, None),
        ([("tool_started", 10)], 209, None),
        ([("tool_started", 10)], 210, "idle_stall"),
        ([("tool_started", 10), ("output", 190)], 210, "stale"),
        ([("tool_started", 10), ("tool_finished", 20)], 70, "idle_stall"),
        ([("tool_started", 10), ("tool_started", 11), ("tool_finished", 20)], 70, None),
        ([("tool_finished", 1), ("tool_finished", 2), ("tool_started", 3)], 60, None),
        ([("submitted", 10)], 14, None),
        ([("submitted", 10), ("output", 14), ("submitted", 14)], 15, "completed"),
        (
            [("output", at) for at in range(0, 1000, 40)] + [("step", at) for at in range(0, 1000, 40)],
            1000,
            "timed_out",
        ),
    ],
)
def test_when_it_fires(beats: list[tuple[Beat, float]], now: float, due: Termination | None) -> None:
    dog = Watchdog(LIMITS, 0)
    for kind, at in sorted(beats, key=lambda one: one[1]):
        dog.beat(kind, at)
    assert dog.due(now) == due


def test_switched_off() -> None:
    assert Watchdog(Limits(timeout=0, stale=0, idle=0), 0).due(10**9) is None
    dog = Watchdog(Limits(idle=10, suppression=0), 0)
    dog.beat("tool_started", 0)
    assert dog.due(10**3) is None

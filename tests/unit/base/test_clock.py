from __future__ import annotations

import pytest

from checkrein.base import clock


def test_a_fixed_instant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-01-02T03:04:05Z")
    assert clock.timestamp() == "2026-01-02T03:04:05Z"
    assert clock.now() == clock.now()


def test_a_clock_that_runs_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKREIN_CLOCK", "1970-01-01T00:00:00Z*1000")
    passed = [0.0]
    monkeypatch.setattr(clock.time, "monotonic", lambda: clock._BEGAN + passed[0])
    assert clock.now() == 0
    passed[0] = 2.0
    assert clock.now() == pytest.approx(2_000)

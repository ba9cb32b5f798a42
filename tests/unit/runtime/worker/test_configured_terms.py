"""Each key of the sections `run_skill` and `quota_guard` changes what a worker does."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.config import Config, load_config
from checkrein.base.home import checkrein_home
from checkrein.facts.config import KEYS
from checkrein.runtime.worker.configured_terms import backend_named, configured_limits, configured_quota
from checkrein.runtime.worker.quota_guard import Quota, Spent, Standing, spendings, standing
from checkrein.runtime.worker.session_report import Termination
from checkrein.runtime.worker.watchdog import Beat, Limits, Watchdog

Configured = Callable[..., Config]


@pytest.fixture
def configured(project: Path) -> Configured:
    """`configured(text, user=)`: the configuration with this checkrein.toml and this config.toml."""

    def load(text: str = "", user: str = "") -> Config:
        (project / "checkrein.toml").write_text(text)
        home = checkrein_home()
        home.mkdir(parents=True, exist_ok=True)
        (home / "config.toml").write_text(user)
        return load_config(KEYS, project, home)

    return load


def test_without_a_word_the_limits_are_those_of_a_worker(configured: Configured) -> None:
    get = configured().get
    assert configured_limits(get) == Limits()
    assert configured_quota(get) is None
    assert backend_named(get("run_skill.backend")).name == "checkrein"


@pytest.mark.parametrize(
    ("key", "beats", "due"),
    [
        ("timeout = 7", [("step", 5)], "timed_out"),
        ("stale_threshold = 7", [("output", 5)], "stale"),
        ("idle_output_timeout = 7", [], "idle_stall"),
        ("idle_output_timeout = 2\nmax_suppression_seconds = 7", [("tool_started", 0)], "idle_stall"),
        ("natural_exit_grace_seconds = 7", [("submitted", 0)], "completed"),
    ],
)
def test_a_limit_ends_a_worker_at_its_time(
    configured: Configured, key: str, beats: list[tuple[Beat, float]], due: Termination
) -> None:
    dog = Watchdog(configured_limits(configured(f"[run_skill]\n{key}\n").get), 0)
    for kind, at in beats:
        dog.beat(kind, at)
    assert dog.due(6.9) is None
    assert dog.due(7) == due


def test_the_words_of_a_call_win(configured: Configured) -> None:
    get = configured("[run_skill]\ntimeout = 7\nstale_threshold = 7\nidle_output_timeout = 7\n").get
    assert configured_limits(get, timeout=1, stale=2, idle=0) == Limits(timeout=1, stale=2, idle=0)


@pytest.mark.parametrize("text", ["timeout = 0", "stale_threshold = -1", 'backend = "bash"'])
def test_a_wrong_value_is_a_finding(configured: Configured, text: str) -> None:
    assert [one.code for one in configured(f"[run_skill]\n{text}\n").diagnostics] == ["CFG004"]


def test_the_backend_is_configured(configured: Configured) -> None:
    config = configured('[run_skill]\nbackend = "claude"\n')
    assert backend_named(config.get("run_skill.backend")).name == "claude"


def test_only_the_user_sets_the_quota(configured: Configured) -> None:
    text = "[quota_guard]\nmax_usd = 2.5\nmax_tokens = 9\nwindow_seconds = 60\n"
    mine = configured(user=text)
    assert configured_quota(mine.get) == Quota(usd=2.5, tokens=9, window=60)
    theirs = configured(text + "enabled = false\n", user=text)
    assert configured_quota(theirs.get) == configured_quota(mine.get)
    assert {one.code for one in theirs.diagnostics} == {"CFG003"}
    assert configured_quota(configured(user=text + "enabled = false\n").get) is None


@pytest.mark.parametrize(
    ("quota", "found"),
    [
        (Quota(tokens=30, window=100), Standing(4.0, 29, 0)),
        (Quota(tokens=29, window=100), Standing(4.0, 29, 10)),
        (Quota(tokens=10, window=100), Standing(4.0, 29, 60)),
        (Quota(usd=1.0, window=100), Standing(4.0, 29, 90)),
        (Quota(usd=4.1, tokens=29, window=100), Standing(4.0, 29, 10)),
        (Quota(tokens=1, window=5), Standing(0.0, 0, 0)),
        (Quota(tokens=10_000, window=200), Standing(13.0, 1028, 0)),
    ],
)
def test_how_long_a_worker_waits(quota: Quota, found: Standing) -> None:
    """Spendings leave the window one by one."""
    log = [Spent(990, 2.0, 5), Spent(910, 1.0, 9), Spent(960, 1.0, 15), Spent(899, 9.0, 999)]
    assert standing(quota, log, 1000) == found


@pytest.mark.parametrize(
    "line", [{}, {"at": 5, "tokens": {}}, {"at": "soon", "tokens": {"cost_usd": 1}}, {"at": None}]
)
def test_a_line_of_somebody_else_is_no_spending(line: dict[str, Any]) -> None:
    used = {"input": 1, "output": 2, "cache_creation": 3, "cache_read": 4, "cost_usd": 0.5}
    good = {"at": "1970-01-01T00:01:40Z", "tokens": used}
    assert list(spendings([line, good])) == [Spent(100.0, 0.5, 6)]

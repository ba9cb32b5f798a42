"""Workers die and stand still at random. The world outside must not notice."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from support.recipe_kills import Campaign

LONG = bool(os.environ.get("CHECKREIN_CAMPAIGN"))


def check(campaign: Campaign, runs: list[str]) -> None:
    states = Counter(campaign.shop.desk.state(run) for run in runs)
    assert set(states) == {"done"}, states
    keys = campaign.sink.keyed()
    assert len(keys) == len(set(keys))
    per_run = Counter(key.partition("/")[0] for key in keys)
    assert len(set(per_run.values())) == 1, "each keyed effect of each run is there exactly once"
    once = Counter(campaign.sink.happened("once"))
    assert max(once.values()) == 1, [key for key, count in once.items() if count > 1]
    assert len(once) == 2 * len(runs)
    journals = {tuple(campaign.journal(run)) for run in runs}
    assert len(journals) == 1


def hurt_for(campaign: Campaign, runs: list[str], blows: int, pause: float) -> Counter[str]:
    done: Counter[str] = Counter()
    while blows and campaign.open_runs(runs):
        time.sleep(campaign.random.uniform(0.3, 1.0) * pause)
        done[campaign.hurt()] += 1
        blows -= 1
    for one in campaign.workers:
        if one.poll() is None and one.pid in campaign.stopped:
            one.send_signal(18)
    return done


def play(campaign: Campaign, *, runs: int, workers: int, blows: int, pause: float, seconds: float) -> None:
    for _ in range(workers):
        campaign.hire()
    limit = time.monotonic() + 60
    while len(campaign.shop.database.workers("live")) < workers:
        assert time.monotonic() < limit
        time.sleep(0.05)
    begun = campaign.add(runs)
    done: Counter[str] = Counter()
    while blows > 0:
        done += hurt_for(campaign, begun, min(blows, 3), pause)
        blows -= 3
        campaign.reconcile(begun)
        campaign.replace_dead(1 if not LONG else workers)
    campaign.wait(begun, seconds)
    assert done["killed"] + done["stopped"], "nobody was hurt"
    check(campaign, begun)


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_workers_die_and_nothing_is_lost_or_done_twice(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgres") if kind == "postgres" else None
    campaign = Campaign(tmp_path, url, lease=2.0, seconds=0.05, seed=7)
    try:
        play(campaign, runs=3, workers=3, blows=3, pause=0.8, seconds=80)
    finally:
        campaign.close()


@pytest.mark.campaign
@pytest.mark.timeout(3600)
@pytest.mark.skipif(not LONG, reason="CHECKREIN_CAMPAIGN=1 runs it")
@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_a_hundred_runs_survive_a_bad_day(kind: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue("postgres") if kind == "postgres" else None
    campaign = Campaign(tmp_path, url, lease=3.0, seconds=0.02, seed=11)
    try:
        play(campaign, runs=100, workers=4, blows=40, pause=2.0, seconds=900)
    finally:
        campaign.close()

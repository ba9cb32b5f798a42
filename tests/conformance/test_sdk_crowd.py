"""Many programs on the SDK at once, and one that dies: the short form of `bench/sdk.py`."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def bench() -> ModuleType:
    path = Path(__file__).parents[2] / "bench" / "sdk.py"
    spec = importlib.util.spec_from_file_location("bench_sdk", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_clients_with_callbacks_do_not_disturb_each_other(bench: ModuleType, tmp_path: Path) -> None:
    assert asyncio.run(bench.crowd(6, tmp_path))["wrong"] == []


@pytest.mark.campaign
def test_fifty_clients_at_once(bench: ModuleType, tmp_path: Path) -> None:
    assert asyncio.run(bench.crowd(50, tmp_path))["wrong"] == []


def test_a_killed_program_leaves_no_process_behind(bench: ModuleType, tmp_path: Path) -> None:
    assert bench.killed(tmp_path, patience=60.0) < 60.0

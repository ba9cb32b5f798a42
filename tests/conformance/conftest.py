"""What the tests of the real SDK share, and what conformance tests say at the end of a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.sdk_stage import Stage
from support.counted import COUNTED


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    reports = (one for kind in ("passed", "failed") for one in terminalreporter.stats.get(kind, ()))
    lines = sorted({text for one in reports for name, text in one.user_properties if name == COUNTED})
    if lines:
        terminalreporter.write_line("What each agent lists after a deploy was counted by:")
        for line in lines:
            terminalreporter.write_line(f"  {line}")

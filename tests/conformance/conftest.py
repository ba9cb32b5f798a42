"""What the tests of the real SDK share."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.sdk_stage import Stage


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)

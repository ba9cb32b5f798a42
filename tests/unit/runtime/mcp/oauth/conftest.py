"""A loopback authorization server for each test that asks for one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from support.auth_server import AuthServer, auth_server


@pytest.fixture
def hub() -> Iterator[AuthServer]:
    with auth_server() as server:
        yield server

"""The trees of all modules are millions of objects that stay: the collector must not walk them each time."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest


@pytest.fixture(autouse=True)
def _uncollected() -> Iterator[None]:
    gc.disable()
    yield
    gc.freeze()
    gc.enable()

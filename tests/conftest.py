"""No test sees the user's own files, credentials or sessions, or how the tests were started."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

_VARIABLES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_MODEL",
    "ANTHROPIC_DEFAULT_MODEL",
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "CLAUDE_CONFIG_DIR",
    "CHECKREIN_CLOCK",
    "CHECKREIN_ID_SEED",
    "XDG_DATA_HOME",
)

# A shell starts background jobs with SIGINT ignored, and children inherit that; tests interrupt some of them.
signal.signal(signal.SIGINT, signal.default_int_handler)

_homes = count()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """`untraced` tests run without the tracer of coverage, in every worker."""
    tracer = sys.gettrace()
    if tracer is None or item.get_closest_marker("untraced") is None:
        yield
        return
    sys.settrace(None)
    yield
    sys.settrace(tracer)


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.getbasetemp() / "homes" / str(next(_homes))
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("CHECKREIN_HOME", str(home / "checkrein"))
    for name in _VARIABLES:
        monkeypatch.delenv(name, raising=False)
    return home

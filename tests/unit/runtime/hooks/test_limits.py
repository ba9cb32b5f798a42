from __future__ import annotations

import math

import pytest

from checkrein.base.origin import Origin
from checkrein.model.items import Hook
from checkrein.runtime.hooks.limits import session_end_budget, stop_block_cap, timeout


def hook(kind: str = "command", seconds: float | None = None, plugin: str | None = None) -> Hook:
    return Hook(name="Stop", type=kind, timeout=seconds, plugin=plugin, origin=Origin("/s", "user"))


@pytest.mark.parametrize(
    ("kind", "event", "seconds"),
    [
        ("command", "PreToolUse", 600),
        ("http", "PreToolUse", 600),
        ("mcp_tool", "PreToolUse", 600),
        ("prompt", "PreToolUse", 30),
        ("agent", "PreToolUse", 60),
        ("command", "UserPromptSubmit", 30),
        ("agent", "UserPromptSubmit", 60),
        ("command", "MessageDisplay", 10),
    ],
)
def test_defaults(kind: str, event: str, seconds: float) -> None:
    assert timeout(hook(kind), event) == seconds


@pytest.mark.parametrize("written", [0.0, -1.0, math.nan, math.inf])
def test_numbers_that_are_no_time(written: float) -> None:
    assert timeout(hook(seconds=written), "Stop") == 600


def test_what_is_written_counts() -> None:
    assert timeout(hook(seconds=5), "UserPromptSubmit") == 5
    assert timeout(hook(seconds=1e12), "Stop") == 86400


def test_the_end_of_a_session() -> None:
    assert session_end_budget([hook()], {}) == 1.5
    assert session_end_budget([hook(seconds=10), hook()], {}) == 10
    assert session_end_budget([hook(seconds=500)], {}) == 60
    assert session_end_budget([hook(seconds=20, plugin="p")], {}) == 1.5
    assert session_end_budget([hook(seconds=10)], {"CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "3000"}) == 3
    assert session_end_budget([hook()], {"CLAUDE_CODE_SESSIONEND_HOOKS_TIMEOUT_MS": "soon"}) == 1.5


def test_stop_guard() -> None:
    assert stop_block_cap({}) == 8
    assert stop_block_cap({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "3"}) == 3
    assert stop_block_cap({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "0"}) is None
    assert stop_block_cap({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "-1"}) == 8
    assert stop_block_cap({"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP": "x"}) == 8

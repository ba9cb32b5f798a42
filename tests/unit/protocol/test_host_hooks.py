"""The hooks that a host brings: what has no sense is an error, never a guard that is not there."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from checkrein.base.errors import UsageError
from checkrein.protocol.host_hooks import host_hooks


@pytest.mark.parametrize(
    "hooks",
    [
        [1],
        "x",
        {"PreToolUse": 3},
        {"PreToolUse": "x"},
        {"PreToolUse": [3]},
        {"PreToolUse": [{"hookCallbackIds": 3}]},
        {"PreToolUse": [{"hookCallbackIds": "abc"}]},
    ],
)
def test_hooks_of_another_form(hooks: Any) -> None:
    with pytest.raises(UsageError):
        host_hooks(hooks)


@pytest.mark.parametrize("hooks", [None, {}, {"PreToolUse": None}, {"PreToolUse": [{}]}, {"NoEvent": [{}]}])
def test_no_hooks(hooks: Any) -> None:
    assert host_hooks(hooks) == ()


@pytest.mark.parametrize(
    ("given", "seconds"),
    [(5, 5.0), (0.5, 0.5), (-5, None), (0, None), (True, None), ("9", None), (1e300, threading.TIMEOUT_MAX)],
)
def test_times(given: Any, seconds: float | None) -> None:
    (hook,) = host_hooks({"PreToolUse": [{"hookCallbackIds": ["h"], "timeout": given}]})
    assert hook.seconds == seconds

"""How long hooks may take, and how often a Stop hook may object."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from checkrein.facts.claude_hooks import (
    DEFAULT_TIMEOUTS,
    EVENT_TIMEOUTS,
    SESSION_END_LONGEST,
    SESSION_END_TIMEOUT_ENV,
    STOP_BLOCK_CAP,
    STOP_BLOCK_CAP_ENV,
)
from checkrein.model.items import Hook
from checkrein.runtime.hooks.match import is_component

_LONGEST = 24 * 3600.0


def timeout(hook: Hook, event: str) -> float:
    """Seconds for one handler. A value that is not a positive number does not count."""
    if is_seconds(hook.timeout):
        return min(hook.timeout or 0, _LONGEST)
    default = DEFAULT_TIMEOUTS.get(hook.type, DEFAULT_TIMEOUTS["command"])
    return default if hook.type in ("prompt", "agent") else EVENT_TIMEOUTS.get(event, default)


def session_end_budget(hooks: Iterable[Hook], env: Mapping[str, str]) -> float:
    """Seconds that all SessionEnd hooks share: 1.5, or the longest timeout in a settings file."""
    chosen = _number(env.get(SESSION_END_TIMEOUT_ENV))
    if chosen is not None and chosen > 0:
        return min(chosen / 1000, SESSION_END_LONGEST)
    asked = [hook.timeout or 0 for hook in hooks if is_seconds(hook.timeout) and not is_component(hook)]
    return min(max([EVENT_TIMEOUTS["SessionEnd"], *asked]), SESSION_END_LONGEST)


def stop_block_cap(env: Mapping[str, str]) -> int | None:
    """How many times in a row Stop hooks may keep an agent going; None when there is no limit."""
    chosen = _number(env.get(STOP_BLOCK_CAP_ENV))
    cap = STOP_BLOCK_CAP if chosen is None or chosen < 0 else int(chosen)
    return cap or None


def is_seconds(value: float | None) -> bool:
    return value is not None and math.isfinite(value) and value > 0


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None

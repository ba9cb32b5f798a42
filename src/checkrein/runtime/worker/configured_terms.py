"""How workers run by the configuration: their limits, their quota, their backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from checkrein.runtime.worker.backend import Backend
from checkrein.runtime.worker.quota_guard import Quota
from checkrein.runtime.worker.watchdog import Limits

BackendName = Literal["checkrein", "claude"]
Setting = Callable[[str], Any]


def configured_limits(
    setting: Setting, *, timeout: float | None = None, stale: float | None = None, idle: float | None = None
) -> Limits:
    """What a call gives wins."""
    return Limits(
        timeout=setting("run_skill.timeout") if timeout is None else timeout,
        stale=setting("run_skill.stale_threshold") if stale is None else stale,
        idle=setting("run_skill.idle_output_timeout") if idle is None else idle,
        suppression=setting("run_skill.max_suppression_seconds"),
        exit_grace=setting("run_skill.natural_exit_grace_seconds"),
    )


def configured_quota(setting: Setting) -> Quota | None:
    """None when nothing limits what workers spend."""
    usd, tokens = setting("quota_guard.max_usd"), setting("quota_guard.max_tokens")
    if not setting("quota_guard.enabled") or (usd is None and tokens is None):
        return None
    return Quota(usd=usd, tokens=tokens, window=setting("quota_guard.window_seconds"))


def backend_named(name: BackendName) -> Backend:
    if name == "claude":
        from checkrein.runtime.worker.claude_backend import ClaudeBackend

        return ClaudeBackend()
    from checkrein.runtime.worker.own_backend import OwnBackend

    return OwnBackend()

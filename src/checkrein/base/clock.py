"""The clock, in one place, so that a run can be repeated exactly.

`CHECKREIN_CLOCK` fixes the time: an ISO-8601 instant such as `2026-01-02T03:04:05Z`. With a factor, as in
`2026-01-02T03:04:05Z*60`, the clock begins there with the process and runs so many times as fast.
"""

from __future__ import annotations

import os
import time

_BEGAN = time.monotonic()


def now() -> float:
    """Seconds since the epoch."""
    fixed = os.environ.get("CHECKREIN_CLOCK")
    return _parse(fixed) if fixed else time.time()


def timestamp() -> str:
    """The current instant as UTC ISO-8601 in whole seconds."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now()))


def timestamp_ms() -> str:
    """The current instant as UTC ISO-8601 in milliseconds."""
    moment = now()
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment)) + f".{int(moment * 1000) % 1000:03d}Z"


def elapsed_ms(began: float) -> int:
    """Milliseconds since `began` of `time.monotonic`; 0 while the clock is fixed."""
    return 0 if os.environ.get("CHECKREIN_CLOCK") else int((time.monotonic() - began) * 1000)


def _parse(text: str) -> float:
    from datetime import UTC, datetime

    instant, _, factor = text.partition("*")
    moment = datetime.fromisoformat(instant)
    passed = (time.monotonic() - _BEGAN) * float(factor) if factor else 0.0
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() + passed

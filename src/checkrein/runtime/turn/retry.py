"""Whether and when to send a failed model request again."""

from __future__ import annotations

import random

from msgspec import Struct

from checkrein.llm.port import ModelRequestError

_FIRST_DELAY = 0.5
_LONGEST_DELAY = 32.0
LONGEST_WAIT_ASKED = 120.0
_TRIES = 3
_SECONDS = 20.0


class RetryPolicy(Struct, frozen=True):
    """`attempts` counts the requests after the first. `scale` shrinks all delays (tests). After `seconds`
    there is no further try, and a model that has sent nothing by then has failed."""

    attempts: int = 10
    scale: float = 1.0
    seconds: float | None = None

    def before_another(self) -> RetryPolicy:
        """The policy while another model waits: three tries, twenty seconds."""
        return RetryPolicy(min(self.attempts, _TRIES - 1), self.scale, _SECONDS)


def delay(policy: RetryPolicy, error: ModelRequestError, attempt: int, chance: random.Random) -> float | None:
    """Seconds to wait before attempt number `attempt` (from 1), or None to give up.

    A request that already gave whole blocks is never sent again: the session keeps them.
    """
    if not error.retryable or error.completed or attempt > policy.attempts:
        return None
    asked = error.retry_after
    if asked is not None:
        return min(asked, LONGEST_WAIT_ASKED) * policy.scale
    grown = min(_FIRST_DELAY * 2.0 ** (attempt - 1), _LONGEST_DELAY)
    return grown * chance.uniform(0.75, 1.25) * policy.scale

"""Whether a turn goes in circles: the same failing calls, alone or in a cycle with others."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.json import encode

from checkrein.base.later import later

if TYPE_CHECKING:
    from checkrein.runtime.session.events import ToolFinished

LONGEST_CYCLE = 3
_COUNTED_ELSEWHERE = frozenset({"StructuredOutput"})
_WAITING = frozenset({"Monitor", "ScheduleWakeup", "TaskOutput", "WaitForMcpServers"})
_WAITS = later(r"\b(?:sleep|wait|watch|inotifywait|timeout)\b")
_TIMES = later(r"\b\d+(?:\.\d+)?\s?(?:ns|us|µs|ms|s|secs?|seconds?)\b|\b\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?\b")
_SHOWN = 200


class Repeated(Struct, frozen=True):
    """The last calls came `times` times in a row with the same results."""

    times: int
    calls: tuple[str, ...]

    @property
    def reminder(self) -> str:
        return (
            f"You have now made {self._named} {self.times} times, each time with the same result. It will "
            "not change. Read the result, and then do something else: other input, another tool, or tell "
            "the user what stands in the way."
        )

    @property
    def ending(self) -> str:
        return f"The model made {self._named} {self.times} times with the same result, so the turn was ended."

    @property
    def _named(self) -> str:
        kind = "this call" if len(self.calls) == 1 else "these calls"
        return f"{kind} ({', '.join(self.calls)})"


class Repeats:
    """What the last replies of a turn called, and for how long each cycle has gone on."""

    def __init__(self) -> None:
        self._rounds: deque[Sequence[ToolFinished]] = deque(maxlen=LONGEST_CYCLE)
        self._same = [0] * (LONGEST_CYCLE + 1)

    def take(self, finished: Sequence[ToolFinished]) -> Repeated | None:
        """Take the results of one reply. The answer counts the shortest cycle that they close, if any."""
        before = list(self._rounds)
        self._rounds.append(finished)
        for length in range(1, len(before) + 1):
            equal = _are_equal(before[-length], finished)
            self._same[length] = self._same[length] + 1 if equal else 0
        for length in range(1, len(before) + 1):
            times = self._same[length] // length + 1
            cycle = list(self._rounds)[-length:]
            if times > 1 and not self._same[length] % length and _gets_nowhere(cycle):
                return Repeated(times, tuple(_shown(done) for round in cycle for done in round))
        return None


def _are_equal(one: Sequence[ToolFinished], other: Sequence[ToolFinished]) -> bool:
    return [(done.name, done.input) for done in one] == [(done.name, done.input) for done in other] and all(
        _without_times(first) == _without_times(second) for first, second in zip(one, other, strict=True)
    )


def _without_times(done: ToolFinished) -> str:
    return _TIMES.sub("", str(done.content))


def _gets_nowhere(cycle: Sequence[Sequence[ToolFinished]]) -> bool:
    calls = [done for round in cycle for done in round]
    return any(done.is_error for done in calls) and not any(_may_change(done) for done in calls)


def _may_change(done: ToolFinished) -> bool:
    """Whether time passes on purpose, so that the same call may end otherwise; or the tool has a limit of its
    own."""
    if done.name in _WAITING | _COUNTED_ELSEWHERE or done.input.get("run_in_background") is True:
        return True
    command = done.input.get("command")
    return isinstance(command, str) and _WAITS.search(command) is not None


def _shown(done: ToolFinished) -> str:
    text = f"{done.name} {encode(done.input, order='deterministic').decode()}"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

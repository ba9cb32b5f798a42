"""What the session asks of the guard for one command, and what the guard has refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.policy.starts import Answer, Started, Watch

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel


class StartJudge(Protocol):
    """Answers the questions of the guard. Each call has a thread of its own and may take as long as a person
    needs. `cancel` fires when the answer no longer matters."""

    def judge(self, started: Started, cancel: Cancel) -> Answer: ...


Effect = Literal["exec", "write", "net"]


class Refusal(Struct, frozen=True, kw_only=True):
    """A program that did not start, or that was ended at its first instruction (`ended`). With another
    `effect`, a program that could not write or reach the `target`."""

    program: str
    argv: tuple[str, ...] = ()
    reason: str = ""
    rule: str | None = None
    origin: Origin | None = None
    ended: bool = False
    effect: Effect = "exec"
    target: str = ""


class Guard(Struct, frozen=True, kw_only=True):
    """`on_refused` hears of each refusal when it happens, on any thread."""

    watch: Watch
    judge: StartJudge
    on_refused: Callable[[Refusal], None] | None = None

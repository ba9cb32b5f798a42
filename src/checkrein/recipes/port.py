"""The seams of the interpreter: what keeps its journal, what runs its steps, whom it tells.

`checkrein.recipes.fake` has one of each in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Literal, Protocol

from msgspec import Struct

from checkrein.llm.cancel import Cancel
from checkrein.model.recipe import Effect
from checkrein.model.recipe_plan import Plan
from checkrein.recipes.journal import Answer, End, Entry, Wait
from checkrein.recipes.outcome import Outcome


class Waiting(BaseException):  # a state and no error; an engine records the errors of a step
    """The body can't go on now. It goes on from its journal when the wait is over."""

    def __init__(self, wait: Wait) -> None:
        super().__init__(wait)
        self.wait = wait


Place = tuple[tuple[str, int], ...]
"""Where a body stands in a plan: the steps, and the numbers of their bodies, on the way to it."""


class Branch(Struct, frozen=True, kw_only=True):
    """A body that runs beside others. `plan` is the one that it belongs to, where that is not the run's."""

    path: str
    place: Place
    context: dict[str, Any]
    plan: dict[str, Any] | None = None


class Durable(Protocol):
    """The engine, for one body. Calls come in the same order each time that the body is read again."""

    def step(self, name: str, work: Callable[[], Entry]) -> Entry:
        """The entry of that name: the recorded one, or what `work` gives, recorded. When `work` raises
        Waiting, nothing is recorded."""

    def fork(self, branch: Branch) -> None:
        """Start a branch, once."""

    def join(self, paths: Sequence[str]) -> list[End]:
        """How the branches ended, as soon as each has ended or waits."""

    def answer(self, wait: Wait) -> Answer | None:
        """What a person said, if anybody did."""

    def interruption(self) -> Literal["pause", "handover"] | None:
        """Whether the body must stop before its next step."""


class Task(Struct, frozen=True, kw_only=True):
    """One call of a tool for a step. `key` is the same for every attempt of the step instance, also after a
    crash. `failures` counts the attempts before that may be repeated. `branch` is the path of the body that
    the step is in. `enabled` are the subsets that are on for this run alone."""

    run_id: str
    path: str
    key: str
    step: str
    tool: str
    arguments: dict[str, Any]
    effect: Effect
    branch: str = ""
    attempt: int = 1
    failures: int = 0
    model: str | None = None
    stale_threshold: float | None = None
    idle_output_timeout: float | None = None
    timeout: float | None = None
    enabled: tuple[str, ...] = ()
    cwd: str = ""


class StepRunner(Protocol):
    def do(self, task: Task, cancel: Cancel) -> Outcome:
        """Do it. Whatever goes wrong is in the outcome."""


class Workplace(Protocol):
    """Where steps work. Entering gives the directory; leaving it without an error keeps what was done for
    the next step, wherever that runs."""

    def visit(self, task: Task) -> AbstractContextManager[str]: ...

    def artifacts(self, task: Task, cwd: str) -> str | None:
        """The folder for what is too large for the journal; None: nothing is."""

    def merge(self, run: str, branch: str, paths: Sequence[str]) -> str | None:
        """Bring the work of branches into the body that they left. Gives what prevents it."""


class Dispatcher(Protocol):
    def plan(self, recipe: str, inputs: dict[str, Any]) -> Plan:
        """The plan of another recipe. Raises a CheckreinError that says why there is none."""


class Bell(Protocol):
    def ring(self, run: str, wait: Wait) -> None:
        """Tell people that a run waits for one of them."""


class Watcher(Protocol):
    def saw(self, path: str, entry: Entry | None) -> None:
        """A step begins (None), or has its entry."""

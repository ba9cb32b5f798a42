"""The seam between a worker and the agent that does the work: one method, and a fake that ships for tests."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from checkrein.llm.cancel import Cancel
from checkrein.model.skill_contract import Contract
from checkrein.model.view import View
from checkrein.runtime.worker.session_report import Report
from checkrein.runtime.worker.watchdog import Beat


class Rights(Struct, frozen=True, kw_only=True):
    """What whoever starts a worker lends to it, besides the rules of the project."""

    mode: str | None = None
    trust: bool = False


NO_RIGHTS = Rights()


class Assignment(Struct, frozen=True, kw_only=True):
    """One skill to run. `view` is all that the session may see. `env` is the whole environment. `directives`
    tell the model how to end."""

    skill: str
    args: str
    cwd: str
    view: View
    contract: Contract
    marker: str
    schema: Mapping[str, Any]
    directives: str
    env: Mapping[str, str]
    model: Any = None
    resume: str | None = None
    rights: Rights = NO_RIGHTS

    @property
    def prompt(self) -> str:
        return f"/{self.skill} {self.args}".strip()


Heart = Callable[[Beat], None]


class Backend(Protocol):
    """Runs one session to its end. It beats while the session lives, and ends everything that it started
    before it returns. When `cancel` fires it must return soon, with what there is. It never switches
    permissions off. An exception counts as a crash."""

    name: str

    def work(self, assignment: Assignment, cancel: Cancel, beat: Heart) -> Report: ...


class FakeBackend:
    """Plays a report, or whatever a function does; the fake that ships for tests."""

    name = "fake"

    def __init__(self, report: Report | Callable[[Assignment, Cancel, Heart], Report]) -> None:
        self.assignments: list[Assignment] = []
        self._report = report

    def work(self, assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        self.assignments.append(assignment)
        report = self._report
        return report if isinstance(report, Report) else report(assignment, cancel, beat)

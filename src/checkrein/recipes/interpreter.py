"""Executes one body of a Plan, step by step, from its journal on.

Reading the same journal again gives the same way through the steps: everything that can differ is an entry.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base import clock
from checkrein.llm.cancel import Cancel
from checkrein.model.expression import Failure
from checkrein.model.expression_value import Scope, render, text_of
from checkrein.model.recipe import DONE, ESCALATE
from checkrein.model.recipe_plan import Plan, PlanBody, PlanStep
from checkrein.recipes import calls, dispatches, fan
from checkrein.recipes.journal import End, Entry, Wait
from checkrein.recipes.port import Bell, Dispatcher, Durable, Place, StepRunner, Waiting, Watcher, Workplace
from checkrein.recipes.step_routes import captured, is_skipped, target

MOST_VISITS = 10_000
"""Steps that one body may make: a loop that never ends is a failure."""
_AT_ONCE = 1.0
"""Seconds that a body sleeps through itself; longer waits need no process."""


class Crew(Struct, frozen=True, kw_only=True):
    """Who works for a run."""

    runner: StepRunner
    workplace: Workplace
    dispatcher: Dispatcher
    bell: Bell
    watcher: Watcher
    worker: str = ""


class Stopped(Exception):  # noqa: N818
    """A `stop` inside of a `foreach` or `parallel` ends the whole run."""

    def __init__(self, end: End) -> None:
        super().__init__(end)
        self.end = end


class Interpreter:
    """For one body of one run. `branch` is its path, "" for the top; `place` and `own_plan` as in
    `port.Branch`."""

    def __init__(
        self,
        run: str,
        plan: Plan,
        durable: Durable,
        crew: Crew,
        *,
        cancel: Cancel | None = None,
        branch: str = "",
        place: Place = (),
        own_plan: dict[str, Any] | None = None,
    ) -> None:
        self.run_id = run
        self.plan = plan
        self.own_plan = own_plan
        self.durable = durable
        self.crew = crew
        self.cancel = cancel or Cancel()
        self.branch = branch
        self.place = place

    def run(self, context: dict[str, Any] | None = None) -> End:
        """To its end, or to a wait."""
        try:
            top = body_at(self.plan, self.place)
            return self.body(top, f"{self.branch}/" if self.branch else "", context or {}, self.place)
        except Stopped as stop:
            return stop.end
        except Waiting as waiting:
            return End(state="waiting", step=waiting.wait.path, waits=(waiting.wait,))

    def body(self, body: PlanBody, prefix: str, context: dict[str, Any], place: Place) -> End:
        visits: Counter[str] = Counter()
        context, fresh = dict(context), dict[str, Any]()
        at, last, problem = body.entry, "", ""
        while at in body.steps:
            step = body.steps[at]
            visits[at] += 1
            if visits.total() > MOST_VISITS:
                at, problem = ESCALATE, f"{MOST_VISITS:,} steps did not lead to an end"
                break
            path = f"{prefix}{at}" + (f"@{visits[at]}" if visits[at] > 1 else "")
            self._stand_still(path)
            scope = self._scope(step, context)
            if step.kind == "stop" and not is_skipped(step, scope):
                raise Stopped(replace(self._stop(step, path, scope), captured=fresh))
            entry = self._entry(step, path, scope, place)
            scope = replace(scope, result=entry.result)
            found = captured(step, entry, scope)
            if isinstance(found, Failure):
                entry = replace(entry, state="failure", problem=str(found))
            else:
                context |= found
                fresh |= found
            to = target(step, entry, replace(scope, context=context))
            if isinstance(to, Failure):
                entry, to = replace(entry, problem=str(to)), step.on_failure
            last, at = path, to
            problem = entry.problem or entry.reason
        if at == DONE:
            return End(state="done", step=last, captured=fresh)
        return End(state="failed", step=last, message=problem, is_failure=True, captured=fresh)

    def _scope(self, step: PlanStep, context: dict[str, Any]) -> Scope:
        campaign = context if self.plan.is_campaign else {}
        return Scope(
            inputs=self.plan.inputs, context=dict(context), campaign=campaign, optional=step.optional_refs
        )

    def record(self, path: str, name: str, work: Callable[[], Entry]) -> Entry:
        """The entry of that name. The watcher hears of it when it is new, and when it stands."""

        def watched() -> Entry:
            self.crew.watcher.saw(path, None)
            return replace(work(), worker=self.crew.worker)

        entry = self.durable.step(name, watched)
        self.crew.watcher.saw(path, entry)
        return entry

    def _entry(self, step: PlanStep, path: str, scope: Scope, place: Place) -> Entry:
        plain = Entry(path=path, step=step.name, kind=step.kind, state="success")
        if is_skipped(step, scope):
            return self.record(path, path, lambda: replace(plain, state="skipped"))
        match step.kind:
            case "tool" | "python":
                return calls.called(self, step, path, scope)
            case "foreach" | "parallel":
                return fan.fanned(self, step, path, scope, place)
            case "dispatch":
                return dispatches.dispatched(self, step, path, scope)
            case "confirm":
                return self._confirmed(step, plain, scope)
            case "wait":
                return self._waited(step, plain, scope)
            case "constant":
                value = render(step.subject, scope)
                if isinstance(value, Failure):
                    return self.record(path, path, partial(_wrong, plain, str(value)))
                result = {**value, "value": value} if isinstance(value, dict) else {"value": value}
                return self.record(path, path, lambda: replace(plain, result=result))
            case _:
                return self.record(path, path, lambda: plain)

    def _stop(self, step: PlanStep, path: str, scope: Scope) -> End:
        shown = self._shown(step, scope)
        self.record(
            path,
            path,
            lambda: Entry(path=path, step=step.name, kind="stop", state="success", shown=shown),
        )
        is_failure = step.name.startswith(ESCALATE) or f"_{ESCALATE}" in step.name
        return End(state="stopped", step=path, message=shown, is_failure=is_failure)

    def _confirmed(self, step: PlanStep, plain: Entry, scope: Scope) -> Entry:
        """Asked once, answered once; between them no process waits."""
        path = plain.path
        wait = Wait(kind="confirm", path=path, shown=self._shown(step, scope))

        def ask() -> Entry:
            self.ring(wait)
            return replace(plain, state="asked", shown=wait.shown, at=clock.now())

        asked = self.record(path, f"{path} asked", ask)

        def answered() -> Entry:
            answer = self.durable.answer(wait)
            if answer is None:
                raise Waiting(wait)
            yes = answer.verdict == "approve"
            result = {"answer": "yes" if yes else "no", "by": answer.by, **answer.result}
            return replace(
                plain,
                state="success" if yes else "failure",
                reason="" if yes else "rejected",
                problem="" if yes else f"{answer.by} rejected it",
                shown=asked.shown,
                by=answer.by,
                at=answer.at,
                result=result,
            )

        return self.record(path, path, answered)

    def _waited(self, step: PlanStep, plain: Entry, scope: Scope) -> Entry:
        given = render(step.with_args, scope)
        if isinstance(given, Failure):
            return self.record(plain.path, plain.path, partial(_wrong, plain, f"with: {given}"))
        for name, moment in (("seconds", _seconds), ("until", _instant)):
            if name in given:
                until = moment(text_of(given[name]))
                if until is None:
                    problem = f"`{name}: {text_of(given[name])[:80]}` is not a time"
                    return self.record(plain.path, plain.path, partial(_wrong, plain, problem))
                return self.pause(plain, plain.path, until)
        return self.record(plain.path, plain.path, partial(_wrong, plain, "with: `seconds` or `until`"))

    def pause(self, plain: Entry, name: str, until: Callable[[], float]) -> Entry:
        """Until the moment that the first reading records. A long pause needs no process."""
        path = plain.path
        entry = self.record(path, name, lambda: replace(plain, state="waited", until=until()))
        left = entry.until - clock.now()
        if left > _AT_ONCE:
            raise Waiting(Wait(kind="timer", path=path, until=entry.until))
        if left > 0:
            self.cancel.wait(left)
        return replace(entry, state="success")

    def ring(self, wait: Wait) -> None:
        """Whatever keeps the bell from ringing, the question stands."""
        with contextlib.suppress(Exception):
            self.crew.bell.ring(self.run_id, wait)

    def _stand_still(self, path: str) -> None:
        why = self.durable.interruption()
        if why is not None:
            raise Waiting(Wait(kind=why, path=path))

    def _shown(self, step: PlanStep, scope: Scope) -> str:
        shown = render(step.message, scope)
        return step.message if isinstance(shown, Failure) else text_of(shown)


def body_at(plan: Plan, place: Place) -> PlanBody:
    body = plan.body
    for name, number in place:
        body = body.steps[name].bodies[number]
    return body


def _wrong(plain: Entry, problem: str) -> Entry:
    return replace(plain, state="failure", reason="expression", problem=problem)


def _seconds(text: str) -> Callable[[], float] | None:
    try:
        seconds = float(text)
    except ValueError:
        return None
    if not math.isfinite(seconds):
        return None
    return lambda: clock.now() + max(0.0, seconds)


def _instant(text: str) -> Callable[[], float] | None:
    from datetime import UTC, datetime

    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    moment = found if found.tzinfo else found.replace(tzinfo=UTC)
    return moment.timestamp

"""The seams of the interpreter in memory, for tests: a journal that survives a crash, steps by a script."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from checkrein.base.errors import NotFoundError
from checkrein.llm.cancel import Cancel
from checkrein.model.recipe_plan import Plan
from checkrein.recipes.interpreter import Crew, Interpreter
from checkrein.recipes.journal import Answer, End, Entry, Wait
from checkrein.recipes.outcome import Outcome, failed
from checkrein.recipes.port import Branch, Durable, StepRunner, Task

Scripted = Outcome | Callable[[Task], Outcome]


class Crash(BaseException):  # as a kill: nothing may catch it
    """The process dies here."""


class ScriptedSteps:
    """Gives the outcomes of its script, by path or by step name: one after another, the last one for ever.
    `tasks` are all that were asked for."""

    def __init__(self, script: Mapping[str, Sequence[Scripted]] | None = None) -> None:
        self._script = dict(script or {})
        self._given: dict[str, int] = {}
        self.tasks: list[Task] = []

    def do(self, task: Task, cancel: Cancel) -> Outcome:
        self.tasks.append(task)
        name = task.path if task.path in self._script else task.step
        outcomes = self._script.get(name)
        if not outcomes:
            return Outcome(state="success", result={"success": True})
        number = self._given.get(name, 0)
        self._given[name] = number + 1
        chosen = outcomes[min(number, len(outcomes) - 1)]
        return chosen if isinstance(chosen, Outcome) else chosen(task)


class Here:
    """A workplace without isolation: every step works in the same directory."""

    def __init__(self, cwd: str = "") -> None:
        self._cwd = cwd

    @contextlib.contextmanager
    def visit(self, task: Task) -> Iterator[str]:
        yield self._cwd

    def artifacts(self, task: Task, cwd: str) -> str | None:
        return None

    def merge(self, run: str, branch: str, paths: Sequence[str]) -> str | None:
        return None


class Quiet:
    """Hears everything and tells nobody. `rung` are the waits that it was rung for."""

    def __init__(self) -> None:
        self.rung: list[Wait] = []

    def ring(self, run: str, wait: Wait) -> None:
        self.rung.append(wait)

    def saw(self, path: str, entry: Entry | None) -> None:
        return


class Recipes:
    """A dispatcher with plans by name; each gets the inputs."""

    def __init__(self, plans: Mapping[str, Plan] | None = None) -> None:
        self._plans = dict(plans or {})

    def plan(self, recipe: str, inputs: dict[str, Any]) -> Plan:
        if recipe not in self._plans:
            raise NotFoundError(f"There is no recipe {recipe!r}.", kind="recipe_not_found")
        return replace(self._plans[recipe], inputs=inputs)


class MemoryRun:
    """A run whose journals are lists. `crash_at` is the number of the journal's operation before which the
    process dies; `go` again goes on from the journal, as an engine does after a restart."""

    def __init__(
        self, plan: Plan, runner: StepRunner, run: str = "run", recipes: Mapping[str, Plan] | None = None
    ) -> None:
        self.plan = plan
        self.id = run
        self.quiet = Quiet()
        self.crew = Crew(
            runner=runner,
            workplace=Here(),
            dispatcher=Recipes(recipes),
            bell=self.quiet,
            watcher=self.quiet,
        )
        self.journals: dict[str, list[tuple[str, Entry]]] = {}
        self.branches: dict[str, Branch] = {}
        self.answers: dict[tuple[str, int], Answer] = {}
        self.wanted: Literal["pause", "handover"] | None = None
        self.operations = 0
        self.crash_at: int | None = None

    def go(self) -> End:
        return self._body("", Branch(path="", place=(), context={}))

    def entries(self) -> list[Entry]:
        """All, in the order of their journals."""
        return [entry for path in sorted(self.journals) for _, entry in self.journals[path]]

    def tick(self) -> None:
        self.operations += 1
        if self.operations == self.crash_at:
            raise Crash

    def _body(self, path: str, branch: Branch) -> End:
        durable = _MemoryBody(self, self.journals.setdefault(path, []))
        plan = self.plan if branch.plan is None else msgspec.convert(branch.plan, Plan)
        at = Interpreter(
            self.id, plan, durable, self.crew, branch=path, place=branch.place, own_plan=branch.plan
        )
        return at.run(branch.context)

    def branch_end(self, path: str) -> End:
        return self._body(path, self.branches[path])


class _MemoryBody(Durable):
    def __init__(self, run: MemoryRun, journal: list[tuple[str, Entry]]) -> None:
        self._run = run
        self._journal = journal
        self._at = 0

    def step(self, name: str, work: Callable[[], Entry]) -> Entry:
        self._run.tick()
        if self._at < len(self._journal):
            recorded, entry = self._journal[self._at]
            if recorded != name:
                raise AssertionError(f"the journal has {recorded!r}, and the body asks for {name!r}")
        else:
            entry = work()
            self._run.tick()
            self._journal.append((name, entry))
        self._at += 1
        return entry

    def fork(self, branch: Branch) -> None:
        self._run.branches.setdefault(branch.path, branch)

    def join(self, paths: Sequence[str]) -> list[End]:
        return [self._run.branch_end(path) for path in paths]

    def answer(self, wait: Wait) -> Answer | None:
        return self._run.answers.get((wait.path, wait.round))

    def interruption(self) -> Literal["pause", "handover"] | None:
        return self._run.wanted


BROKEN = failed("broken", "it did not work")

"""`run_worker`: one skill, one session, one result. Recipes, the MCP server and the command line call it.

Everything that can be refused is refused before a backend starts: a nested worker, a skill that is unknown,
hidden, disabled or denied, a contract that nobody can read, a quota that is used up.
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import CheckreinError, NotFoundError, PolicyError, UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.llm.cancel import Cancel
from checkrein.model.items import Command as CommandItem
from checkrein.model.items import Skill
from checkrein.model.project import Project
from checkrein.model.skill_contract import Contract
from checkrein.model.view import View
from checkrein.passes.recipes.contracts import contract_of
from checkrein.policy.values import Call
from checkrein.runtime.worker.backend import NO_RIGHTS, Assignment, Backend, Rights
from checkrein.runtime.worker.quota_guard import Quota, refuse_spent
from checkrein.runtime.worker.session_report import KillReason, Report, Termination
from checkrein.runtime.worker.skill_result import Place, SkillResult, crashed, settled
from checkrein.runtime.worker.surroundings import refuse_nested, worker_env
from checkrein.runtime.worker.watchdog import Limits, Watchdog
from checkrein.runtime.worker.worker_log import record

if TYPE_CHECKING:
    from checkrein.runtime.worker.watchdog import Beat

_COMMAND = re.compile(r"/(?P<name>[A-Za-z0-9][\w:.-]*)(?:\s+(?P<args>.*))?", re.DOTALL)
_TICK = 0.05
_PATIENCE = 10.0
"""Seconds that a backend has to return after its cancel."""
_KILLS = ("stale", "idle_stall", "timed_out")


class Range(Struct, frozen=True):
    """What a worker may see, and why its skill may not run."""

    view: View
    refusal: str | None = None


Visible = Callable[[Project, str], Range]
"""From a project and the name of a skill to the range of its worker."""


def governed(project: Project, skill: str) -> Range:
    """By the project's rules of visibility: the skill, what it activates, and what every session sees."""
    from checkrein.passes.visibility.session_view import governed_view, refusal_of, rules_for

    view = governed_view(project, rules_for(project, "headless", target=skill))
    return Range(view, refusal_of(view, skill))


class WorkerTerms(Struct, frozen=True, kw_only=True):
    """How a worker runs. `failures` counts the retriable failures of the same step just before; whoever
    retries counts them. `env_names` are more variables that it gets. `consent` is asked last, with the name
    and the arguments of the skill, and raises what refuses it."""

    model: Any = None
    step: str = ""
    order_id: str | None = None
    limits: Limits = Limits()
    failures: int = 0
    resume: str | None = None
    rights: Rights = NO_RIGHTS
    env_names: tuple[str, ...] = ()
    visible: Visible = governed
    quota: Quota | None = None
    consent: Callable[[str, str], None] | None = None


NO_TERMS = WorkerTerms()


def run_worker(
    command: str,
    project: Project,
    *,
    backend: Backend,
    terms: WorkerTerms = NO_TERMS,
    env: Mapping[str, str] | None = None,
    cancel: Cancel | None = None,
) -> SkillResult:
    """Run `/skill arguments` in the project's directory. Refusals raise; whatever happens after the start is
    in the result."""
    given = os.environ if env is None else env
    refuse_nested(given)
    name, args = parsed(command)
    sight = terms.visible(project, name)
    skill = _permitted(name, project, sight)
    contract = contract_of(skill.origin.file)
    if terms.quota is not None:
        refuse_spent(terms.quota, given)
    if terms.consent is not None:
        terms.consent(skill.name, args)
    marker = f"%%DONE::{os.urandom(4).hex()}%%"
    cwd = project.place.cwd
    assignment = Assignment(
        skill=skill.name,
        args=args,
        cwd=cwd,
        view=sight.view,
        contract=contract,
        marker=marker,
        schema=contract.schema(),
        directives=directives(contract, marker, cwd),
        env=worker_env(given, terms.env_names),
        model=terms.model,
        resume=terms.resume,
        rights=terms.rights,
    )
    before = _tree(contract, cwd, given)
    began = time.monotonic()
    report, problem = _watched(backend, assignment, terms.limits, cancel or Cancel())
    if report is None:
        found = crashed(problem)
    else:
        changed = before is not None and _tree(contract, cwd, given) != before
        home = project.place.home
        place = Place(
            cwd=cwd,
            home=home,
            marker=marker,
            order_id=terms.order_id,
            failures=terms.failures,
            changed=changed,
        )
        found = settled(report, contract, place)
    found = replace(found, skill=skill.name, backend=backend.name, order_id=terms.order_id)
    with contextlib.suppress(OSError):
        record(found, cwd=cwd, step=terms.step, seconds=time.monotonic() - began, env=given)
    return found


def parsed(command: str) -> tuple[str, str]:
    """The name and the arguments of `/skill arguments`."""
    match = _COMMAND.fullmatch(command.strip())
    if match is None:
        raise UsageError(
            f"{command[:80]!r} is not a skill command.", hint="Write a slash and the name: /review src."
        )
    return match["name"], match["args"] or ""


def _permitted(name: str, project: Project, sight: Range) -> Skill | CommandItem:
    known: dict[str, Skill | CommandItem] = {**sight.view.commands, **sight.view.skills}
    if sight.refusal is not None:
        raise PolicyError(f"/{name} does not run: {sight.refusal}.", kind="skill_disabled")
    if name not in known:
        raise NotFoundError(
            f"There is no skill /{name} here.{did_you_mean(name, known)}",
            kind="skill_not_found",
            hint="`checkrein show skills` lists them.",
        )
    from checkrein.runtime.session.prospect import situation_of

    met = situation_of(project)
    decision = met.decide(Call("Skill", {"skill": name}), met.context())
    if decision.verdict == "deny":
        by = f" by {decision.rule} ({decision.origin.beside(met.root)})" if decision.origin else ""
        raise PolicyError(f"/{name} does not run: it is denied{by}.", kind="skill_disabled")
    return known[name]


def directives(contract: Contract, marker: str, cwd: str) -> str:
    """How the model must end, and where it works."""
    lines = [
        f"You work alone on one skill in {cwd}; nobody answers questions. Stay in this directory.",
        "When the work is done, submit the result with the tool for it (submit_result or StructuredOutput),"
        " once, as your last call.",
        f"Only if there is no such tool, end your last message with this line alone: {marker}",
    ]
    if contract.outputs:
        names = ", ".join(one.name for one in contract.outputs)
        lines.append(f"Then write a plain line `name = value` before it for each of: {names}.")
    return "\n".join(lines)


def _watched(
    backend: Backend, assignment: Assignment, limits: Limits, cancel: Cancel
) -> tuple[Report | None, str]:
    """Run the backend beside a watchdog. None with a reason when it crashed or did not return."""
    dog = Watchdog(limits, time.monotonic())
    reports: list[Report] = []
    problems: list[str] = []
    done = threading.Event()

    def beat(kind: Beat) -> None:
        dog.beat(kind, time.monotonic())

    def work() -> None:
        try:
            reports.append(backend.work(assignment, cancel, beat))
        except CheckreinError as error:
            problems.append(error.message)
        except Exception as error:
            problems.append(f"{type(error).__name__}: {error}")
        finally:
            done.set()

    threading.Thread(target=work, name="checkrein-worker", daemon=True).start()
    try:
        fired = _awaited(done, dog, cancel)
    except BaseException:
        cancel.force()
        done.wait(_PATIENCE)
        raise
    if not done.is_set():
        return None, f"the backend {backend.name} did not end ({fired})"
    if not reports:
        return None, problems[0] if problems else "the backend ended without a report"
    (report,) = reports
    if fired is None:
        return report, ""
    reason: KillReason = "infra_kill" if fired in _KILLS else "kill_after_completion"
    return replace(report, termination=fired, kill_reason=reason), ""


def _awaited(done: threading.Event, dog: Watchdog, cancel: Cancel) -> Termination | None:
    """Until the backend is done, or does not end. Returns why it had to end."""
    fired: Termination | None = None
    late = 0.0
    while not done.wait(_TICK):
        if fired is None and (fired := dog.due(time.monotonic())) is not None:
            cancel.cancel()
            late = time.monotonic() + _PATIENCE
        elif fired is not None and time.monotonic() > late:
            cancel.force()
            done.wait(_PATIENCE / 2)
            break
    return fired


def _tree(contract: Contract, cwd: str, env: Mapping[str, str]) -> bytes | None:
    """The state of the directory, for a skill whose work belongs in a worktree; None for others."""
    if not any(one.name == "worktree_path" for one in contract.outputs):
        return None
    from checkrein.runtime.process.git import run_git
    from checkrein.runtime.process.spawner import Spawner

    with Spawner(lambda origin: True) as spawner:
        listed = ("status", "--porcelain", "-z", "--untracked-files=all")
        done = run_git(listed, cwd=cwd, env=env, spawner=spawner, cancel=Cancel())
        head = run_git(("rev-parse", "HEAD"), cwd=cwd, env=env, spawner=spawner, cancel=Cancel())
    return None if done.exit_code else head.stdout + done.stdout

"""Skills in headless workers, and the guard of what they spend."""

from __future__ import annotations

import os
from typing import Any

import msgspec

from checkrein.base import clock
from checkrein.base.errors import CheckreinError
from checkrein.base.files import beneath
from checkrein.runtime.tools.port import ToolFailure
from checkrein.runtime.worker.configured_terms import backend_named, configured_limits, configured_quota
from checkrein.runtime.worker.quota_guard import REACHED
from checkrein.runtime.worker.worker import WorkerTerms, run_worker
from checkrein.serve.mcp.hands import Hands


def run_skill(
    hands: Hands,
    skill_command: str,
    cwd: str,
    model: str = "",
    step_name: str = "",
    order_id: str = "",
    stale_threshold: float | None = None,
    idle_output_timeout: float | None = None,
) -> dict[str, Any]:
    """The typed result. What can be refused is refused before a process starts; then the gate judges the
    start as a call of Skill."""
    if min(stale_threshold or 0, idle_output_timeout or 0) < 0:
        raise ToolFailure("stale_threshold and idle_output_timeout are seconds; 0 switches a watch off.")
    where = _workplace(hands, cwd)
    attempt, counted = (order_id, step_name, skill_command, where), hands.terms.failures
    try:
        terms = WorkerTerms(
            model=model or None,
            step=step_name,
            order_id=order_id or None,
            limits=configured_limits(hands.setting, stale=stale_threshold, idle=idle_output_timeout),
            failures=hands.shift.failures(attempt) if counted is None else counted,
            quota=None if hands.shift.guard_waived else configured_quota(hands.setting),
            rights=hands.lent,
            consent=hands.may_start,
        )
        with hands.context.cancel.branch() as cancel:
            found = run_worker(
                skill_command,
                hands.project_at(where),
                backend=backend_named(hands.setting("run_skill.backend")),
                terms=terms,
                env=hands.whole_env,
                cancel=cancel,
            )
    except CheckreinError as error:
        if error.kind == REACHED:
            hands.shift.note_quota({"at": clock.timestamp(), "step": step_name, **error.details})
        raise ToolFailure(
            " ".join(filter(None, (error.message, error.hint))),
            {"subtype": error.kind, "needs_retry": error.kind == REACHED, **error.details},
        ) from None
    hands.shift.attempted(attempt, again=found.needs_retry)
    answer: dict[str, Any] = msgspec.to_builtins(found)
    return answer


def get_quota_events(hands: Hands, n: int = 50) -> dict[str, Any]:
    events = hands.shift.quota_events
    return {"success": True, "events": events[-n:] if n > 0 else [], "total_count": len(events)}


def disable_quota_guard(hands: Hands) -> dict[str, Any]:
    """Until the kitchen closes. The gate asks a person about this call unless a rule allows it."""
    hands.shift.guard_waived = True
    hands.shift.note_quota({"at": clock.timestamp(), "disabled": True})
    return {"success": True, "content": "Workers start without the quota guard until the kitchen closes."}


def _workplace(hands: Hands, cwd: str) -> str:
    """A directory where the project's rules hold, or rules of its own copy: the project, its clones and its
    worktrees."""
    where = hands.directory(cwd)
    runs = os.path.realpath(os.path.join(hands.root, str(hands.setting("workspace.runs_root"))))
    if any(beneath(where, place) for place in (os.path.realpath(hands.root), runs)):
        return where
    listed = hands.git("worktree", "list", "--porcelain", cwd=hands.root)
    trees = [
        line.removeprefix("worktree ") for line in listed.stdout.splitlines() if line.startswith("worktree ")
    ]
    if not any(beneath(where, os.path.realpath(tree)) for tree in trees):
        raise ToolFailure(
            f"{cwd} belongs to another project. A skill runs in this one, in its worktrees, or in a clone"
            " under workspace.runs_root."
        )
    return where

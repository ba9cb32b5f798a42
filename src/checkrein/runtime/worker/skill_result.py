"""How a worker ended, for whoever started it; and the way from a report to it. Pure, apart from a look at
the files that it declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.secrets import redact, redact_text
from checkrein.model.skill_contract import Contract
from checkrein.runtime.worker.adjudication import (
    Adjudication,
    ContentState,
    Outcome,
    RetryReason,
    adjudicated,
)
from checkrein.runtime.worker.containment import outputs_missing, outputs_outside, writes_outside
from checkrein.runtime.worker.recovery import recovered
from checkrein.runtime.worker.session_report import KillReason, Report, Tokens, without_marker

BUDGET = 3
"""Consecutive retriable failures of one command, after which a retry is not offered any more."""
_TAIL = 5000
_STDERR = 2000
_WRITERS = ("Write", "Edit", "MultiEdit", "NotebookEdit")

Subtype = Literal[
    "success",
    "recovered_from_stale",
    "empty_result",
    "context_exhausted",
    "missing_completion_marker",
    "adjudicated_failure",
    "contract_violation",
    "path_contamination",
    "zero_writes",
    "timeout",
    "stale",
    "idle_stall",
    "crashed",
]


class SkillResult(Struct, frozen=True, kw_only=True):
    """`outputs` are the values of the contract. `cli_subtype` is how the backend itself called the end;
    `subtype` is success only when the outcome is. `needs_retry`: the same command may well succeed now."""

    success: bool
    outcome: Outcome
    state: ContentState
    result: str = ""
    outputs: dict[str, Any] = {}
    session_id: str = ""
    subtype: Subtype = "success"
    cli_subtype: str = "success"
    is_error: bool = False
    exit_code: int = 0
    kill_reason: KillReason = "natural_exit"
    needs_retry: bool = False
    retry_reason: RetryReason = "none"
    stderr: str = ""
    token_usage: Tokens = Tokens()
    write_path_warnings: tuple[str, ...] = ()
    write_call_count: int = 0
    worktree_path: str | None = None
    order_id: str | None = None
    skill: str = ""
    backend: str = ""
    problem: str = ""


class Place(Struct, frozen=True, kw_only=True):
    """Where the worker worked, and what it was asked."""

    cwd: str
    home: str
    marker: str
    order_id: str | None = None
    failures: int = 0
    """Retriable failures of the same command just before this one."""
    changed: bool = False
    """Whether the directory itself changed, though the work belongs in a worktree."""


def crashed(problem: str) -> SkillResult:
    return SkillResult(
        success=False,
        outcome="failed",
        state="session_error",
        subtype="crashed",
        cli_subtype="unknown",
        is_error=True,
        exit_code=-1,
        kill_reason="exception",
        problem=redact_text(problem),
    )


def settled(said: Report, contract: Contract, place: Place) -> SkillResult:
    """The result of a session: recovery, outcome, containment, writes, budget, in this order."""
    report = recovered(said, contract, place.marker)
    judged = adjudicated(report, contract, place.marker)
    values = report.submission or contract.values(report.text)
    writes = sum(one.tool in _WRITERS for one in report.writes)
    worktree = values.get("worktree_path")
    plain = SkillResult(
        success=judged.outcome == "succeeded",
        outcome=judged.outcome,
        state=judged.state,
        result=redact_text(_text(report, place.marker))[-_TAIL:],
        outputs=redact({one.name: values[one.name] for one in contract.outputs if one.name in values}),
        session_id=report.session_id,
        subtype=_subtype(report, judged),
        cli_subtype=report.subtype,
        is_error=report.is_error,
        exit_code=report.exit_code,
        kill_reason=report.kill_reason,
        needs_retry=judged.outcome == "retriable",
        retry_reason=judged.reason,
        stderr=redact_text(report.stderr)[-_STDERR:],
        token_usage=report.tokens,
        write_path_warnings=writes_outside(report.writes, place.cwd, place.home),
        write_call_count=writes,
        worktree_path=worktree if isinstance(worktree, str) else None,
        order_id=place.order_id,
        problem=redact_text(report.problem),
    )
    return _budgeted(_checked(plain, report, contract, values, place), place.failures)


def _checked(
    found: SkillResult, report: Report, contract: Contract, values: Mapping[str, Any], place: Place
) -> SkillResult:
    """What a session that looks done may still have done wrong."""
    if found.success:
        if outside := outputs_outside(contract, values, place.cwd):
            why = f"declared outputs are outside {place.cwd}: {', '.join(outside)}"
            return _unsuccessful(found, "path_contamination", "path_contamination", why)
        if missing := outputs_missing(contract, values, place.cwd):
            why = f"declared outputs do not exist: {', '.join(missing)}"
            broken = replace(found, state="contract_violation")
            return _terminal(broken, found.write_call_count, why)
        if contract.expects_writes(report.text) and not found.write_call_count:
            return _unsuccessful(
                found, "zero_writes", "zero_writes", "the skill writes files, and wrote none"
            )
        return found
    if found.state == "contract_violation" and found.outcome == "failed":
        return _terminal(found, found.write_call_count, "the result lacks what the contract promises")
    if place.changed and found.worktree_path is None:
        problem = "the work belongs in a worktree, but the directory itself was changed"
        return replace(found, retry_reason="clone_contamination", needs_retry=False, problem=problem)
    return found


def _terminal(found: SkillResult, writes: int, why: str) -> SkillResult:
    """A contract violation: no retry by itself. If the skill wrote something, the reason says so: the work
    may be done, and only the report be missing."""
    return replace(
        found,
        success=False,
        outcome="failed",
        subtype="contract_violation",
        needs_retry=False,
        retry_reason="contract_recovery" if writes else "none",
        problem=why,
    )


def _unsuccessful(found: SkillResult, subtype: Subtype, reason: RetryReason, why: str) -> SkillResult:
    return replace(
        found,
        success=False,
        outcome="retriable",
        subtype=subtype,
        needs_retry=True,
        retry_reason=reason,
        problem=why,
    )


def _budgeted(found: SkillResult, failures: int) -> SkillResult:
    if found.needs_retry and failures >= BUDGET:
        return replace(found, outcome="failed", needs_retry=False, retry_reason="budget_exhausted")
    return found


def _text(report: Report, marker: str) -> str:
    said = without_marker(report.text, marker)
    if said or report.submission is None:
        return said
    summary = report.submission.get("summary")
    return summary if isinstance(summary, str) else ""


def _subtype(report: Report, judged: Adjudication) -> Subtype:
    if judged.outcome == "succeeded":
        return "recovered_from_stale" if report.termination in ("stale", "idle_stall") else "success"
    if report.subtype == "context_exhaustion":
        return "context_exhausted"
    match report.termination:
        case "timed_out":
            return "timeout"
        case "stale":
            return "stale"
        case "idle_stall":
            return "idle_stall"
        case "natural_exit" | "completed":
            pass
    if judged.state == "absent":
        return "missing_completion_marker" if report.text.strip() else "empty_result"
    return "adjudicated_failure"

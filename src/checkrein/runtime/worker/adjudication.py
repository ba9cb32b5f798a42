"""From what a session left behind to one outcome. Pure: the whole table is here.

A contract violation is terminal. A retry that the session itself calls for beats success. Nothing is both.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.model.skill_contract import Contract
from checkrein.runtime.worker.session_report import LIMITS, Report, has_marker

ContentState = Literal["absent", "contract_violation", "complete", "session_error"]
Outcome = Literal["succeeded", "retriable", "failed"]
RetryReason = Literal[
    "none",
    "resume",
    "drain_race",
    "stale",
    "early_stop",
    "zero_writes",
    "empty_output",
    "path_contamination",
    "contract_recovery",
    "budget_exhausted",
    "clone_contamination",
]


class Adjudication(Struct, frozen=True):
    outcome: Outcome
    state: ContentState
    reason: RetryReason = "none"


def content_state(report: Report, contract: Contract, marker: str) -> ContentState:
    if report.is_error:
        return "session_error"
    if report.submission is not None:
        return "complete"
    if not report.text.strip() or (marker and not has_marker(report.text, marker)):
        return "absent"
    return "complete" if contract.is_met(report.text) else "contract_violation"


def adjudicated(report: Report, contract: Contract, marker: str) -> Adjudication:
    state = content_state(report, contract, marker)
    reason = _retry(report, state, marker)
    if reason != "none":
        return Adjudication("retriable", state, reason)
    if _succeeded(report, state, contract, marker):
        return Adjudication("succeeded", state)
    if state == "absent" and report.channel in ("channel_a", "channel_b"):
        return Adjudication("retriable", state, "drain_race")
    return Adjudication("failed", state)


def _succeeded(report: Report, state: ContentState, contract: Contract, marker: str) -> bool:
    complete = state == "complete"
    if report.channel == "channel_b" and (complete if contract.patterns else state != "session_error"):
        return True
    match report.termination:
        case "timed_out":
            return False
        case "stale" | "idle_stall":
            return complete
        case "completed":
            said = report.subtype == "success" and bool(report.text.strip() or report.submission)
            return complete and (report.exit_code == 0 or said)
        case "natural_exit":
            done = report.submission is not None or has_marker(report.text, marker)
            return complete and (report.exit_code == 0 or done)


def _retry(report: Report, state: ContentState, marker: str) -> RetryReason:
    if report.subtype in LIMITS:
        return "resume"
    if report.termination in ("stale", "idle_stall"):
        return "none" if state in ("complete", "contract_violation") else "stale"
    if report.termination == "natural_exit" and report.channel in ("unmonitored", "dir_missing"):
        if report.is_anomaly:
            return "empty_output" if report.exit_code == 0 else "none"
        if state == "absent" and report.text.strip() and not has_marker(report.text, marker):
            return "early_stop"
    if report.termination == "completed" and report.channel != "channel_b" and report.is_anomaly:
        return "resume"
    return "none"

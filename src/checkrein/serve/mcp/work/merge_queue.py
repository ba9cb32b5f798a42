"""What a look at a pull request in the merge queue says: positive signs only."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.facts.kitchen import PullState

QUERY = (
    "query($owner:String!,$name:String!,$number:Int!){repository(owner:$owner,name:$name){"
    "pullRequest(number:$number){merged state mergeStateStatus autoMergeRequest{enabledAt} "
    "mergeQueueEntry{state} commits(last:1){nodes{commit{statusCheckRollup{state}}}}}}}"
)


class Pull(Struct, frozen=True, kw_only=True):
    """`queue` is the state of its entry in the queue, None without one; `checks` that of its last commit."""

    merged: bool
    closed: bool
    queue: str | None
    auto: bool
    checks: str | None
    merge_state: str | None


class Queue:
    """What was seen so far."""

    def __init__(self, *, stall_grace: float, confirm: int, inconclusive: int) -> None:
        self.stall_grace = stall_grace
        self.confirm = confirm
        self.inconclusive = inconclusive
        self.was_queued = False
        self.outside = 0
        self.unclear = 0
        self.stalled_since: float | None = None

    def restart(self, now: float) -> None:
        self.stalled_since, self.outside, self.unclear = now, 0, 0


def read_pull(answer: dict[str, Any]) -> Pull | None:
    """None when the answer does not show the pull request."""
    found = ((answer.get("data") or {}).get("repository") or {}).get("pullRequest")
    if not isinstance(found, dict):
        return None
    nodes = (found.get("commits") or {}).get("nodes") or ()
    commit = (nodes[-1].get("commit") or {}) if nodes else {}
    return Pull(
        merged=found.get("merged") is True,
        closed=found.get("state") == "CLOSED",
        queue=(found.get("mergeQueueEntry") or {}).get("state"),
        auto=found.get("autoMergeRequest") is not None,
        checks=(commit.get("statusCheckRollup") or {}).get("state"),
        merge_state=found.get("mergeStateStatus"),
    )


def verdict(queue: Queue, pull: Pull | None, now: float) -> tuple[PullState | None, str]:
    """The final state and its reason; None: look again."""
    if pull is None:
        return _unclear(queue, "the answer does not show the pull request")
    if pull.merged:
        return "merged", "merged"
    if pull.closed:
        return "ejected", "closed without a merge"
    if pull.queue is not None:
        queue.was_queued, queue.outside, queue.unclear, queue.stalled_since = True, 0, 0, None
        return ("ejected", "the queue can't merge it") if pull.queue == "UNMERGEABLE" else (None, "queued")
    if pull.checks in ("FAILURE", "ERROR"):
        return _confirmed(queue, "ejected_ci_failure", "its checks failed")
    if pull.auto:
        if pull.checks == "SUCCESS" and pull.merge_state == "CLEAN":
            queue.stalled_since = now if queue.stalled_since is None else queue.stalled_since
            if now - queue.stalled_since >= queue.stall_grace:
                return "stalled", f"ready for {now - queue.stalled_since:.0f} s, and not queued"
        return None, "it waits for its checks"
    if queue.was_queued:
        healthy = pull.checks == "SUCCESS"
        state: PullState = "dropped_healthy" if healthy else "ejected"
        return _confirmed(queue, state, "it left the queue without a merge")
    return _unclear(queue, "neither queued nor set to merge")


def _confirmed(queue: Queue, state: PullState, reason: str) -> tuple[PullState | None, str]:
    queue.outside += 1
    return (state, reason) if queue.outside >= queue.confirm else (None, reason)


def _unclear(queue: Queue, reason: str) -> tuple[PullState | None, str]:
    queue.unclear += 1
    return ("error", reason) if queue.unclear > queue.inconclusive else (None, reason)

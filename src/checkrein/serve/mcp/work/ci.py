"""Runs of continuous integration, and the merge queue."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime
from typing import Any, TypedDict, Unpack

from checkrein.facts.kitchen import PullState
from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.hands import Hands
from checkrein.serve.mcp.work.merge_queue import QUERY, Queue, read_pull, verdict
from checkrein.serve.mcp.work.pulls import place, repo_words

_LOOK_BACK = 120.0
_LONGEST_TIMES = 6
_FIELDS = "databaseId,status,conclusion,headSha,event,workflowName,updatedAt,url"
_CONCLUSIONS = frozenset({"success", "failure", "cancelled", "action_required", "timed_out"})


class Patience(TypedDict, total=False):
    """How long to look at a merge queue, and how often the same sight counts."""

    timeout_seconds: float
    poll_interval: float
    stall_grace: float
    max_stall_retries: int
    confirm_cycles: int
    max_inconclusive: int


def get_ci_status(
    hands: Hands,
    branch: str = "",
    run_id: int = 0,
    repo: str = "",
    workflow: str = "",
    event: str = "",
    cwd: str = "",
) -> dict[str, Any]:
    if run_id:
        words = ("run", "view", str(run_id), "--json", _FIELDS, *repo_words(hands, repo))
        return {"success": True, "runs": [hands.gh_json(*words, cwd=cwd)]}
    return {"success": True, "runs": _runs(hands, branch, "", repo, workflow, event, cwd)}


def wait_for_ci(
    hands: Hands,
    branch: str,
    repo: str = "",
    head_sha: str = "",
    workflow: str = "",
    event: str = "",
    timeout_seconds: float = 300.0,
    cwd: str = "",
) -> dict[str, Any]:
    """A run that has just ended counts; else one that is active is awaited. It never raises: an error is a
    conclusion too."""
    until, pause, seen = time.monotonic() + timeout_seconds, float(hands.setting("ci.poll_seconds")), None
    longest = pause * _LONGEST_TIMES
    while True:
        try:
            runs = _runs(hands, branch, head_sha, repo, workflow, event, cwd)
        except ToolFailure as error:
            return _concluded(None, "error", error=error.message)
        seen = _chosen(runs, seen)
        if seen is not None and seen.get("status") == "completed":
            said = str(seen.get("conclusion") or "unknown")
            conclusion = said if said in _CONCLUSIONS else "unknown"
            failed = _failed_jobs(hands, seen, repo, cwd) if conclusion != "success" else []
            return _concluded(seen, conclusion, failed)
        left = until - time.monotonic()
        if left <= 0:
            return _concluded(seen, "timed_out" if seen is not None else "no_runs")
        if hands.pause(min(left, random.uniform(pause / 5, pause))):  # noqa: S311  not a secret
            return _concluded(seen, "cancelled")
        pause = min(pause * 2, longest)


def wait_for_merge_queue(
    hands: Hands,
    pr_number: int,
    target_branch: str,
    cwd: str = "",
    repo: str = "",
    **patience: Unpack[Patience],
) -> dict[str, Any]:
    """Only positive signs count: the queue's own words, or the same sight so many times."""
    timeout = patience.get("timeout_seconds", 600.0)
    until = time.monotonic() + timeout
    queue = Queue(
        stall_grace=patience.get("stall_grace", 60.0),
        confirm=patience.get("confirm_cycles", 2),
        inconclusive=patience.get("max_inconclusive", 5),
    )
    retries = 0
    while True:
        try:
            pull = read_pull(_graphql(hands, repo, cwd, QUERY, number=pr_number))
        except ToolFailure as error:
            return _left("error", error.message, retries)
        state, reason = verdict(queue, pull, time.monotonic())
        if state == "stalled" and retries < patience.get("max_stall_retries", 3):
            retries += 1
            queue.restart(time.monotonic())
            toggle_auto_merge(hands, pr_number, target_branch, cwd, repo)
        elif state is not None:
            return _left(state, reason, retries)
        if time.monotonic() >= until:
            return _left("timeout", f"not merged within {timeout:g} s", retries)
        if hands.pause(min(patience.get("poll_interval", 15.0), max(0.0, until - time.monotonic()))):
            return _left("error", "cancelled", retries)


def toggle_auto_merge(
    hands: Hands, pr_number: int, target_branch: str = "", cwd: str = "", repo: str = ""
) -> dict[str, Any]:
    where = repo_words(hands, repo)
    hands.gh("pr", "merge", str(pr_number), "--disable-auto", *where, cwd=cwd)
    ran = hands.gh("pr", "merge", str(pr_number), "--auto", "--squash", *where, cwd=cwd)
    if not ran.ok:
        raise ToolFailure(f"gh: {ran.last_words}", {"pr_number": pr_number})
    return {"success": True, "pr_number": pr_number}


def check_repo_merge_state(hands: Hands, branch: str, cwd: str = "", repo: str = "") -> dict[str, Any]:
    """In one request: whether there is a queue for the branch, and whether pull requests may merge by
    themselves."""
    query = (
        "query($owner:String!,$name:String!,$branch:String!,$file:String!){repository(owner:$owner,name:$name){"
        "autoMergeAllowed mergeQueue(branch:$branch){id} object(expression:$file){... on Tree{entries{object{"
        "... on Blob{text}}}}}}}"
    )
    seen = _graphql(hands, repo, cwd, query, branch=branch, file=f"{branch}:.github/workflows")
    found = (seen.get("data") or {}).get("repository") or {}
    files = ((found.get("object") or {}).get("entries")) or ()
    grouped = any("merge_group" in str((one.get("object") or {}).get("text")) for one in files)
    queued = found.get("mergeQueue") is not None
    return {
        "success": True,
        "queue_available": queued,
        "merge_group_trigger": grouped,
        "auto_merge_available": found.get("autoMergeAllowed") is True,
        "ci_event": "merge_group" if queued and grouped else "pull_request",
    }


def _graphql(hands: Hands, repo: str, cwd: str, query: str, **variables: Any) -> dict[str, Any]:
    owner, _, name = place(hands, repo).partition("/")
    words = [
        word
        for key, value in variables.items()  # gh reads a file for `-F key=@name`
        for word in ("-F" if isinstance(value, int) else "-f", f"{key}={value}")
    ]
    seen = hands.gh_json(
        *("api", "graphql", "-f", f"query={query}", "-F", f"owner={owner}", "-F", f"name={name}"),
        *words,
        cwd=cwd,
    )
    return seen if isinstance(seen, dict) else {}


def _runs(
    hands: Hands, branch: str, sha: str, repo: str, workflow: str, event: str, cwd: str
) -> list[dict[str, Any]]:
    scope = {
        "--branch": branch,
        "--commit": sha,
        "--workflow": workflow or str(hands.setting("ci.workflow") or ""),
        "--event": event or str(hands.setting("ci.event") or ""),
    }
    words = [word for key, value in scope.items() if value for word in (key, value)]
    found = hands.gh_json(
        *("run", "list", "--limit", "20", "--json", _FIELDS), *words, *repo_words(hands, repo), cwd=cwd
    )
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def _chosen(runs: list[dict[str, Any]], before: dict[str, Any] | None) -> dict[str, Any] | None:
    """The run that is awaited already, else one that is active, else one that has just ended."""
    if before is not None:
        same = next((one for one in runs if one.get("databaseId") == before.get("databaseId")), None)
        return same or before
    active = next((one for one in runs if one.get("status") != "completed"), None)
    return active or next((one for one in runs if _age(one) <= _LOOK_BACK), None)


def _age(run: dict[str, Any]) -> float:
    try:
        then = datetime.fromisoformat(str(run.get("updatedAt")).replace("Z", "+00:00"))
    except ValueError:
        return float("inf")
    return (datetime.now(UTC) - then).total_seconds()


def _failed_jobs(hands: Hands, run: dict[str, Any], repo: str, cwd: str) -> list[str]:
    words = ("run", "view", str(run.get("databaseId")), "--json", "jobs", *repo_words(hands, repo))
    try:
        jobs = hands.gh_json(*words, cwd=cwd).get("jobs") or ()
    except ToolFailure:
        return []
    return [str(one.get("name")) for one in jobs if one.get("conclusion") not in ("success", "skipped", None)]


def _concluded(
    run: dict[str, Any] | None, conclusion: str, failed: list[str] | None = None, **more: Any
) -> dict[str, Any]:
    return {
        "success": conclusion == "success",
        "run_id": run.get("databaseId") if run else None,
        "conclusion": conclusion,
        "failed_jobs": failed or [],
        **more,
    }


def _left(state: PullState, reason: str, retries: int) -> dict[str, Any]:
    return {
        "success": state == "merged",
        "pr_state": state,
        "reason": reason,
        "stall_retries_attempted": retries,
    }

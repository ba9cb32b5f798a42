"""Issues, pull requests, continuous integration and the merge queue; a `gh` answers from a table."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.tools.port import ToolFailure
from checkrein.serve.mcp.kitchen import OPEN
from checkrein.serve.mcp.shift import Shift
from checkrein.serve.mcp.work import ci, enrichment, issues, pulls
from checkrein.serve.mcp.work.merge_queue import Pull, Queue, verdict
from support.mcp_guests import Guest
from support.plain_hands import PlainHands, with_gh


def hands_with(
    project: Path, answers: dict[str, Any], shift: Shift | None = None, **settings: Any
) -> PlainHands:
    hands = PlainHands(project, shift, **settings)
    with_gh(hands, project.parent / "bin", answers)
    return hands


def calls(project: Path) -> list[list[str]]:
    return [json.loads(line)[0] for line in (project.parent / "bin" / "log").read_text().splitlines()]


ISSUE = {
    "number": 7,
    "title": "A Bug: it fails!",
    "url": "https://example.test/o/r/issues/7",
    "state": "OPEN",
    "labels": [{"name": "bug"}],
    "body": "Text",
    "comments": [{"author": {"login": "ann"}, "body": "Yes"}],
}


@pytest.mark.parametrize("name", ["https://example.test/o/r/issues/7", "o/r#7"])
def test_an_issue_is_read(project: Path, name: str) -> None:
    found = issues.fetch_github_issue(hands_with(project, {"issue view": ISSUE}), name)
    assert found["content"] == "Text\n\nann: Yes"
    assert found["labels"] == ["bug"]
    assert calls(project)[0][-2:] == ["--repo", "o/r"]
    assert (
        issues.get_issue_title(hands_with(project, {"issue view": ISSUE}), name)["slug"] == "a-bug-it-fails"
    )


def test_a_number_needs_no_repository_or_the_configured_one(project: Path) -> None:
    issues.get_issue_title(hands_with(project, {"issue view": ISSUE}), "#7")
    issues.get_issue_title(hands_with(project, {"issue view": ISSUE}, github__default_repo="a/b"), "7")
    assert [one[3:] for one in calls(project)] == [
        ["--json", "number,title"],
        ["--json", "number,title", "--repo", "a/b"],
    ]
    with pytest.raises(ToolFailure, match="not an issue"):
        issues.get_issue_title(hands_with(project, {}), "7; rm -rf /")


def test_the_token_goes_to_gh_alone(project: Path) -> None:
    hands = hands_with(project, {"issue view": ISSUE}, github__token="t0ken")
    issues.get_issue_title(hands, "7")
    assert json.loads((project.parent / "bin" / "log").read_text())[1] == "t0ken"
    assert "t0ken" not in " ".join(hands.ran)


def test_a_claim_is_a_lease(project: Path) -> None:
    answers = {"issue edit": ""}
    first, second = hands_with(project, answers), hands_with(project, answers)
    assert issues.claim_issue(first, "o/r#7")["claimed"]
    assert issues.claim_issue(second, "o/r#7")["claimed"] is False
    assert issues.claim_issue(first, "o/r#7")["claimed"] is False
    again = issues.claim_issue(first, "o/r#7", allow_reentry=True)
    assert (again["claimed"], again["reentry"]) == (True, True)
    assert issues.release_issue(second, "o/r#7")["success"] is False
    assert issues.release_issue(first, "o/r#7", target_branch="main")["staged"] is False
    assert issues.claim_issue(second, "o/r#7")["claimed"]
    assert issues.release_issue(second, "o/r#7", target_branch="dev")["staged"] is True
    assert calls(project)[-1][3:7] == ["--remove-label", "in-progress", "--add-label", "staged"]


def test_an_old_claim_ends_and_a_failed_one_never_began(project: Path) -> None:
    short = hands_with(project, {"issue edit": ""}, github__claim_seconds=0.05)
    assert issues.claim_issue(short, "o/r#7")["claimed"]
    time.sleep(0.06)
    assert issues.claim_issue(hands_with(project, {"issue edit": ""}), "o/r#7")["claimed"]
    with pytest.raises(ToolFailure, match="no label"):
        issues.claim_issue(hands_with(project, {"issue edit": "!no label"}), "o/r#8")
    assert issues.claim_issue(hands_with(project, {"issue edit": ""}), "o/r#8")["claimed"]


@pytest.mark.parametrize("again", ["7", "#7", "o/r#007", "O/R#7", "https://example.test/o/r/issues/07"])
def test_an_issue_has_one_lease_whatever_it_is_called(project: Path, again: str) -> None:
    answers = {"issue edit": "", "repo view": {"nameWithOwner": "o/r"}}
    assert issues.claim_issue(hands_with(project, answers), "o/r#7")["claimed"]
    assert issues.claim_issue(hands_with(project, answers), again)["claimed"] is False


def test_without_gh_a_tool_says_what_is_missing(project: Path) -> None:
    hands = PlainHands(project)
    hands.env["PATH"] = "/usr/bin:/bin"
    with pytest.raises(ToolFailure, match=r"needs the program gh.*gh auth login"):
        issues.get_issue_title(hands, "7")


def test_of_many_claims_at_once_one_wins(project: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    many = [hands_with(project, {"issue edit": ""}) for _ in range(6)]
    with ThreadPoolExecutor(6) as pool:
        won = list(pool.map(lambda one: issues.claim_issue(one, "o/r#9")["claimed"], many))
    assert sum(won) == 1


def test_labels_are_checked(project: Path) -> None:
    hands = hands_with(
        project, {"issue create": "https://example.test/o/r/issues/9"}, github__allowed_labels=["bug"]
    )
    filed = issues.prepare_issue(hands, "T", "B", labels=["bug"])
    assert (filed["issue_number"], filed["success"]) == (9, True)
    with pytest.raises(ToolFailure, match="allowed_labels"):
        issues.prepare_issue(hands, "T", "B", labels=["bug", "other"])
    assert issues.prepare_issue(hands, "T", "B", dry_run=True)["dry_run"]
    assert len(calls(project)) == 1


def test_a_bug_is_reported_once(project: Path) -> None:
    known = {"issue list": [{"number": 3, "url": "u3"}]}
    assert issues.report_bug(hands_with(project, known), "it broke")["status"] == "duplicate"
    new = {"issue list": [], "issue create": "https://example.test/o/r/issues/4"}
    assert issues.report_bug(hands_with(project, new), "it broke", severity="blocking")["status"] == "filed"
    assert calls(project)[-1][3] == "[blocking] it broke"


def test_several_issues_are_closed(project: Path) -> None:
    hands = hands_with(project, {"issue close 1": "", "issue close 2": "!locked"})
    done = issues.bulk_close_issues(hands, [1, 2], comment="done")
    assert (done["closed"], done["failed"]) == ([1], [{"number": 2, "error": "locked"}])


def test_pull_requests(project: Path) -> None:
    seen = {
        "mergeable": "CONFLICTING",
        "mergeStateStatus": "DIRTY",
        "reviews": [{"author": {"login": "a"}, "state": "APPROVED", "body": ""}],
    }
    hands = hands_with(project, {"pr view": seen, "api repos/{owner}/{repo}/statuses/abc1234": {}})
    assert pulls.check_pr_mergeable(hands, 3)["mergeable"] is False
    assert pulls.get_pr_reviews(hands, 3)["reviews"][0]["author"] == "a"
    assert pulls.set_commit_status(hands, "abc1234", "success", "ci")["success"]
    for sha, repo in (("../x", ""), ("abc1234", "a/b/../c")):
        with pytest.raises(ToolFailure):
            pulls.set_commit_status(hands, sha, "success", "ci", repo=repo)


def run(id: int, status: str, conclusion: str = "", age: float = 1.0) -> dict[str, Any]:
    return {"databaseId": id, "status": status, "conclusion": conclusion, "age": age}


def dated(run: dict[str, Any]) -> dict[str, Any]:
    then = (datetime.now(UTC) - timedelta(seconds=run["age"])).isoformat().replace("+00:00", "Z")
    return {**run, "updatedAt": then}


QUICK = {"ci__poll_seconds": 0.01}


@pytest.mark.parametrize(
    ("turns", "conclusion", "run_id"),
    [
        ([[run(1, "completed", "success")]], "success", 1),
        ([[run(1, "completed", "failure")]], "failure", 1),
        ([[run(1, "completed", "startup_failure")]], "unknown", 1),
        ([[run(1, "completed", "success", age=900)]], "no_runs", None),
        ([[], [run(2, "queued")], [run(2, "completed", "success")]], "success", 2),
        (
            [[run(2, "in_progress"), run(1, "completed", "failure")], [run(2, "completed", "success")]],
            "success",
            2,
        ),
        ([[run(2, "in_progress")]], "timed_out", 2),
    ],
)
def test_a_run_is_awaited(project: Path, turns: list[Any], conclusion: str, run_id: int | None) -> None:
    jobs = {"jobs": [{"name": "lint", "conclusion": "failure"}, {"name": "ok", "conclusion": "success"}]}
    hands = hands_with(
        project,
        {"run list": ["turns", *([dated(one) for one in turn] for turn in turns)], "run view": jobs},
        **QUICK,
    )
    done = ci.wait_for_ci(hands, "b", timeout_seconds=1.0)
    assert (done["conclusion"], done["run_id"]) == (conclusion, run_id)
    assert done["failed_jobs"] == (["lint"] if conclusion in ("failure", "unknown") else [])


def test_a_watcher_is_scoped_and_never_raises(project: Path) -> None:
    hands = hands_with(project, {"run list": "!boom"}, ci__workflow="ci.yml", ci__event="push", **QUICK)
    done = ci.wait_for_ci(hands, "b", head_sha="abc")
    assert (done["conclusion"], done["error"]) == ("error", "gh: boom")
    assert calls(project)[0][-8:] == [
        "--branch",
        "b",
        "--commit",
        "abc",
        "--workflow",
        "ci.yml",
        "--event",
        "push",
    ]


def pull(**changes: Any) -> Pull:
    plain: dict[str, Any] = {"merged": False, "closed": False, "queue": None, "auto": False, "checks": None}
    return Pull(**{**plain, "merge_state": None, **changes})


@pytest.mark.parametrize(
    ("looks", "state"),
    [
        ([pull(queue="QUEUED"), pull(merged=True)], "merged"),
        ([pull(closed=True)], "ejected"),
        ([pull(queue="UNMERGEABLE")], "ejected"),
        ([pull(queue="QUEUED"), pull(checks="SUCCESS"), pull(checks="SUCCESS")], "dropped_healthy"),
        ([pull(queue="QUEUED"), pull(), pull()], "ejected"),
        ([pull(queue="QUEUED"), pull(), pull(queue="QUEUED"), pull()], None),
        ([pull(checks="FAILURE"), pull(checks="FAILURE")], "ejected_ci_failure"),
        ([pull(auto=True, checks="PENDING")] * 20, None),
        ([pull(auto=True, checks="SUCCESS", merge_state="CLEAN")] * 7, "stalled"),
        ([None] * 4, "error"),
        ([None] * 3, None),
        ([pull()] * 4, "error"),
    ],
)
def test_only_positive_signs_count(looks: list[Pull | None], state: str | None) -> None:
    queue = Queue(stall_grace=60, confirm=2, inconclusive=3)
    said = [verdict(queue, look, at * 10.0)[0] for at, look in enumerate(looks)]
    assert said[-1] == state
    assert said[:-1] == [None] * (len(looks) - 1)


def test_the_merge_queue_is_watched_and_moved(project: Path) -> None:
    ready = {
        "merged": False,
        "state": "OPEN",
        "mergeStateStatus": "CLEAN",
        "autoMergeRequest": {"enabledAt": "x"},
        "commits": {"nodes": [{"commit": {"statusCheckRollup": {"state": "SUCCESS"}}}]},
    }
    seen = [
        {"data": {"repository": {"pullRequest": one}}} for one in (ready, ready, {**ready, "merged": True})
    ]
    hands = hands_with(project, {"api graphql": ["turns", *seen], "pr merge": ""})
    done = ci.wait_for_merge_queue(hands, 5, "main", poll_interval=0.01, stall_grace=0.0)
    assert (done["pr_state"], done["success"]) == ("merged", True)
    assert done["stall_retries_attempted"] == 2
    assert [one[:2] for one in calls(project)].count(["pr", "merge"]) == 4


def test_how_a_branch_takes_merges(project: Path) -> None:
    found = {
        "autoMergeAllowed": True,
        "mergeQueue": {"id": "q"},
        "object": {"entries": [{"object": {"text": "on: merge_group"}}]},
    }
    hands = hands_with(project, {"api graphql": {"data": {"repository": found}}})
    done = ci.check_repo_merge_state(hands, "main")
    assert done["ci_event"] == "merge_group"
    assert done["auto_merge_available"]
    ci.check_repo_merge_state(hands, "@/etc/passwd")
    assert calls(project)[-1][-4:] == [
        "-f",
        "branch=@/etc/passwd",
        "-f",
        "file=@/etc/passwd:.github/workflows",
    ]
    bare = hands_with(project, {"api graphql": {"data": {"repository": {}}}})
    assert ci.check_repo_merge_state(bare, "main")["queue_available"] is False


def test_issues_without_requirements_get_them(project: Path) -> None:
    listed = [
        {"number": 1, "title": "Slow", "body": "It takes 9 s.\n"},
        {"number": 2, "title": "Done", "body": "Text\n\n## Requirements\n\n- it works\n"},
    ]
    hands = hands_with(project, {"issue list": listed, "issue edit": ""})
    hands.model_says = "Sure!\n- It answers within 1 s.\n* A \x1b[8mtest shows it.\n```sh\nrm -rf /\n```"
    done = enrichment.enrich_issues(hands, repo="o/r")
    rows = ["It answers within 1 s.", "A \\x1b[8mtest shows it."]
    assert done["enriched"] == [{"issue_number": 1, "requirements": rows}]
    assert (done["skipped_enriched"], done["skipped_unclear"]) == ([2], [])
    assert hands.asked == ["Slow\n\nIt takes 9 s.\n"], "the other one costs nothing"
    words = calls(project)[-1]
    assert words[:4] == ["issue", "edit", "1", "--body"]
    assert words[4] == f"It takes 9 s.\n\n## Requirements\n\n- {rows[0]}\n- {rows[1]}\n"
    assert words[5:] == ["--repo", "o/r"]


@pytest.mark.parametrize(("says", "rows"), [("NONE", 0), ("- one\n" * 50, 20)])
def test_a_dry_run_edits_nothing(project: Path, says: str, rows: int) -> None:
    hands = hands_with(project, {"issue view": {"number": 7, "title": "T", "body": None}})
    hands.model_says = says
    done = enrichment.enrich_issues(hands, issue_number=7, dry_run=True)
    assert done["skipped_unclear"] == ([] if rows else [7])
    assert sum(len(one["requirements"]) for one in done["enriched"]) == rows
    assert [one[:2] for one in calls(project)] == [["issue", "view"]]


def test_the_model_of_a_call_or_the_configured_one_is_asked(
    visit: Callable[..., Any], project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hands = hands_with(project, {"issue view": ISSUE})
    monkeypatch.setenv("PATH", hands.env["PATH"])
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")

    async def talk(guest: Guest) -> list[str]:
        await guest.call(OPEN)
        named = {"model": "claude-sonnet-4-5"}
        return [(await guest.data("enrich_issues", issue_number=7, **one))["error"] for one in ({}, named)]

    missing, away = visit(talk, options={"mode": "bypassPermissions", "allow_bypass": True})
    assert "model.default" in missing
    assert "127.0.0.1:9" in away

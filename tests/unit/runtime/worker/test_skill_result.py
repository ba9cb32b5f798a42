"""From a report to a result: recovery, containment, writes, budget."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import ConfigError
from checkrein.model.skill_contract import NO_CONTRACT, Contract, Output
from checkrein.passes.recipes.contracts import contract_of
from checkrein.runtime.worker.recovery import recovered
from checkrein.runtime.worker.session_report import Report, Written
from checkrein.runtime.worker.skill_result import BUDGET, Place, SkillResult, crashed, settled

MARKER = "%%DONE::0a1b2c3d%%"
PLAN = Contract(outputs=(Output(name="plan_path", type="file_path"),), write_behavior="always")
WROTE = (Written("Write", "plan.md"),)


def result(report: Report, cwd: Path, contract: Contract = PLAN, **place: Any) -> SkillResult:
    return settled(report, contract, Place(cwd=str(cwd), home="/h", marker=MARKER, **place))


def submitted(path: Any, **fields: Any) -> Report:
    return Report(submission={"plan_path": path}, channel="channel_a", **{"writes": WROTE, **fields})


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "plan.md").write_text("x")
    (tmp_path / "outside.md").write_text("x")
    return tmp_path / "work"


def test_success(workshop: Path) -> None:
    found = result(submitted("plan.md", session_id="s"), workshop, order_id="o")
    assert (found.success, found.outcome, found.subtype) == (True, "succeeded", "success")
    assert (found.outputs, found.write_call_count, found.order_id) == ({"plan_path": "plan.md"}, 1, "o")


def test_the_marker_is_the_fallback(workshop: Path) -> None:
    found = result(Report(text=f"Done.\nplan_path = plan.md\n{MARKER}", writes=WROTE), workshop)
    assert found.success
    assert (found.result, found.outputs) == ("Done.\nplan_path = plan.md", {"plan_path": "plan.md"})


@pytest.mark.parametrize("path", ["../outside.md", "/etc/passwd", "link/outside.md", "a\0b"])
def test_an_output_outside_is_contamination(workshop: Path, path: str) -> None:
    (workshop / "link").symlink_to(workshop.parent)
    found = result(submitted(path), workshop)
    assert (found.success, found.needs_retry, found.retry_reason) == (False, True, "path_contamination")
    assert found.subtype == "path_contamination"


def test_an_output_that_does_not_exist_breaks_the_contract(workshop: Path) -> None:
    found = result(submitted("made-up.md"), workshop)
    assert (found.state, found.outcome, found.needs_retry) == ("contract_violation", "failed", False)
    assert "made-up.md" in found.problem


def test_lists_of_paths(workshop: Path) -> None:
    contract = Contract(outputs=(Output(name="plan_path", type="file_path_list"),))
    assert result(submitted(["plan.md"]), workshop, contract).success
    mixed = result(submitted(["plan.md", "../outside.md"]), workshop, contract)
    assert mixed.retry_reason == "path_contamination"
    told = Report(text=f"plan_path = plan.md, ../outside.md\n{MARKER}")
    assert result(told, workshop, contract).retry_reason == "path_contamination"


def test_zero_writes(workshop: Path) -> None:
    none = result(submitted("plan.md", writes=(Written("Bash", "ls"),)), workshop)
    assert (none.outcome, none.retry_reason, none.write_call_count) == ("retriable", "zero_writes", 0)
    maybe = Contract(
        outputs=PLAN.outputs, write_behavior="conditional", write_expected_when=("(?i)changes made",)
    )
    assert result(submitted("plan.md", writes=()), workshop, maybe).success
    assert (
        result(submitted("plan.md", writes=(), text="Changes made."), workshop, maybe).retry_reason
        == "zero_writes"
    )
    assert result(submitted("plan.md", writes=()), workshop, Contract(outputs=PLAN.outputs)).success


@pytest.mark.parametrize(("writes", "reason"), [(WROTE, "contract_recovery"), ((), "none")])
def test_a_violation_is_terminal_and_says_whether_work_was_done(
    workshop: Path, writes: tuple[Written, ...], reason: str
) -> None:
    found = result(Report(text=f"Done.\n{MARKER}", writes=writes), workshop)
    assert (found.outcome, found.needs_retry, found.retry_reason) == ("failed", False, reason)
    assert found.subtype == "contract_violation"


def test_the_budget(workshop: Path) -> None:
    empty = Report()
    for failures in range(BUDGET):
        assert result(empty, workshop, failures=failures).needs_retry
    spent = result(empty, workshop, failures=BUDGET)
    assert (spent.needs_retry, spent.retry_reason, spent.outcome) == (False, "budget_exhausted", "failed")
    zero = result(submitted("plan.md", writes=()), workshop, failures=BUDGET)
    assert zero.retry_reason == "budget_exhausted"
    assert result(submitted("plan.md"), workshop, failures=BUDGET).success


def test_a_changed_clone(workshop: Path) -> None:
    contract = Contract(outputs=(Output(name="worktree_path", type="directory_path"),))
    failed = Report(subtype="error_during_execution", is_error=True, text="x")
    found = result(failed, workshop, contract, changed=True)
    assert (found.retry_reason, found.needs_retry) == ("clone_contamination", False)
    assert result(failed, workshop, contract).retry_reason == "none"


@pytest.mark.parametrize(
    ("report", "subtype"),
    [
        (Report(), "empty_result"),
        (Report(text="x"), "missing_completion_marker"),
        (Report(subtype="context_exhaustion", is_error=True), "context_exhausted"),
        (Report(subtype="error_during_execution", is_error=True, text="x"), "adjudicated_failure"),
        (Report(termination="timed_out"), "timeout"),
        (Report(termination="stale"), "stale"),
        (Report(termination="idle_stall"), "idle_stall"),
        (
            Report(submission={"plan_path": "plan.md"}, termination="stale", writes=WROTE),
            "recovered_from_stale",
        ),
    ],
)
def test_subtypes(workshop: Path, report: Report, subtype: str) -> None:
    assert result(report, workshop).subtype == subtype


def test_a_crash() -> None:
    found = crashed("token ghp_0123456789abcdefghijklmnopqrstuvwxyz")
    assert (found.subtype, found.exit_code, found.success) == ("crashed", -1, False)
    assert "ghp_" not in found.problem


def test_writes_outside_are_named(workshop: Path) -> None:
    writes = (
        Written("Write", str(workshop / "a")),
        Written("Edit", "/etc/hosts"),
        Written("Bash", "echo x > /var/tmp/y; cat a > b 2>/dev/null"),
        Written("Bash", "if then ((( $("),
    )
    found = result(submitted("plan.md", writes=writes), workshop)
    assert found.write_path_warnings == ("/etc/hosts", "/var/tmp/y")
    assert (found.success, found.write_call_count) == (True, 2)


def test_long_and_secret_texts(workshop: Path) -> None:
    secret = "sk-ant-api03-" + "A1b2" * 10
    found = result(submitted("plan.md", text="z " * 9000 + secret, stderr=f"{secret} " * 100), workshop)
    assert len(found.result) <= 5000
    assert secret not in found.result + found.stderr


def test_recovery_by_marker() -> None:
    alone = Report(text=MARKER, texts=("plan_path = plan.md", MARKER))
    assert recovered(alone, PLAN, MARKER).text == f"plan_path = plan.md\n{MARKER}"
    earlier = Report(text="Thanks.", texts=(f"plan_path = plan.md\n{MARKER}", "Thanks."))
    found = recovered(earlier, PLAN, MARKER)
    assert PLAN.is_met(found.text)
    assert found.text.endswith(MARKER)


def test_recovery_by_block() -> None:
    split = Report(text=f"Done.\n{MARKER}", texts=("**plan_path** = plan.md", f"Done.\n{MARKER}"))
    assert PLAN.is_met(recovered(split, PLAN, MARKER).text)
    nothing = Report(text=f"Done.\n{MARKER}", texts=("no", f"Done.\n{MARKER}"))
    assert recovered(nothing, PLAN, MARKER) is nothing


def test_nothing_is_recovered_without_the_marker_or_from_an_error() -> None:
    for report in (
        Report(text="x", texts=("plan_path = plan.md", "x")),
        Report(text="x", texts=(f"plan_path = plan.md\n{MARKER}",), is_error=True),
        Report(texts=(f"quoted: {MARKER} here",)),
    ):
        assert recovered(report, PLAN, MARKER) is report


def test_a_contract_file(tmp_path: Path) -> None:
    skill = tmp_path / "SKILL.md"
    assert contract_of(str(skill)) == NO_CONTRACT
    file = tmp_path / "contract.yaml"
    file.write_text("outputs:\n- {name: verdict, allowed_values: [GO, STOP]}\n- {name: n, type: integer}\n")
    found = contract_of(str(skill))
    assert found.schema()["properties"]["verdict"]["enum"] == ["GO", "STOP"]
    assert found.schema()["required"] == ["verdict", "n"]
    assert NO_CONTRACT.schema()["required"] == ["summary"]


@pytest.mark.parametrize(
    "text", ["[", "outputs: 3", "outputs: [{nam: x}]", "write_behavior: sometimes", "a: &a [*a]"]
)
def test_a_broken_contract_stops_before_the_start(tmp_path: Path, text: str) -> None:
    (tmp_path / "contract.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"contract\.yaml"):
        contract_of(str(tmp_path / "SKILL.md"))


def test_a_contract_behind_a_link_does_not_count(tmp_path: Path) -> None:
    (tmp_path / "skill").mkdir()
    os.symlink("/etc/hostname", tmp_path / "skill" / "contract.yaml")
    with pytest.raises(ConfigError):
        contract_of(str(tmp_path / "skill" / "SKILL.md"))

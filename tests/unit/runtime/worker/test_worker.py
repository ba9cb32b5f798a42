"""One skill, one result: what is refused before the start, and how sessions end."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import CheckreinError, PolicyError
from checkrein.llm.cancel import Cancel
from checkrein.model.project import Project
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.worker.backend import Assignment, FakeBackend, Heart
from checkrein.runtime.worker.own_backend import OwnBackend
from checkrein.runtime.worker.session_report import Report, Written
from checkrein.runtime.worker.skill_result import SkillResult
from checkrein.runtime.worker.surroundings import MARK, worker_env
from checkrein.runtime.worker.watchdog import Limits
from checkrein.runtime.worker.worker import Range, WorkerTerms, parsed, run_worker
from checkrein.runtime.worker.worker_log import entries
from checkrein.testing import ScriptedModel
from support.files import lay
from support.repositories import make_repository
from support.sessions import call

CONTRACT = "outputs:\n- {name: plan_path, type: file_path}\nwrite_behavior: always\n"
FILES = {
    ".git/": None,
    ".claude/skills/plan/SKILL.md": "---\nname: plan\ndescription: plans\n---\nPlan $ARGUMENTS.\n",
    ".claude/skills/plan/contract.yaml": CONTRACT,
    "plan.md": "x",
}
DONE = Report(submission={"plan_path": "plan.md"}, channel="channel_a", writes=(Written("Write", "plan.md"),))


@pytest.fixture
def planner(tmp_path: Path) -> Path:
    return lay(tmp_path / "p", FILES)


def work(place: Path, backend: Any, command: str = "/plan it", **terms: Any) -> SkillResult:
    return run_worker(command, load(str(place)), backend=backend, terms=WorkerTerms(**terms))


def test_success_and_telemetry(planner: Path) -> None:
    backend = FakeBackend(DONE)
    found = work(planner, backend, "/plan the  thing", order_id="o1", step="make_plan")
    assert (found.success, found.skill, found.backend, found.order_id) == (True, "plan", "fake", "o1")
    (assignment,) = backend.assignments
    assert (assignment.prompt, assignment.cwd) == ("/plan the  thing", str(planner))
    assert assignment.marker in assignment.directives
    (entry,) = entries()
    assert (entry["step"], entry["order_id"], entry["outcome"]) == ("make_plan", "o1", "succeeded")
    assert "the  thing" not in repr(entry)


def test_every_worker_has_its_own_marker(planner: Path) -> None:
    backend = FakeBackend(DONE)
    work(planner, backend)
    work(planner, backend)
    first, second = backend.assignments
    assert first.marker != second.marker


@pytest.mark.parametrize("command", ["plan it", "", "/", "/../x", "//plan", "/plan\x00"])
def test_no_command(planner: Path, command: str) -> None:
    with pytest.raises(CheckreinError):
        work(planner, FakeBackend(DONE), command)


def test_words_of_a_command() -> None:
    assert parsed(" /plan  a b\nc ") == ("plan", "a b\nc")


def test_10_7_a_disabled_skill_is_refused_before_anything_starts(planner: Path) -> None:
    """Facts 10, point 7: hidden, disabled, denied or unknown."""
    backend = FakeBackend(DONE)

    def hidden(project: Project, skill: str) -> Range:
        return Range(View(project).narrow(skills=(), commands=()))

    def disabled(project: Project, skill: str) -> Range:
        return Range(View(project), "its category github is disabled")

    with pytest.raises(CheckreinError) as found:
        work(planner, backend, visible=hidden)
    assert found.value.kind == "skill_not_found"
    with pytest.raises(PolicyError, match="category github"):
        work(planner, backend, visible=disabled)
    with pytest.raises(CheckreinError, match="Did you mean"):
        work(planner, backend, "/plam it")
    lay(planner, {".claude/settings.json": {"permissions": {"deny": ["Skill(plan)"]}}})
    with pytest.raises(PolicyError, match=r"Skill\(plan\) \(\.claude/settings\.json:4\)"):
        work(planner, backend)
    lay(planner, {".claude/settings.json": {}, ".claude/skills/plan/contract.yaml": "outputs: 1"})
    with pytest.raises(CheckreinError, match=r"contract\.yaml"):
        work(planner, backend)
    assert backend.assignments == []


GOVERNED = {
    "checkrein.toml": """
[skills]
tier2 = ["plan", "helper"]
tier3 = ["deep"]
[subsets]
disabled = ["github"]
""",
    ".claude/skills/plan/SKILL.md": "---\nname: plan\ndescription: x\nactivate_deps: [deep]\n---\nPlan.",
    ".claude/skills/deep/SKILL.md": "---\nname: deep\ndescription: x\nactivate_deps: [plan]\n---\nDeep.",
    ".claude/skills/helper/SKILL.md": "---\nname: helper\ndescription: x\n---\nHelp.",
    ".claude/skills/pull/SKILL.md": "---\nname: pull\ndescription: x\ncategories: [github]\n---\nPull.",
}


def test_a_worker_sees_the_closure_of_its_skill(planner: Path) -> None:
    lay(planner, GOVERNED)
    backend = FakeBackend(DONE)
    work(planner, backend)
    (assignment,) = backend.assignments
    seen = assignment.view.skills
    assert {"plan", "deep", "helper"} <= set(seen)
    assert "pull" not in seen
    invocable = {name for name, skill in seen.items() if skill.model_invocable}
    assert {"plan", "deep"} <= invocable
    assert "helper" not in invocable


def test_vis_3_a_skill_of_a_disabled_subset_does_not_start(planner: Path) -> None:
    """VIS-3 and facts 10, point 7: the rule that hides a skill is the rule that refuses it."""
    lay(planner, GOVERNED)
    backend = FakeBackend(DONE)
    with pytest.raises(PolicyError, match="subset `github` is disabled"):
        work(planner, backend, "/pull x")
    lay(planner, {"checkrein.toml": '[skills]\ntier1 = ["plan"]\ntier2 = ["plan"]\n'})
    with pytest.raises(CheckreinError, match="plan"):
        work(planner, backend)
    assert backend.assignments == []


def test_10_6_a_worker_starts_no_worker(planner: Path) -> None:
    """Facts 10, point 6, for the worker itself."""
    backend = FakeBackend(DONE)
    env = worker_env(os.environ)
    with pytest.raises(PolicyError, match="can't start a worker"):
        run_worker("/plan it", load(str(planner)), backend=backend, env=env)
    assert backend.assignments == []


def test_the_environment_is_a_list_of_what_goes_in() -> None:
    given = {
        "PATH": "/bin",
        "LC_ALL": "C",
        "ANTHROPIC_API_KEY": "k",
        "GITHUB_TOKEN": "t",
        "AWS_SECRET_ACCESS_KEY": "s",
        "LD_PRELOAD": "x",
        "BASH_ENV": "x",
        "MINE": "m",
        "CLAUDECODE": "1",
    }
    assert worker_env(given) == {"PATH": "/bin", "LC_ALL": "C", "ANTHROPIC_API_KEY": "k", MARK: "1"}
    assert worker_env(given, ("MINE",))["MINE"] == "m"
    assert "CHECKREIN_SERVE__TOKEN" not in worker_env({"CHECKREIN_SERVE__TOKEN": "t"})


def endless(assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
    while not cancel.cancelled:
        beat("output")
        time.sleep(0.01)
    return Report(text="half")


def silent(assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
    while not cancel.cancelled:
        time.sleep(0.01)
    return Report(text="half")


@pytest.mark.parametrize(
    ("behaviour", "limits", "subtype", "reason"),
    [
        (endless, Limits(stale=0.1, idle=9), "stale", "stale"),
        (silent, Limits(stale=9, idle=0.1), "idle_stall", "stale"),
        (endless, Limits(timeout=0.1), "timeout", "none"),
    ],
)
def test_watchdogs(planner: Path, behaviour: Any, limits: Limits, subtype: str, reason: str) -> None:
    found = work(planner, FakeBackend(behaviour), limits=limits)
    assert (found.success, found.subtype, found.retry_reason) == (False, subtype, reason)
    assert found.kill_reason == "infra_kill"


def test_a_session_that_goes_on_after_its_result(planner: Path) -> None:
    def chatty(assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        beat("submitted")
        silent(assignment, cancel, beat)
        return DONE

    found = work(planner, FakeBackend(chatty), limits=Limits(exit_grace=0.1))
    assert (found.success, found.kill_reason) == (True, "kill_after_completion")


def test_a_crash_and_a_backend_that_never_returns(planner: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        raise ValueError("boom")

    assert work(planner, FakeBackend(broken)).subtype == "crashed"
    monkeypatch.setattr("checkrein.runtime.worker.worker._PATIENCE", 0.1)

    def deaf(assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        time.sleep(2)
        return DONE

    found = work(planner, FakeBackend(deaf), limits=Limits(timeout=0.1))
    assert (found.subtype, found.kill_reason) == ("crashed", "exception")
    assert "did not end" in found.problem


def test_a_changed_clone_is_noticed_and_left_alone(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "r")
    lay(root, {".claude/skills/plan/SKILL.md": "---\nname: plan\ndescription: x\n---\nx"})
    lay(root, {".claude/skills/plan/contract.yaml": "outputs: [{name: worktree_path, type: directory_path}]"})

    def stray(assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        (root / "stray.txt").write_text("x")
        return Report(subtype="error_during_execution", is_error=True, text="x")

    found = work(root, FakeBackend(stray))
    assert (found.retry_reason, found.needs_retry) == ("clone_contamination", False)
    assert (root / "stray.txt").exists()


def test_our_runtime_submits(planner: Path) -> None:
    from checkrein.cli.main import run

    lay(planner, {".claude/settings.json": {"permissions": {"allow": ["Edit(/**)"]}}})
    assert run(["trust", str(planner), "--yes"]) == 0
    model = ScriptedModel(
        [
            call("Write", file_path=str(planner / "new.md"), content="x"),
            call("submit_result", summary="no path"),
            call("submit_result", plan_path="new.md"),
            {"text": "Done."},
        ]
    )
    found = work(planner, OwnBackend(), model=model)
    assert found.success, found
    assert (found.outputs, found.write_call_count) == ({"plan_path": "new.md"}, 1)
    assert found.session_id
    assert "Plan it." in repr(model.requests[0].messages)


def test_our_runtime_with_the_marker_alone(planner: Path) -> None:
    lay(planner, {".claude/skills/plan/contract.yaml": "outputs: [{name: verdict, allowed_values: [GO]}]"})

    class Echo(ScriptedModel):
        def stream(self, request: Any, cancel: Cancel) -> Any:
            text = repr(request)
            marker = text[text.index("%%DONE::") :][:18]
            self.script = ScriptedModel([{"text": f"verdict = GO\n{marker}"}]).script
            return super().stream(request, cancel)

    found = work(planner, OwnBackend(), model=Echo([{"text": "x"}]))
    assert (found.success, found.outputs) == (True, {"verdict": "GO"}), found


def test_our_runtime_without_an_end(planner: Path) -> None:
    found = work(planner, OwnBackend(), model=ScriptedModel([{"text": "I stop here."}]))
    assert (found.outcome, found.retry_reason) == ("retriable", "early_stop")
    assert found.subtype == "missing_completion_marker"


def test_our_runtime_asks_nobody(planner: Path) -> None:
    """A worker under the rules: what needs approval does not run, and nothing is skipped."""
    mark = planner / "ran"
    model = ScriptedModel(
        [call("Bash", command=f"touch {mark}"), call("submit_result", plan_path="plan.md"), {"text": "x"}]
    )
    found = work(planner, OwnBackend(), model=model)
    assert not mark.exists()
    assert found.retry_reason == "zero_writes"


def test_our_runtime_never_skips_permissions(planner: Path) -> None:
    """The user's own default may be to skip them; a worker's is not."""
    settings = {
        "permissions": {"defaultMode": "bypassPermissions"},
        "skipDangerousModePermissionPrompt": True,
    }
    lay(Path(os.environ["HOME"]), {".claude/settings.json": settings})
    mark = planner / "ran"
    replies = [call("Bash", command=f"touch {mark}"), {"text": "x"}]
    work(planner, OwnBackend(), model=ScriptedModel(replies))
    assert not mark.exists()

"""`run_skill` and the quota guard, through the server. The worker's backend is a fake."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from checkrein.base.home import checkrein_home
from checkrein.llm.cancel import Cancel
from checkrein.runtime.worker.backend import Assignment, FakeBackend, Heart
from checkrein.runtime.worker.own_backend import OwnBackend
from checkrein.runtime.worker.session_report import Report, Tokens
from checkrein.serve.mcp.kitchen import CLOSE, OPEN
from checkrein.serve.mcp.work import skills
from checkrein.testing import ScriptedModel
from support.files import lay
from support.mcp_guests import Guest
from support.repositories import make_repository
from support.sessions import call

Visit = Callable[..., Any]
SKILL = "---\nname: plan\ndescription: plans\n---\nPlan $ARGUMENTS.\n"
FILES = {".claude/skills/plan/SKILL.md": SKILL}
DONE = Report(
    text="Planned.", submission={"summary": "Planned."}, channel="channel_a", tokens=Tokens(input=60)
)

pytestmark = pytest.mark.project(FILES)


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeBackend]:
    def install(report: Any = DONE) -> FakeBackend:
        fake = FakeBackend(report)
        monkeypatch.setattr(skills, "backend_named", lambda name: fake)
        return fake

    return install


Install = Callable[..., FakeBackend]


class Scripted(OwnBackend):
    """Checkrein's own runtime with a model that follows a script."""

    def __init__(self, *replies: Any) -> None:
        self._model = ScriptedModel(list(replies))

    def work(self, assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        return super().work(replace(assignment, model=self._model), cancel, beat)


def limit(tokens: int) -> None:
    lay(checkrein_home(), {"config.toml": f"[quota_guard]\nmax_tokens = {tokens}\n"})


def test_a_skill_runs_in_a_worker_and_its_typed_result_is_the_answer(
    visit: Visit, project: Path, backend: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k")
    monkeypatch.setenv("SOMETHING_ELSE", "x")
    fake = backend()

    async def talk(guest: Guest) -> Any:
        await guest.call(OPEN)
        found = await guest.data("run_skill", skill_command="/plan it all", cwd=str(project), order_id="o1")
        assert "run_skill" in await guest.names()
        (asked,) = guest.asked
        assert "Skill wants to run" in asked
        assert '"args": "it all"' in asked
        return found

    found = visit(talk, says="allow")
    assert (found["success"], found["outcome"], found["result"]) == (True, "succeeded", "Planned.")
    assert (found["skill"], found["backend"], found["order_id"]) == ("plan", "fake", "o1")
    assert found["token_usage"]["input"] == 60
    (assignment,) = fake.assignments
    assert (assignment.prompt, assignment.cwd) == ("/plan it all", str(project))
    assert assignment.env["ANTHROPIC_API_KEY"] == "k", "the session needs it"
    assert "SOMETHING_ELSE" not in assignment.env


def test_the_worker_is_a_session_under_the_rules(
    visit: Visit, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Consent to a skill is no consent to what its worker does; nobody is asked about that."""
    backend = Scripted(
        call("Bash", command="touch made"), call("submit_result", summary="Done."), {"text": "Done."}
    )
    monkeypatch.setattr(skills, "backend_named", lambda name: backend)

    async def talk(guest: Guest) -> Any:
        await guest.call(OPEN)
        found = await guest.data("run_skill", skill_command="/plan", cwd=".")
        assert len(guest.asked) == 1
        return found

    found = visit(talk, says="allow")
    assert (found["success"], found["backend"], found["result"]) == (True, "checkrein", "Done.")
    assert not (project / "made").exists()


@pytest.mark.parametrize(
    ("command", "reason", "subtype"),
    [
        ("/diagnose-ci", "does not run", "skill_disabled"),
        ("/secret it", "denied", "skill_disabled"),
        ("/nothing", "no skill", "skill_not_found"),
        ("plan it", "slash", "usage"),
    ],
)
@pytest.mark.project(
    {
        **FILES,
        "checkrein.toml": '[subsets]\ndisabled = ["ci"]\n',
        ".claude/skills/secret/SKILL.md": SKILL.replace("plan", "secret"),
        ".claude/settings.json": {"permissions": {"deny": ["Skill(secret)"]}},
    }
)
def test_10_7_what_is_refused_is_refused_before_anything_starts(
    visit: Visit, backend: Install, command: str, reason: str, subtype: str
) -> None:
    fake = backend()

    async def talk(guest: Guest) -> Any:
        await guest.call(OPEN)
        found = await guest.data("run_skill", skill_command=command, cwd=".")
        assert guest.asked == [], "nobody is asked about what can't run"
        return found

    found = visit(talk, says="allow")
    assert found["success"] is False
    assert reason in found["error"]
    assert found["subtype"] == subtype
    assert fake.assignments == []


@pytest.mark.parametrize(
    ("says", "options"), [("deny", {}), (None, {}), ("allow", {"disallowed": ("Skill",)})]
)
def test_the_gate_judges_the_start(
    visit: Visit, backend: Install, says: str | None, options: dict[str, Any]
) -> None:
    fake = backend()

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        assert (await guest.call("run_skill", skill_command="/plan", cwd=".")).is_error

    visit(talk, says=says, options=options)
    assert fake.assignments == []


def test_what_the_server_denies_is_denied_in_its_workers(visit: Visit, backend: Install) -> None:
    fake = backend()

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        await guest.call("run_skill", skill_command="/plan", cwd=".")

    visit(talk, options={"allowed": ("Skill",), "disallowed": ("Bash(rm *)",)})
    (assignment,) = fake.assignments
    assert ("deny", "Bash(rm *)") in [(one.verdict, one.text) for one in assignment.view.project.rules]


@pytest.mark.project(
    {**FILES, ".claude/settings.json": {"permissions": {"deny": ["Bash(git push *)"], "ask": ["WebFetch"]}}}
)
def test_rules_hold_in_a_repository_within_the_project(visit: Visit, project: Path, backend: Install) -> None:
    fake = backend()
    lay(project / "inner", {".git/": None, **FILES})

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        assert (await guest.data("run_skill", skill_command="/plan", cwd="inner"))["success"]

    visit(talk, options={"allowed": ("Skill",)})
    (assignment,) = fake.assignments
    assert assignment.view.project.place.root == str(project / "inner")
    rules = {(one.verdict, one.text) for one in assignment.view.project.rules}
    assert {("deny", "Bash(git push *)"), ("ask", "WebFetch")} <= rules


def test_a_worker_stays_with_the_project(
    visit: Visit, project: Path, tmp_path: Path, backend: Install
) -> None:
    fake = backend()
    make_repository(project)
    other = lay(tmp_path / "other", FILES)

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        made = await guest.data("run_cmd", cmd="git worktree add -q ../tree", cwd=".")
        assert made["success"], made
        for place in (str(other), "/", "../"):
            refused = await guest.data("run_skill", skill_command="/plan", cwd=place)
            assert "another project" in refused["error"]
        found = await guest.data("run_skill", skill_command="/plan", cwd=str(tmp_path / "tree"))
        assert found["success"], found

    visit(talk, options={"mode": "bypassPermissions", "allow_bypass": True})
    assert [one.cwd for one in fake.assignments] == [str(tmp_path / "tree")]


def test_a_limit_of_the_call_ends_a_worker_and_retries_are_counted(visit: Visit, backend: Install) -> None:
    """The budget counts the whole command, of any length."""

    def stuck(assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        cancel.wait(30)
        return Report(subtype="interrupted")

    backend(stuck)
    long = "/plan " + "x" * 300

    async def talk(guest: Guest) -> list[str]:
        await guest.call(OPEN)
        reasons = []
        for command in (long, long, long, long, long + "y"):
            found = await guest.data("run_skill", skill_command=command, cwd=".", idle_output_timeout=0.05)
            assert found["subtype"] == "idle_stall"
            reasons.append(found["retry_reason"])
        report = await guest.data("get_pipeline_report")
        assert report["total_failures"] == 5
        return reasons

    reasons = visit(talk, options={"allowed": ("Skill",)})
    assert reasons == ["stale", "stale", "stale", "budget_exhausted", "stale"]


def test_the_quota_guard_makes_workers_wait(visit: Visit, backend: Install) -> None:
    fake = backend()
    limit(100)

    async def talk(guest: Guest) -> None:
        async def run() -> Any:
            return await guest.data("run_skill", skill_command="/plan", cwd=".")

        await guest.call(OPEN)
        assert [(await run())["success"] for _ in range(3)] == [True, True, False]
        refused = await run()
        assert refused["subtype"] == "quota_reached"
        assert 0 < refused["wait_seconds"] <= 18_000
        assert guest.asked == []
        events = await guest.data("get_quota_events", n=1)
        assert (events["total_count"], len(events["events"])) == (2, 1)
        assert (await guest.data("disable_quota_guard"))["success"]
        assert len(guest.asked) == 1, "a person decides about the guard"
        assert (await run())["success"]
        await guest.call(CLOSE)
        await guest.call(OPEN)
        assert (await run())["subtype"] == "quota_reached"

    visit(talk, says="allow", options={"allowed": ("Skill",)})
    assert len(fake.assignments) == 3


@pytest.mark.parametrize("says", ["deny", None])
def test_a_model_can_not_switch_the_guard_off_alone(visit: Visit, backend: Install, says: str | None) -> None:
    fake = backend()
    limit(1)

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        assert (await guest.call("run_skill", skill_command="/plan", cwd=".")).is_error is False
        assert (await guest.call("disable_quota_guard")).is_error
        assert (await guest.call("run_skill", skill_command="/plan", cwd=".")).is_error

    visit(talk, says=says, options={"allowed": ("Skill",)})
    assert len(fake.assignments) == 1


def test_a_time_below_zero_starts_nothing(visit: Visit, backend: Install) -> None:
    fake = backend()

    async def talk(guest: Guest) -> None:
        await guest.call(OPEN)
        said = await guest.data("run_skill", skill_command="/plan x", cwd=".", stale_threshold=-1)
        assert "seconds" in said["error"]

    visit(talk, options={"allowed": ("Skill",)})
    assert fake.assignments == []

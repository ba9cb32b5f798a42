"""The way of a run through its steps, on steps by a script."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from msgspec.structs import replace

from checkrein.model.recipe import Arm
from checkrein.model.recipe_plan import PlanStep
from checkrein.recipes.fake import BROKEN, Crash, MemoryRun, ScriptedSteps
from checkrein.recipes.journal import Answer
from checkrein.recipes.outcome import Outcome, State
from checkrein.recipes.port import Task
from support.recipe_plans import HERE, body, plan, step


def went(run: MemoryRun) -> list[str]:
    return [f"{one.path}:{one.state}" for one in run.entries()]


def outcome(state: State, **result: Any) -> Outcome:
    return Outcome(state=state, result=result)


def arm(route: str, when: str | None = None) -> Arm:
    return Arm(route=route, when=when, origin=HERE)


ROUTES = {
    "on_failure": "failed",
    "on_context_limit": "full",
    "on_exhausted": "spent",
}
LADDER = tuple(step(name, "route", None) for name in ("good", "failed", "full", "spent"))


@pytest.mark.parametrize(
    ("outcomes", "way"),
    [
        ([outcome("success")], ["work:success", "good:success"]),
        ([BROKEN], ["work:failure", "failed:success"]),
        ([outcome("context_limit")], ["work:context_limit", "full:success"]),
        ([outcome("again")], ["work:again", "work:again", "work:again", "spent:success"]),
        ([outcome("again"), outcome("success")], ["work:again", "work:success", "good:success"]),
    ],
)
@pytest.mark.parametrize("kind", ["tool", "python"])
def test_each_outcome_has_its_route(kind: str, outcomes: list[Outcome], way: list[str]) -> None:
    run = MemoryRun(
        plan(step("work", kind, "mod.call", "good", retries=2, **ROUTES), *LADDER),
        ScriptedSteps({"work": outcomes}),
    )
    assert run.go().state == "done"
    assert went(run) == way


def test_the_first_arm_that_holds_is_taken_and_a_failed_call_looks_at_none() -> None:
    arms = (arm("good", "${{ result.verdict }} == go"), arm("full"))
    work = step("work", to=None, on_result=arms, **ROUTES)
    for found, way in (
        (outcome("success", verdict="go"), "good"),
        (outcome("success", verdict="stay"), "full"),
        (replace(BROKEN, result={"verdict": "go"}), "failed"),
    ):
        run = MemoryRun(plan(work, *LADDER), ScriptedSteps({"work": [found]}))
        run.go()
        assert run.entries()[-1].path == way


def test_no_arm_that_holds_is_a_failure() -> None:
    work = step("work", to=None, on_result=(arm("good", "${{ result.verdict }} == go"),), **ROUTES)
    run = MemoryRun(plan(work, *LADDER), ScriptedSteps({"work": [outcome("success", verdict="no")]}))
    run.go()
    assert run.entries()[-1].path == "failed"


def test_a_false_flag_skips_and_runs_nothing() -> None:
    steps = ScriptedSteps()
    run = MemoryRun(
        plan(step("open", to="after", skip_when_false="inputs.open_pr"), step("after"), open_pr="false"),
        steps,
    )
    assert run.go().state == "done"
    assert went(run) == ["open:skipped", "after:success"]
    assert [one.step for one in steps.tasks] == ["after"]


def test_captures_reach_the_next_steps_with_their_types() -> None:
    steps = ScriptedSteps({"one": [outcome("success", files=["a", "b"], name=" x ")]})
    run = MemoryRun(
        plan(
            step(
                "one",
                to="two",
                capture={"name": "${{ result.name | trim }}"},
                capture_list={"all": "${{ result.files }}"},
            ),
            step("two", with_args={"cmd": "echo ${{ context.name }}", "files": "${{ context.all }}"}),
        ),
        steps,
    )
    assert run.go().captured == {"name": "x", "all": ["a", "b"]}
    assert steps.tasks[1].arguments == {"cmd": "echo x", "files": ["a", "b"]}


def test_a_capture_without_a_value_is_a_failure_of_a_step_that_succeeded() -> None:
    run = MemoryRun(plan(step("one", capture={"x": "${{ result.missing }}"})), ScriptedSteps())
    end = run.go()
    assert (end.state, "missing" in end.message) == ("failed", True)


def test_a_failed_step_still_gives_what_it_has() -> None:
    found = replace(BROKEN, result={"stderr": "line 3"})
    run = MemoryRun(
        plan(
            step("test", on_failure="fix", capture={"why": "${{ result.stderr }}", "no": "${{ result.no }}"}),
            step("fix", with_args={"cmd": "${{ context.why }}"}),
        ),
        ScriptedSteps({"test": [found]}),
    )
    assert run.go().captured == {"why": "line 3"}


def test_a_loop_visits_are_instances_of_their_own() -> None:
    steps = ScriptedSteps({"test": [BROKEN, BROKEN, outcome("success")]})
    run = MemoryRun(plan(step("test", on_failure="fix"), step("fix", to="test")), steps)
    run.go()
    assert [one.path for one in run.entries()] == ["test", "fix", "test@2", "fix@2", "test@3"]
    assert len({one.key for one in steps.tasks}) == 5


def test_a_loop_without_an_end_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("checkrein.recipes.interpreter.MOST_VISITS", 20)
    run = MemoryRun(plan(step("a", "route", None, "a")), ScriptedSteps())
    assert run.go().is_failure


def test_stop_ends_the_run_with_its_message() -> None:
    run = MemoryRun(
        plan(
            step("work", on_failure="escalate_stop"),
            step("escalate_stop", "stop", None, message="Look at ${{ inputs.task }}"),
            task="it",
        ),
        ScriptedSteps({"work": [BROKEN]}),
    )
    end = run.go()
    assert (end.state, end.message, end.is_failure) == ("stopped", "Look at it", True)


def test_constants_are_results() -> None:
    run = MemoryRun(plan(step("c", "constant", 7, capture={"n": "${{ result.value }}"})), ScriptedSteps())
    assert run.go().captured == {"n": 7}


def each(limit: int | None = None, **more: Any) -> PlanStep:
    inner = body(
        step(
            "build",
            to="check",
            with_args={"cmd": "make ${{ context.part }}"},
            capture={"out": "${{ result.out }}"},
        ),
        step("check"),
        name="each",
    )
    return step(
        "each",
        "foreach",
        "${{ inputs.parts }}",
        variable="part",
        limit=limit,
        bodies=(inner,),
        capture_list={"outs": "${{ result.out }}"},
        **more,
    )


@pytest.mark.parametrize("limit", [None, 1, 2])
def test_foreach_gives_each_item_its_body(limit: int | None) -> None:
    steps = ScriptedSteps({"build": [lambda task: outcome("success", out=task.arguments["cmd"])]})
    run = MemoryRun(plan(each(limit), parts=["a", "b", "c"]), steps)
    end = run.go()
    assert (end.state, end.captured) == ("done", {"outs": ["make a", "make b", "make c"]})
    assert [one.path for one in steps.tasks] == [
        f"each[{number}]/{name}" for number in range(3) for name in ("build", "check")
    ]


@pytest.mark.parametrize("limit", [None, 2])
def test_foreach_stops_after_an_item_that_failed(limit: int | None) -> None:
    steps = ScriptedSteps({"each[1]/build": [BROKEN], "build": [outcome("success", out="x")]})
    run = MemoryRun(plan(each(limit, on_failure="mend"), step("mend"), parts="a,b,c,d,e"), steps)
    assert run.go().state == "done"
    paths = [one.path for one in steps.tasks]
    assert "mend" in paths
    assert "each[4]/build" not in paths


def test_parallel_runs_every_branch_and_joins_what_they_captured() -> None:
    branches = tuple(
        body(step(name, capture={"found": "${{ result.found }}"}), name=name) for name in ("unit", "lint")
    )
    steps = ScriptedSteps({"unit": [outcome("success", found=1)], "lint": [outcome("success", found=2)]})
    run = MemoryRun(
        plan(step("checks", "parallel", None, bodies=branches, capture={"n": "${{ result.lint.found }}"})),
        steps,
    )
    assert run.go().captured == {"n": 2}
    assert [one.path for one in steps.tasks] == ["checks/unit/unit", "checks/lint/lint"]


def test_a_failed_branch_fails_the_step_after_all_have_ended() -> None:
    branches = (body(step("a"), name="a"), body(step("b"), name="b"))
    steps = ScriptedSteps({"a": [BROKEN]})
    run = MemoryRun(plan(step("both", "parallel", None, bodies=branches)), steps)
    end = run.go()
    assert (end.state, end.message) == ("failed", "both/a/a: it did not work")
    assert [one.step for one in steps.tasks] == ["a", "b"]


def test_a_confirm_waits_without_a_process_and_keeps_who_said_what() -> None:
    run = MemoryRun(
        plan(
            step("ask", "confirm", None, "go", on_failure="no", message="Ship ${{ inputs.v }}?"),
            step("go"),
            step("no"),
            v="1.2",
        ),
        ScriptedSteps(),
    )
    assert run.go().waits[0].shown == "Ship 1.2?"
    assert run.go().state == "waiting"
    assert len(run.quiet.rung) == 1, "people hear of it once"
    run.answers["ask", 1] = Answer(verdict="approve", by="ann", at=5.0)
    assert run.go().state == "done"
    asked, answered, _ = run.entries()
    assert (asked.shown, answered.by, answered.at, answered.shown) == ("Ship 1.2?", "ann", 5.0, "Ship 1.2?")


def test_a_rejected_confirm_takes_on_failure() -> None:
    run = MemoryRun(
        plan(step("ask", "confirm", None, "go", on_failure="no", message="?"), step("go"), step("no")),
        ScriptedSteps(),
    )
    run.answers["ask", 1] = Answer(verdict="reject", by="ann", at=5.0)
    run.go()
    assert run.entries()[-1].path == "no"


def test_a_branch_that_waits_makes_its_parent_wait_and_the_others_go_on() -> None:
    branches = (
        body(step("ask", "confirm", None, message="?"), name="a"),
        body(step("b"), name="b"),
    )
    steps = ScriptedSteps()
    run = MemoryRun(plan(step("both", "parallel", None, bodies=branches)), steps)
    end = run.go()
    assert (end.state, end.waits[0].branches) == ("waiting", ("both/a",))
    assert [one.step for one in steps.tasks] == ["b"]
    run.answers["both/a/ask", 1] = Answer(verdict="approve", by="ann", at=1.0)
    assert run.go().state == "done"
    assert len(steps.tasks) == 1


def test_a_long_wait_leaves_and_a_short_one_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    moment = [1000.0]
    monkeypatch.setattr("checkrein.base.clock.now", lambda: moment[0])
    run = MemoryRun(plan(step("rest", "wait", None, with_args={"seconds": "3600"})), ScriptedSteps())
    assert run.go().waits[0].until == 4600.0
    moment[0] = 4599.99
    assert run.go().state == "done"


@pytest.mark.parametrize(
    "given", [{"seconds": "soon"}, {"until": "then"}, {}, {"seconds": "${{ inputs.no }}"}]
)
def test_a_wait_without_a_time_is_a_failure(given: dict[str, Any]) -> None:
    run = MemoryRun(plan(step("rest", "wait", None, with_args=given)), ScriptedSteps())
    assert run.go().state == "failed"


def test_a_wait_may_name_the_moment() -> None:
    run = MemoryRun(
        plan(step("rest", "wait", None, with_args={"until": "2100-01-01T00:00:00Z"})), ScriptedSteps()
    )
    assert run.go().waits[0].until == 4102444800.0


def test_a_pause_stands_before_the_next_step() -> None:
    run = MemoryRun(plan(step("a")), ScriptedSteps())
    run.wanted = "pause"
    assert run.go().waits[0].kind == "pause"
    run.wanted = None
    assert run.go().state == "done"


def test_a_quota_pauses_and_costs_no_retry() -> None:
    later = Outcome(state="later", reason="quota_reached", pause=0.01)
    run = MemoryRun(plan(step("a", retries=0)), ScriptedSteps({"a": [later, later, outcome("success")]}))
    assert run.go().state == "done"


def long_command() -> str:
    return "x" * 500


@pytest.mark.parametrize("crash_at", range(1, 12))
def test_the_retry_budget_is_counted_across_restarts(crash_at: int) -> None:
    steps = ScriptedSteps({"work": [outcome("again")]})
    run = MemoryRun(
        plan(step("work", retries=3, with_args={"cmd": long_command()}, on_exhausted="end"), step("end")),
        steps,
    )
    run.crash_at = crash_at
    for _ in range(3):
        try:
            run.go()
        except Crash:
            continue
    assert [one.state for one in run.entries()] == ["again"] * 4 + ["success"]


WHOLE = plan(
    step("first", to="both", capture={"x": "${{ result.success }}"}),
    step(
        "both",
        "parallel",
        None,
        "each",
        bodies=(
            body(step("a", to="a2"), step("a2", effect="keyed"), name="left"),
            body(step("b", retries=1), name="right"),
        ),
    ),
    each(2, to="last", skipped_to="last"),
    step("last", effect="keyed"),
    parts=["p", "q", "r"],
)


def script() -> ScriptedSteps:
    def second(task: Task) -> Outcome:
        return outcome("again" if task.attempt == 1 else "success")

    return ScriptedSteps({"build": [outcome("success", out="o")], "b": [second]})


def test_a_kill_at_any_moment_gives_the_same_journal() -> None:
    whole = MemoryRun(WHOLE, script())
    assert whole.go().state == "done"
    for crash_at in range(1, whole.operations + 1):
        run = MemoryRun(WHOLE, script())
        run.crash_at = crash_at
        with pytest.raises(Crash):
            run.go()
        assert run.go().state == "done"
        assert run.journals == whole.journals, crash_at


@pytest.mark.parametrize(("verdict", "way"), [("done", "done"), ("failed", "failed"), ("again", "done")])
def test_a_once_effect_never_runs_twice_by_itself(verdict: Any, way: str) -> None:
    """At every point of a crash the effect ran at most once, and only a person lets it run again."""
    asked = 0
    for crash_at in range(1, 6):
        steps = ScriptedSteps()
        run = MemoryRun(plan(step("pay", effect="once")), steps)
        run.crash_at = crash_at
        with contextlib.suppress(Crash):
            run.go()
        run.crash_at = None
        before = len(steps.tasks)
        end = run.go()
        if end.state != "waiting":
            assert len(steps.tasks) == 1
            continue
        asked += 1
        assert (end.waits[0].kind, len(steps.tasks)) == ("reconcile", before)
        run.answers["pay", 1] = Answer(verdict=verdict, by="ann", at=1.0)
        assert run.go().state == way
        assert len(steps.tasks) == before + (verdict == "again")
    assert asked


def test_a_campaign_runs_other_recipes_and_reads_what_they_captured() -> None:
    inner = plan(step("work", capture={"pr": "${{ result.pr }}"}))
    steps = ScriptedSteps({"one/work": [outcome("success", pr=7)], "two/work": [outcome("success", pr=8)]})
    campaign = replace(
        plan(
            step("one", "dispatch", "inner", "two", capture={"pr": "${{ result.pr }}"}),
            step("two", "dispatch", "inner", with_args={"task": "after ${{ campaign.pr }}"}),
        ),
        is_campaign=True,
    )
    run = MemoryRun(campaign, steps, recipes={"inner": inner})
    assert run.go().state == "done"
    assert run.branches["two"].plan is not None
    assert run.branches["two"].plan["inputs"] == {"task": "after 7"}
    assert [one.path for one in steps.tasks] == ["one/work", "two/work"]


def test_a_campaign_fails_with_a_recipe_that_is_missing_or_fails() -> None:
    inner = plan(step("work"))
    for name, script in (("inner", {"work": [BROKEN]}), ("other", {})):
        run = MemoryRun(plan(step("one", "dispatch", name)), ScriptedSteps(script), recipes={"inner": inner})
        assert run.go().is_failure

"""The graph of a recipe's steps: edges, reachability, skips, cycles; facts where paths join; blocks."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.base.origin import Origin, Span
from checkrein.model.recipe import Arm, Branch, Recipe, Step
from checkrein.passes.recipes.blocks import blocks
from checkrein.passes.recipes.dataflow import dead_outputs, invalidated, needed
from checkrein.passes.recipes.flow_graph import AHEAD, Flow, flows, not_around
from checkrein.passes.recipes.path_facts import compared, equalities, facts_at

PLACE = Origin("recipe.yaml", "project", Span(1))


def step(name: str, kind: str = "tool", *, arms: dict[str, str] | None = None, **fields: Any) -> Step:
    """A step whose written fields have places; `arms` are routes to their conditions."""
    made = tuple(Arm(route=route, when=when or None, origin=PLACE) for route, when in (arms or {}).items())
    subject = fields.pop("subject", "test_check" if kind == "tool" else None)
    spans = {field: Span(1) for field in fields}
    return Step(name=name, kind=kind, origin=PLACE, subject=subject, on_result=made, spans=spans, **fields)  # type: ignore[arg-type]


def edges(flow: Flow, name: str) -> set[tuple[str, str]]:
    return {(edge.kind, edge.target) for edge in flow.written[name]}


def test_a_tool_has_all_ways_out() -> None:
    one = step("a", on_success="b", on_failure="c", on_context_limit="d", on_exhausted="e")
    flow = Flow([one, *(step(name, "stop") for name in "bcde")])
    assert edges(flow, "a") == {
        ("success", "b"),
        ("failure", "c"),
        ("context_limit", "d"),
        ("exhausted", "e"),
    }
    assert flow.reach(flow.starts) == {*"abcde"}


def test_a_missing_route_is_the_step_below_and_the_end() -> None:
    flow = Flow([step("a"), step("b")])
    assert ("success", "b") in edges(flow, "a")
    assert ("success", "done") in edges(flow, "b")
    assert {edge.is_written for edge in flow.written["a"]} == {False}


@pytest.mark.parametrize("kind", ["route", "confirm", "wait"])
def test_actions_are_never_exhausted(kind: str) -> None:
    flow = Flow([step("a", kind, on_success="done")])
    assert not {edge.kind for edge in flow.written["a"]} & {"exhausted", "context_limit"}


def test_a_stop_leads_nowhere() -> None:
    assert Flow([step("a", "stop"), step("b")]).reach(["a"]) == {"a"}


def test_a_sub_recipe_leads_to_the_step_below_too() -> None:
    flow = Flow([step("a", "sub_recipe", subject="x", on_success="c"), step("b"), step("c")])
    assert {("success", "c"), ("next", "b")} <= edges(flow, "a")


def test_a_skipped_step_is_left_out_with_all_in_a_row() -> None:
    chain = [step("a"), step("b", skip_when_false="x"), step("c", skip_when_false="y"), step("d")]
    flow = Flow(chain)
    assert flow.after("a", stop={"b", "c"}) >= {"b", "c", "d"}
    assert "d" not in flow.after("a", stop={"b", "c"}, follow=not_around({"b", "c"}))
    assert "d" not in flow.after("a", stop={"c"}, follow=not_around({"c"}))
    assert flow.before("d") == {"a", "b", "c"}


def test_an_entry_may_be_skipped() -> None:
    flow = Flow([step("a", skip_when_false="x", on_failure="c"), step("b"), step("c")])
    assert flow.reach(flow.starts, stop={"a"}) == {"a", "b", "c", "done", "escalate"}


def test_many_steps_that_may_be_skipped_stay_cheap() -> None:
    flow = Flow([step(f"s{number}", skip_when_false="x") for number in range(2_000)])
    assert sum(map(len, flow.out.values())) < 40_000
    assert len(flow.reach(flow.starts)) == 2_002


def test_cycles_are_groups() -> None:
    flow = Flow(
        [
            step("a", on_success="b"),
            step("b", on_success="c", on_failure="a"),
            step("c", on_success="c"),
            step("d", on_success="done"),
        ]
    )
    assert set(flow.cycles) == {frozenset("ab"), frozenset("c")}


def test_a_long_chain_needs_no_stack() -> None:
    flow = Flow([step(f"s{number}") for number in range(1_500)])
    assert flow.cycles == ()


def test_bodies_are_flows_of_their_own() -> None:
    body = Branch(name="body", steps=(step("inner"),), origin=PLACE)
    outer = step("outer", "foreach", subject="${{ context.list }}", branches=(body,))
    recipe = Recipe(name="r", origin=PLACE, steps=(outer,))
    found = list(flows(recipe))
    assert [list(flow.steps) for flow in found] == [["outer"], ["inner"]]
    assert found[1].owner is outer


def test_a_fact_survives_where_all_paths_agree() -> None:
    flow = Flow(
        [
            step("a", arms={"b": "${{ result.v }} == go", "c": "${{ result.v }} == go and ${{ inputs.x }}"}),
            step("b", on_success="d"),
            step("c", on_success="d"),
            step("d"),
        ]
    )
    known = facts_at(flow)
    assert known["b"] == frozenset()
    captured = Flow(
        [step("a", capture={"v": "${{ result.v }}"}, arms={"b": "${{ result.v }} == go"}), step("b")]
    )
    assert {(str(one), value) for one, value in facts_at(captured)["b"]} == {("context.v", "go")}


def test_contradictory_conditions_lead_nowhere() -> None:
    look = {"b": "${{ context.v }} == go", "c": ""}
    again = {"dead": "${{ context.v }} == stop", "d": ""}
    flow = Flow(
        [
            step("a", "route", arms=look),
            step("b", "route", arms=again),
            step("c", on_success="d"),
            step("dead"),
            step("d"),
        ]
    )
    assert "dead" not in facts_at(flow)
    assert "dead" in flow.reach(flow.starts)
    joined = Flow([*list(flow.steps.values())[:2], step("c", on_success="b"), step("dead"), step("d")])
    assert "dead" in facts_at(joined)


def test_numbers_in_two_spellings_do_not_contradict() -> None:
    flow = Flow(
        [
            step("a", "route", arms={"b": "${{ context.n }} == 1", "end": ""}),
            step("b", "route", arms={"c": "${{ context.n }} == 1.0", "end": ""}),
            step("c"),
            step("end", "stop"),
        ]
    )
    assert "c" in facts_at(flow)


def test_comparisons() -> None:
    when = "${{ result.a }} == x or ${{ result.b | trim }} == 'y'"
    assert {(str(one), value) for one, value in compared(when)} == {("result.a", "x"), ("result.b", "y")}
    assert equalities(when) == ()
    assert compared("${{ result.a }} != x") == ()
    assert compared("${{ nonsense") == ()


def test_a_value_that_nobody_reads_is_dead() -> None:
    read = step("use", with_args={"cmd": "${{ context.a }}"}, on_success="done")
    flow = Flow([step("make", capture={"a": "${{ result.a }}", "b": "${{ result.b }}"}), read])
    assert [(one.name, dead.variable) for one, dead in dead_outputs(flow)] == [("make", "b")]
    assert list(dead_outputs(flow, {"b"})) == []


@pytest.mark.parametrize(
    "reader",
    [
        {"with_args": {"list": [{"deep": "${{ context.a }}"}]}},
        {"message": "${{ context.a }}"},
        {"arms": {"done": "${{ context.a }} == 1"}},
        {"kind": "foreach", "subject": "${{ context.a }}"},
        {"capture": {"b": "${{ context.a }} ${{ result.b }}"}},
    ],
)
def test_every_field_reads(reader: dict[str, Any]) -> None:
    flow = Flow([step("make", capture={"a": "${{ result.a }}"}), step("use", **reader)])
    assert list(dead_outputs(flow)) == []


def test_a_reader_above_reads_only_in_a_loop() -> None:
    use = step("use", with_args={"cmd": "${{ context.a }}"})
    make = step("make", capture={"a": "${{ result.a }}"}, on_success="last")
    assert [dead.variable for _, dead in dead_outputs(Flow([use, make, step("last", "stop")]))] == ["a"]
    again = step("make", capture={"a": "${{ result.a }}"}, on_success="use")
    assert list(dead_outputs(Flow([use, again]))) == []


def test_routes_by_the_result_use_it() -> None:
    make = step("make", capture={"a": "${{ result.a }}"}, arms={"use": "${{ result.a }} == 1", "done": ""})
    assert list(dead_outputs(Flow([make, step("use")]))) == []


def worktree(*later: Step, **fields: Any) -> Flow:
    capture = {"tree": "${{ result.worktree_path }}", "branch": "${{ result.branch_name }}"}
    merge = step(
        "merge", subject="merge_worktree", with_args={"worktree_path": "${{ context.tree }}", **fields}
    )
    return Flow([step("build", capture=capture), merge, *later])


def test_what_a_merge_removes_is_stale() -> None:
    flow = worktree(step("use", with_args={"cmd": "ls ${{ context.tree }} ${{ context.branch }}"}))
    assert sorted(one.read.reference.name for one in invalidated(flow)) == ["branch", "tree"]


def test_a_new_worktree_is_not_stale() -> None:
    again = step("again", capture={"tree": "${{ result.worktree_path }}"})
    assert not [
        one
        for one in invalidated(worktree(again, step("use", with_args={"cmd": "ls ${{ context.tree }}"})))
        if one.step.name == "use"
    ]


def test_a_failed_merge_removes_nothing() -> None:
    capture = {"tree": "${{ result.worktree_path }}"}
    given = {"worktree_path": "${{ context.tree }}"}
    routes = {"mend": "${{ result.failed_step }} == rebase", "done": ""}
    merge = step("merge", subject="merge_worktree", with_args=given, arms=routes, on_failure="mend")
    mend = step("mend", with_args={"cmd": "ls ${{ context.tree }}"}, on_success="merge")
    assert list(invalidated(Flow([step("build", capture=capture), merge, mend]))) == []


def test_another_worktree_stays() -> None:
    other = step("other", capture={"two": "${{ result.worktree_path }}"})
    flow = worktree(step("use", with_args={"cmd": "ls ${{ context.two }}"}))
    whole = Flow([other, *flow.steps.values()])
    assert list(invalidated(whole)) == []


def test_a_message_may_name_what_is_gone() -> None:
    assert list(invalidated(worktree(step("end", "stop", message="Merged ${{ context.branch }}")))) == []


def test_a_kept_clone_stays() -> None:
    make = step("make", capture={"clone": "${{ result.clone_path }}"})
    use = step("use", with_args={"cmd": "ls ${{ context.clone }}"})
    for keep, count in (("true", 0), ("false", 1)):
        given = {"clone_path": "${{ context.clone }}", "keep": keep}
        remove = step("remove", subject="remove_clone", with_args=given)
        assert len(list(invalidated(Flow([make, remove, use])))) == count


def test_own_routes_may_read_own_captures() -> None:
    one = step("a", capture={"v": "${{ result.v }}"}, arms={"done": "${{ context.v }} == ${{ context.w }}"})
    assert needed(one) == {"w"}


def test_a_body_knows_its_item_and_its_own_variables() -> None:
    inner = (
        step("one", capture={"a": "${{ result.a }}"}, with_args={"cmd": "${{ context.part }}"}),
        step("two", with_args={"cmd": "${{ context.a }} ${{ context.outer }}"}),
    )
    each = step(
        "each",
        "foreach",
        subject="${{ context.parts }}",
        variable="part",
        branches=(Branch(name="body", steps=inner, origin=PLACE),),
    )
    assert needed(each) == {"parts", "outer"}


def test_blocks() -> None:
    flow = Flow(
        [
            step("in", block="x"),
            step("loop", block="x", on_success="out", on_failure="in"),
            step("out", block="x", on_success="free"),
            step("free"),
        ]
    )
    (block,) = blocks(flow)
    assert [one.name for one in block.entries] == ["in"]
    assert [one.name for one in block.exits] == ["out"]


def test_the_first_edges_can_be_narrowed() -> None:
    flow = Flow([step("a", on_success="b", on_failure="c"), step("b", "stop"), step("c", "stop")])
    assert flow.after("a", first=AHEAD) == {"b"}
    assert flow.after("a", first=("failure",)) == {"c"}

"""Loops without an end."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.flow_graph import Flow

_AHEAD = frozenset(("success", "result", "next"))


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            for cycle in flow.cycles:
                yield from _judged(flow, cycle)


def _judged(flow: Flow, cycle: frozenset[str]) -> Iterator[Finding]:
    leaving = [edge for name in cycle for edge in flow.out[name] if edge.target not in cycle]
    if any(edge.kind in _AHEAD for edge in leaving):
        return
    first = next(name for name in flow.steps if name in cycle)
    shown = " -> ".join((*(name for name in flow.steps if name in cycle), first))
    retried = any(edge.kind == "exhausted" and edge.is_written for name in cycle for edge in flow.out[name])
    origin = flow.steps[first].origin
    if retried or any(edge.is_written for edge in leaving):
        yield Finding(origin=origin, message=f"{shown}: only a failure ends this loop", severity="warning")
    else:
        yield Finding(origin=origin, message=f"{shown}: nothing ends this loop")


CHECK = Check(
    code="RCP070",
    name="unbounded-cycle",
    severity="error",
    summary="Steps lead back to each other, and nothing ends the loop but a failure.",
    why="The run goes round until somebody cancels it, and every round costs.",
    hint="Add a route out of the loop for success, or count the rounds with a condition in `on_result`.",
    bad=example(
        """
        check: {tool: test_check, with: {worktree_path: .}, on_success: again, on_failure: again}
        again: {action: wait, with: {seconds: 60}, on_success: check, on_failure: check}
        """
    ),
    good=example(
        """
        check: {tool: test_check, with: {worktree_path: .}, on_success: done, on_failure: again}
        again: {action: wait, with: {seconds: 60}, on_success: check}
        """
    ),
    run=run,
)

"""Captured values that nobody reads."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.dataflow import dead_outputs


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        if case.recipe.is_sub_recipe:
            continue
        for flow in case.flows:
            for step, capture in dead_outputs(flow, case.read_outside(flow)):
                message = f"`{step.name}` captures `{capture.variable}`, and no later step reads it"
                yield Finding(origin=step.where(capture.field), message=message)


CHECK = Check(
    code="RCP063",
    name="dead-output",
    severity="error",
    summary="A step captures a variable that no later step reads.",
    why="The work behind the value is lost: the next step does not get it, and finds out by "
    "itself or does without.",
    hint="Read it as `${{ context.NAME }}` in a later step, or remove the capture.",
    bad=example(
        """
        commit: {tool: run_cmd, with: {cmd: "echo sha=1", cwd: .}, capture: {sha: "${{ result.sha }}"}}
        check: {tool: test_check, with: {worktree_path: .}}
        """
    ),
    good=example(
        """
        commit: {tool: run_cmd, with: {cmd: "echo sha=1", cwd: .}, capture: {sha: "${{ result.sha }}"}}
        check: {tool: test_check, with: {worktree_path: "work/${{ context.sha }}"}}
        """
    ),
    run=run,
)

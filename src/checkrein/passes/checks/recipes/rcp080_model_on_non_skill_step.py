"""Models for steps that use none."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.model.recipe import RUN_SKILL
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            if step.model is not None and step.tool != RUN_SKILL:
                yield Finding(
                    origin=step.where("model"), message=f"`{step.name}` names a model and runs no skill"
                )


CHECK = Check(
    code="RCP080",
    name="model-on-non-skill-step",
    severity="warning",
    summary="A step names a model and runs no skill.",
    why="Only `run_skill` starts a model; the field does nothing here.",
    hint="Remove `model`.",
    bad=example("check: {tool: test_check, with: {worktree_path: .}, model: opus}"),
    good=example("look: {tool: run_skill, with: {skill_command: /review-changes, cwd: .}, model: opus}"),
    run=run,
)

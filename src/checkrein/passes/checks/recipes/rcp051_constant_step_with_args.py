"""Constants with arguments."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            if step.kind == "constant" and step.with_args:
                yield Finding(
                    origin=step.where("with"), message=f"`{step.name}` is a constant and takes no `with`"
                )


CHECK = Check(
    code="RCP051",
    name="constant-step-with-args",
    severity="error",
    summary="A constant step has `with`.",
    why="A constant is its value; nothing reads the arguments.",
    hint="Remove `with`, or make the step one that takes arguments.",
    bad=example("mode: {constant: fast, with: {level: 2}}"),
    good=example("mode: {constant: fast}"),
    run=run,
)

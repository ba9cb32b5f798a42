"""Pushes to whatever the clone calls its remote."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.calls("push_to_remote"):
            if step.with_args.get("remote_url") in (None, ""):
                yield Finding(origin=step.where("tool"), message=f"`{step.name}` pushes without `remote_url`")


CHECK = Check(
    code="RCP094",
    name="push-missing-explicit-remote-url",
    severity="warning",
    summary="A push does not name the remote's address.",
    why="In the clone of a run `origin` is the clone itself. Without `remote_url` a push depends "
    "on what `upstream` is there.",
    hint="Capture `remote_url` of `clone_repo`, and pass it.",
    bad=example("publish: {tool: push_to_remote, with: {clone_path: ., branch: work}}"),
    good=example(
        "publish: {tool: push_to_remote, with: {clone_path: ., branch: work, remote_url: 'https://example.com/r.git'}}"
    ),
    run=run,
)

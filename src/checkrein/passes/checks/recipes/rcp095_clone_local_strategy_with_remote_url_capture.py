"""Addresses that a local clone need not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import SOURCE, example
from checkrein.passes.recipes.dataflow import result_field

_STEPS = """
clone:
  tool: clone_repo
  with: {source_dir: "${{ inputs.source_dir }}", run_name: work, strategy: WAY}
  capture: {url: "${{ result.remote_url }}"}
end: {action: stop, message: "From ${{ context.url }}"}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.calls("clone_repo"):
            if step.with_args.get("strategy") != "clone_local" or step.with_args.get("remote_url"):
                continue
            for variable, text in step.capture.items():
                if result_field(text) == "remote_url":
                    message = f"`{step.name}` clones locally, so `{variable}` may be empty"
                    yield Finding(origin=step.where(f"capture.{variable}"), message=message)


CHECK = Check(
    code="RCP095",
    name="clone-local-strategy-with-remote-url-capture",
    severity="warning",
    summary="A step clones the local repository and captures its remote's address.",
    why="`clone_local` works without a remote. The address is then empty, and the push that uses it fails.",
    hint="Leave `strategy` out, or give `remote_url` to `clone_repo`.",
    bad=example(_STEPS.replace("WAY", "clone_local"), top=SOURCE),
    good=example(_STEPS.replace("WAY", "proceed"), top=SOURCE),
    run=run,
)

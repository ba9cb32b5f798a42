"""Pushes that a remote refuses."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import literal
from checkrein.passes.recipes.case import is_true
from checkrein.passes.recipes.flow_graph import AHEAD
from checkrein.passes.recipes.shell_text import rebases

_STEPS = """
renew:
  tool: run_cmd
  with: {{cmd: git rebase upstream/main, cwd: .}}
publish:
  tool: push_to_remote
  with: {{clone_path: ., branch: work, remote_url: "https://example.com/r.git"{force}}}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for flow in case.flows:
            rewriting = case.named(flow, skills=rule_facts().skills.rebases)
            rewriting |= {step.name for held, step, text in case.commands() if held is flow and rebases(text)}
            pushes, merges = (
                case.named(flow, tools=["push_to_remote"]),
                case.named(flow, tools=["merge_worktree"]),
            )
            for name in sorted(rewriting):
                for push in sorted(pushes & flow.after(name, first=AHEAD, stop=pushes | merges)):
                    step = flow.steps[push]
                    force = step.with_args.get("force")
                    if force in (None, "") or (literal(force) and not is_true(force)):
                        message = f"`{push}` pushes without `force` what `{name}` has rebased"
                        yield Finding(origin=step.where("tool"), message=message)


CHECK = Check(
    code="RCP052",
    name="rebase-then-push-requires-force",
    severity="error",
    summary="A push after a rebase does not use `force`.",
    why="The rebase wrote the branch's history again, so the remote refuses the push as no fast-forward.",
    hint='Add `force: "true"` to the push behind the rebase.',
    bad=example(_STEPS.format(force="")),
    good=example(_STEPS.format(force=", force: true")),
    run=run,
)

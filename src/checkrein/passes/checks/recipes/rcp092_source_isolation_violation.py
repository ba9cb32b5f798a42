"""Changes in a person's own repository."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.kitchen import kitchen_tools
from checkrein.facts.kitchen_calls import ARGUMENTS, READING
from checkrein.facts.recipe_rules import rule_facts
from checkrein.model.recipe import RUN_SKILL
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import SOURCE, example

_STEPS = """
clone:
  tool: clone_repo
  with: {source_dir: "${{ inputs.source_dir }}", run_name: work}
  capture: {clone_path: "${{ result.clone_path }}"}
clean: {tool: reset_workspace, with: {test_dir: "${{ PLACE }}"}}
end: {action: stop, message: "See ${{ context.clone_path }}"}
"""


_PLACES = ("cwd", "worktree_path", "clone_path", "test_dir")
_JUDGED_ELSEWHERE = ("clone_repo", "run_cmd", RUN_SKILL)


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.steps:
            place = case.is_in_source(step, *_PLACES)
            if place is None or step.tool not in kitchen_tools():
                continue
            one = case.skill(step)
            if one is not None and one.changes_files:
                is_worktree = one.name in rule_facts().skills.worktree
                message = f"`{step.name}` lets `{one.name}` write into a person's own repository"
                yield Finding(
                    origin=step.where(f"with.{place}"),
                    message=message,
                    severity="error" if is_worktree else "warning",
                )
            elif step.tool not in READING and step.tool not in _JUDGED_ELSEWHERE and step.tool in ARGUMENTS:
                message = f"`{step.name}` calls `{step.tool}` in a person's own repository"
                yield Finding(origin=step.where(f"with.{place}"), message=message)


CHECK = Check(
    code="RCP092",
    name="source-isolation-violation",
    severity="error",
    summary="A step changes the repository that a person works in, instead of a clone.",
    why="The run's changes mix with those of the person, and a failure leaves them there.",
    hint="Clone the repository first, and pass the clone's path.",
    bad=example(_STEPS.replace("PLACE", "inputs.source_dir"), top=SOURCE),
    good=example(_STEPS.replace("PLACE", "context.clone_path"), top=SOURCE),
    run=run,
)

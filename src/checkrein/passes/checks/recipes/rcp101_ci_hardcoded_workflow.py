"""Workflows that only this repository has."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.checks.recipe_cases import literal

_TOP = "ingredients: {workflow: {description: The workflow}, event: {description: The event}}\n"
_STEPS = """
watch:
  tool: wait_for_ci
  with: {branch: work, event: "${{ inputs.event }}", workflow: "WORKFLOW"}
end: {action: stop, message: "Ran ${{ inputs.workflow }}"}
"""


def run(subject: Subject) -> Iterator[Finding]:
    for case in subject.cases:
        for _, step in case.calls(*rule_facts().tools.ci):
            if literal(step.with_args.get("workflow")):
                message = f"`{step.name}` names the workflow `{step.with_args['workflow']}`"
                yield Finding(origin=step.where("with.workflow"), message=message)


CHECK = Check(
    code="RCP101",
    name="ci-hardcoded-workflow",
    severity="warning",
    summary="A step names a workflow in the recipe itself.",
    why="The recipe fails, or waits in vain, in a repository whose workflow has another name.",
    hint="Make the workflow an ingredient, or leave it out: `ci.workflow` of the configuration counts.",
    bad=example(_STEPS.replace("WORKFLOW", "tests.yml"), top=_TOP),
    good=example(_STEPS.replace("WORKFLOW", "${{ inputs.workflow }}"), top=_TOP),
    run=run,
)

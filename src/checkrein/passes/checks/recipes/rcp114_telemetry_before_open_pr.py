"""Pull requests without the numbers that the recipe collects."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.recipe_rules import rule_facts
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.kitchen_examples import example
from checkrein.passes.recipes.flow_graph import not_around

_OPEN = "open: {tool: run_skill, with: {skill_command: /open-pull-request, cwd: .}}\n"
_COLLECT = "collect: {tool: write_telemetry_files, with: {output_dir: out}}\n"


def run(subject: Subject) -> Iterator[Finding]:
    facts = rule_facts()
    for case in subject.cases:
        for flow in case.flows:
            collecting = case.named(flow, tools=facts.tools.telemetry)
            for name in sorted(case.named(flow, skills=facts.skills.opens_pull) if collecting else ()):
                early = flow.reach(flow.starts, stop=collecting, follow=not_around(collecting))
                if name in early and flow.after(name) & collecting:
                    message = (
                        f"`{name}` can open the pull request before the numbers of the run are collected"
                    )
                    yield Finding(origin=flow.steps[name].where("with.skill_command"), message=message)


CHECK = Check(
    code="RCP114",
    name="telemetry-before-open-pr",
    severity="warning",
    summary="A pull request can be opened before the step that collects the run's numbers.",
    why="The recipe collects tokens and times, but on that path the pull request does not show them.",
    hint="Collect them before the step that opens the pull request.",
    bad=example(_OPEN + _COLLECT),
    good=example(_COLLECT + _OPEN),
    run=run,
)

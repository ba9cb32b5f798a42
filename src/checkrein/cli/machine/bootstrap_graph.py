"""`checkrein machine bootstrap-graph`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.stages import Graph

COMMAND = args.verb(
    "bootstrap-graph",
    "List the stages of a start and the result of each here; nothing is started.",
    args=(args.PROJECT, args.MODEL),
    payload=Graph,
    errors=("project_not_found",),
)


def run(project: str, model: str | None) -> Outcome:
    from checkrein.protocol.machine.setup import Setup
    from checkrein.protocol.machine.stages import graph

    found, warnings = graph(Setup(project=project, model=model))

    def text() -> str:
        lines = ["# Bootstrap Graph", ""]
        for stage in found.stages:
            told = f": {stage.found}" if stage.found else ""
            lines.append(f"- {stage.title} [{stage.status}]{told}")
        return "\n".join([*lines, "", found.note, f"Verdict: {found.verdict}"])

    return Outcome(data=found, text=text, warnings=warnings)

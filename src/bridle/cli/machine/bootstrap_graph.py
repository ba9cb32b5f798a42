"""`bridle machine bootstrap-graph`."""

from __future__ import annotations

from bridle.cli.machine import args
from bridle.cli.registry import Outcome
from bridle.protocol.machine.stages import Graph

COMMAND = args.verb(
    "bootstrap-graph",
    "List the stages of a start and how each goes here; nothing is started.",
    args=(args.PROJECT, args.MODEL),
    payload=Graph,
    errors=("project_not_found",),
)


def run(project: str, model: str | None) -> Outcome:
    from bridle.protocol.machine.setup import Setup
    from bridle.protocol.machine.stages import graph

    found, warnings = graph(Setup(project=project, model=model))

    def text() -> str:
        lines = ["# Bootstrap Graph", ""]
        for stage in found.stages:
            told = f": {stage.found}" if stage.found else ""
            lines.append(f"- {stage.title} [{stage.status}]{told}")
        return "\n".join([*lines, "", found.note, f"Verdict: {found.verdict}"])

    return Outcome(data=found, text=text, warnings=warnings)

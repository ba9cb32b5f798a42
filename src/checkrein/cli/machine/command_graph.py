"""`checkrein machine command-graph`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.pool import CommandGraph

COMMAND = args.verb(
    "command-graph",
    "List the commands by their source.",
    args=(args.PROJECT,),
    payload=CommandGraph,
    errors=("project_not_found",),
)


def run(project: str) -> Outcome:
    from checkrein.protocol.machine.pool import command_graph
    from checkrein.protocol.machine.project import load_project

    found = command_graph(load_project(project))

    def text() -> str:
        heads = (
            ("Builtins", found.builtins),
            ("Plugin-like commands", found.plugin_like),
            ("Skill-like commands", found.skill_like),
        )
        lines = ["# Command Graph", ""]
        for title, entries in heads:
            lines.append(f"{title}: {len(entries)}")
            lines += [f"- {entry.name} ({entry.source_hint})" for entry in entries]
        return "\n".join(lines)

    return Outcome(data=found, text=text)

"""`checkrein machine route`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.route import Routed

COMMAND = args.verb(
    "route",
    "Find the commands, skills and tools that a prompt mentions, with scores and reasons.",
    args=(args.PROMPT, args.LIMIT, args.PROJECT),
    payload=Routed,
    errors=("project_not_found", "stdin_closed", "input_too_large"),
)


def run(prompt: str, limit: int, project: str) -> Outcome:
    from checkrein.protocol.machine.inventory import commands, tools
    from checkrein.protocol.machine.project import load_project
    from checkrein.protocol.machine.route import route

    said = args.text_of(prompt, "prompt")
    found = route(said, [*commands(load_project(project)), *tools(project)], limit)

    def text() -> str:
        rows = (f"{m.kind}\t{m.name}\t{m.score}\t{m.source_hint}" for m in found.matches)
        return "\n".join(rows) or "Nothing matches the prompt."

    return Outcome(data=found, text=text)

"""Permission modes of agents that the mode of the session replaces."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.facts.claude import PERMISSION_MODES
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import AGENT, SETTINGS, agent, document
from checkrein.policy.policy import LOOSER
from checkrein.policy.project import mode_of


def run(subject: Subject) -> Iterator[Finding]:
    chosen = mode_of(subject.project)
    if chosen.mode not in LOOSER or chosen.origin is None:
        return
    for resolved in subject.project.agents.values():
        item = resolved.item
        mode = item.permission_mode
        if mode is None or mode == chosen.mode or mode not in PERMISSION_MODES:
            continue
        origin = subject.find(item.where("permissionMode"), mode)
        message = (
            f"`permissionMode: {mode}` of the agent `{item.name}` has no effect: "
            f"sessions here start in the mode {chosen.mode}, and it holds for agents too"
        )
        yield Finding(origin=origin, message=message, related=(chosen.origin,))


CHECK = Check(
    code="CC043",
    name="agent-mode-without-effect",
    severity="warning",
    summary="The mode of the session replaces an agent's `permissionMode`.",
    why="Below a session in `acceptEdits`, `auto` or `bypassPermissions` every agent has that mode. An agent "
    "that should only plan may then edit.",
    hint="Limit the agent with `tools` and `disallowedTools`, or choose another `permissions.defaultMode`.",
    bad={
        AGENT: agent("permissionMode: plan"),
        SETTINGS: document({"permissions": {"defaultMode": "acceptEdits"}}),
    },
    good={
        AGENT: agent("tools: Read, Grep"),
        SETTINGS: document({"permissions": {"defaultMode": "acceptEdits"}}),
    },
    run=run,
)

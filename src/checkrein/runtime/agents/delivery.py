"""What the parent's model, people and programs learn of the end of a task."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.agents.task import AgentTask
from checkrein.runtime.session.events import BackgroundEnded, BackgroundStarted
from checkrein.runtime.tools.port import ToolOutput

_STATES = {
    "completed": "has completed",
    "failed": "has failed",
    "stopped": "was stopped before it was done",
    "running": "is running",
}
_JOINED = (
    "The teammate {0} works in the background now. When it has nothing to do, you get its last words, and it "
    "waits for messages: don't wait and don't ask. Go on with other work, or end your turn. Speak to it with "
    "SendMessage (to: {0}), end it with TaskStop."
)
_LAUNCHED = (
    "The agent {0} works in the background now. You will get its report by yourself when it has ended: don't "
    "wait and don't ask for it. Go on with other work, or end your turn. Speak to it with SendMessage "
    "(to: {1}), end it with TaskStop."
)


def notification(task: AgentTask) -> str:
    """For the model: a report that arrives by itself."""
    kept = task.kept
    name = f"{task.id}, named {kept.name}" if kept.name else task.id
    head = f"The agent {name} ({kept.type}: {kept.description}) {_STATES[kept.state]}."
    return "\n".join(part for part in (head, *_body(task)) if part)


def _body(task: AgentTask) -> list[str]:
    kept = task.kept
    report = f"Its report:\n\n{kept.report}\n" if kept.report else "It left no report."
    place = f"Its worktree is kept, with its changes: {kept.worktree}" if kept.worktree else ""
    return [kept.cut, report, place, task.after]


def began(task: AgentTask, prompt: str, depth: int) -> BackgroundStarted:
    """For people and programs: it works in the background."""
    kept = task.kept
    return BackgroundStarted(
        task.id,
        kept.call,
        kept.description,
        kind="local_agent",
        agent_type=kept.type,
        prompt=prompt,
        depth=depth,
    )


def ended(task: AgentTask) -> BackgroundEnded:
    """For people and programs."""
    kept = task.kept
    return BackgroundEnded(
        id=task.id,
        call_id=kept.call,
        status="killed" if kept.state == "stopped" else "failed" if kept.state == "failed" else "completed",
        summary=kept.report.strip().partition("\n")[0][:500] or kept.cut or task.words,
        path=task.path,
        duration_ms=task.duration_ms,
        kind="local_agent",
        tokens=task.usage.total,
        calls=task.calls,
    )


def launched(task: AgentTask, prompt: str, model: str) -> ToolOutput:
    """The answer to a call whose agent works in the background."""
    name = task.kept.name or task.id
    text = _JOINED.format(name) if task.life is not None else _LAUNCHED.format(task.id, name)
    structured = {
        "isAsync": True,
        "status": "async_launched",
        "agentId": task.id,
        "description": task.kept.description,
        "resolvedModel": model,
        "prompt": prompt,
        "outputFile": task.path,
        "canReadOutputFile": True,
        "canContinueAgent": True,
    }
    return ToolOutput(content=text, structured=structured)


def answered(task: AgentTask, prompt: str, *, continues: bool) -> ToolOutput:
    """The answer to a call whose agent has ended."""
    kept = task.kept
    report = kept.report or ("" if kept.cut else "(The agent gave no answer.)")
    after = f"\n\n(Agent {task.id}. SendMessage to it continues its work.)" if continues else ""
    place = f"\n\nIts worktree is kept, with its changes: {kept.worktree}" if kept.worktree else ""
    changed = f"\n\n{task.after}" if task.after else ""
    text = "\n\n".join(part for part in (kept.cut, report) if part) + place + changed
    structured: dict[str, Any] = {
        "status": "completed" if kept.state == "completed" else kept.state,
        "agentId": task.id,
        "agentType": kept.type,
        "content": [{"type": "text", "text": report}],
        "totalToolUseCount": task.calls,
        "totalDurationMs": task.duration_ms,
        "totalTokens": task.usage.total,
        "usage": usage_fields(task),
        "prompt": prompt,
    }
    return ToolOutput(
        content=text + after, structured=structured, is_error=kept.state != "completed", limit=len(text) + 500
    )


def usage_fields(task: AgentTask) -> dict[str, int]:
    usage = task.usage
    return {
        "input_tokens": usage.input,
        "output_tokens": usage.output,
        "cache_creation_input_tokens": usage.cache_creation,
        "cache_read_input_tokens": usage.cache_read,
    }

"""The subagents of a conversation as its tools know them: input in, output out."""

from __future__ import annotations

from typing import Any

from checkrein.runtime.agents.children import Children
from checkrein.runtime.agents.delivery import answered, launched
from checkrein.runtime.agents.task import AgentTask, Order
from checkrein.runtime.teams.mate import EVERYBODY
from checkrein.runtime.tools.delegate import Errand
from checkrein.runtime.tools.port import Aside, ToolContext, ToolFailure, ToolOutput

_DEFAULT_WAIT_MS = 30_000
_LONGEST_WAIT_MS = 600_000
_STOPPED = 2.0
_LABEL = 200


class ToolSide:
    """Implements `tools.delegate.Delegate`."""

    def __init__(self, children: Children) -> None:
        self._children = children

    def start(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        order = Order(
            description=_label(input["description"]),
            prompt=input["prompt"],
            type=input.get("subagent_type"),
            model=input.get("model"),
            name=_label(input.get("name") or "") or None,
            mode=input.get("mode"),
            background=input.get("run_in_background"),
            isolation=input.get("isolation"),
            team=input.get("team_name"),
        )
        task = self._children.start(order, _aside(context))
        if task.kept.background:
            return launched(task, order.prompt, self._children.model_of(task))
        return answered(task, order.prompt, continues=not self._children.kind_of(task).one_shot)

    def run_skill(self, errand: Errand, aside: Aside) -> ToolOutput:
        """In the foreground: whoever called the skill needs its report."""
        order = Order(
            description=f"the skill {errand.skill}",
            prompt=errand.text,
            type=errand.agent,
            model=errand.model,
            effort=errand.effort,
            allowed=errand.allowed,
        )
        return answered(self._children.carry_out(order, aside), errand.text, continues=False)

    def send(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        team = self._children.formation.team
        if team is not None and (input["to"] == EVERYBODY or team.has(input["to"])):
            return team.send(team.lead, input)
        found = self._children.find(input["to"])
        if found is not None and found.kept.team is not None and found.state == "running":
            raise ToolFailure(f"{input['to']} is about to end. Its report comes by itself.")
        task = self._children.send(_label(input["to"]), input["message"], _aside(context))
        if task.state == "running":
            text = f"The agent {task.id} has your message. Its report will come by itself."
            return ToolOutput(content=text, structured={"success": True, "agentId": task.id, "message": text})
        return answered(task, input["message"], continues=True)

    def listing(self) -> ToolOutput:
        tasks = self._children.all()
        rows = [
            {"agentId": task.id, "name": task.kept.name, "type": task.kept.type, "status": _state(task)}
            | {"description": task.kept.description}
            for task in tasks
        ]
        lines = [f"{task.kept.name or task.id}: {_state(task)}, {task.words}" for task in tasks]
        return ToolOutput(content="\n".join(lines) or "There are no agents.", structured={"agents": rows})

    def standing(self) -> str:
        rows = []
        for task in self._children.all():
            name = f", named {task.kept.name}" if task.kept.name else ""
            place = f", worktree {task.kept.worktree}" if task.kept.worktree else ""
            rows.append(f"- agent {task.id}{name}: {task.state}, {task.words}{place}")
        return "\n".join(rows)

    def output(self, input: dict[str, Any], context: ToolContext) -> ToolOutput | None:
        task = self._named(input)
        if task is None:
            return None
        blocks, asked = input.get("block") is not False, input.get("timeout")
        if blocks:
            task.wait(
                min(_DEFAULT_WAIT_MS if asked is None else asked, _LONGEST_WAIT_MS) / 1000, context.cancel
            )
        running = task.state == "running"
        note = "It is still at work. Its report comes by itself." if running else task.kept.cut
        if task.resting:
            note = "It waits for messages."
        text = "\n".join(part for part in (f"{task.id}: {_state(task)}", note, task.kept.report) if part)
        row = {
            "task_id": task.id,
            "task_type": "local_agent",
            "status": _state(task),
            "description": task.kept.description,
            "output": task.kept.report,
        }
        found = "timeout" if running and blocks and not task.resting else "success"
        return ToolOutput(content=text, structured={"retrieval_status": found, "task": row})

    def stop(self, input: dict[str, Any], context: ToolContext) -> ToolOutput | None:
        task = self._named(input)
        if task is None:
            return None
        if task.state != "running":
            raise ToolFailure(f"{task.id} is not running: {task.state}.")
        task.stop()
        task.wait(_STOPPED, context.cancel)
        message = f"{task.id} has been stopped ({task.words})"
        structured = {"message": message, "task_id": task.id, "task_type": "local_agent"}
        return ToolOutput(content=message, structured=structured | {"command": task.words})

    def halt(self, name: str) -> bool:
        task = self._children.find(name)
        if task is None or task.state != "running":
            return False
        task.stop()
        return True

    def let_go(self) -> bool:
        running = (task for task in self._children.all() if task.state == "running")
        found = [task for task in running if not task.kept.background]
        for task in found:
            task.let_go.set()
        return bool(found)

    def _named(self, input: dict[str, Any]) -> AgentTask | None:
        name = input.get("task_id") or input.get("shell_id") or input.get("bash_id")
        return self._children.find(str(name)) if name else None


def _aside(context: ToolContext) -> Aside:
    return Aside(context.cancel, context.emit, context.call_id)


def _state(task: AgentTask) -> str:
    return "idle" if task.resting else task.state


def _label(text: str) -> str:
    """A few words on one line: lists and notifications repeat them."""
    return " ".join("".join(char if char.isprintable() else " " for char in text[:_LABEL]).split())

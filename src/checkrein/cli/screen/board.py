"""What goes on right now: calls at work, to-dos, agents, tasks, messages that wait, and the state of the
session. Events change it; the bottom of the terminal shows it."""

from __future__ import annotations

import time
from typing import Any

from msgspec import Struct

from checkrein.cli.approval import primary
from checkrein.llm.port import Cancel, text_of
from checkrein.runtime.session.events import (
    BackgroundEnded,
    BackgroundStarted,
    Cleared,
    Compacting,
    Event,
    Finished,
    ModeChanged,
    PromptAccepted,
    ReplyCompleted,
    RequestSent,
    Retrying,
    SessionStarted,
    ToolFinished,
    ToolStarted,
)

_TASK_STATES = {"completed", "in_progress", "pending"}
AGENT_TOOLS = ("Agent", "Task")


class CallAtWork(Struct):
    id: str
    name: str
    input: dict[str, Any]
    began: float

    @property
    def words(self) -> str:
        return " ".join(primary(self.input).split())


class AgentAtWork(Struct):
    """A subagent in the tree. `above` is the agent that started it, None for the conversation itself."""

    id: str
    name: str
    above: str | None
    began: float
    call: str = ""
    state: str = "working"
    requests: int = 0
    calls: int = 0
    cost: float = 0.0
    doing: str = ""
    ended: float | None = None

    @property
    def seconds(self) -> float:
        return (self.ended or time.monotonic()) - self.began


class Used(Struct):
    """What a model or an agent has taken."""

    requests: int = 0
    prompt: int = 0
    output: int = 0
    cost: float = 0.0


class Todo(Struct):
    text: str
    state: str


class Task(Struct):
    """Work in the background."""

    id: str
    words: str
    kind: str
    began: float
    state: str = "running"
    call_id: str = ""


class Board:
    """One thread changes it, others look."""

    def __init__(self) -> None:
        self.session_id = ""
        self.model = ""
        self.mode = "default"
        self.branch = ""
        self.cost = 0.0
        self.tokens = 0
        self.window = 0
        self.by_model: dict[str, Used] = {}
        self.by_agent: dict[str, Used] = {}
        self.turn_began: float | None = None
        self.doing = ""
        self.calls: dict[str, CallAtWork] = {}
        self.agents: dict[str, AgentAtWork] = {}
        self.todos: list[Todo] = []
        self.tasks: dict[str, Task] = {}
        self.waiting: list[str] = []
        self.labels: dict[str, str] = {}
        self.prompts: list[tuple[str, str]] = []
        self.denied = 0
        self.own: Cancel | None = None
        self._starters: dict[str, tuple[CallAtWork, str | None]] = {}

    @property
    def busy(self) -> bool:
        return self.turn_began is not None

    def take(self, event: Event) -> None:
        if event.agent_id is not None:
            self._of_agent(event, event.agent_id)
            return
        match event:
            case SessionStarted():
                self.session_id, self.model, self.mode = event.session_id, event.model, event.mode
                self.begin()
            case PromptAccepted():
                said = text_of(event.message.content)
                if not event.replay:
                    self.prompts.append((event.uuid, said))
                if said in self.waiting:
                    self.waiting.remove(said)
            case RequestSent():
                self.model, self.doing = event.model, "Working"
            case ReplyCompleted():
                usage = event.reply.usage
                self.tokens = usage.prompt + usage.output
                self._spend(event, "main")
            case Retrying():
                self.doing = f"Trying again in {event.delay_ms / 1000:.0f} s ({event.error})"
            case Compacting():
                self.doing = "Compacting" if event.active else "Working"
            case ToolStarted() if event.caller in ("model", "program"):
                call = CallAtWork(event.id, event.name, event.input, time.monotonic())
                self.calls[event.id] = call
                if event.name in AGENT_TOOLS:
                    self._starters[event.id] = call, None
            case ToolFinished():
                self.calls.pop(event.id, None)
                self._learn(event)
            case ModeChanged():
                self.mode = event.mode
            case Cleared():
                self.session_id, self.tokens = event.after, 0
                self.todos, self.agents, self.prompts = [], {}, []
            case BackgroundStarted() | BackgroundEnded():
                self._background(event)
            case Finished():
                self._finish()

    def _spend(self, event: ReplyCompleted, who: str) -> None:
        usage, cost = event.reply.usage, event.cost_usd or 0.0
        self.cost += cost
        for rows, name in ((self.by_model, event.reply.model or self.model), (self.by_agent, who)):
            used = rows.setdefault(name, Used())
            used.requests += 1
            used.prompt += usage.prompt
            used.output += usage.output
            used.cost += cost

    def begin(self) -> None:
        """A turn begins. Messages that come from now on are for it."""
        if self.turn_began is None:
            self.turn_began, self.doing = time.monotonic(), "Working"

    def begin_own(self, cancel: Cancel) -> None:
        """A command of the person runs."""
        self.own, self.turn_began, self.doing = cancel, time.monotonic(), "Running your command"

    def end_own(self) -> None:
        self.own = None
        self._finish()

    def _finish(self) -> None:
        self.turn_began = None
        self.calls = {}
        self.doing = ""
        if self.todos and all(todo.state == "completed" for todo in self.todos):
            self.todos = []
        running = {task.id for task in self.tasks.values() if task.state == "running"}
        for agent in self.agents.values():
            if agent.ended is None and agent.id not in running:
                agent.ended, agent.state = time.monotonic(), "ended"

    def _learn(self, event: ToolFinished) -> None:
        if event.refused:
            self.denied += 1
        elif event.name == "TodoWrite" and isinstance(event.input.get("todos"), list):
            self.todos = [
                Todo(str(one.get("content", "")), str(one.get("status", "pending")))
                for one in event.input["todos"]
                if isinstance(one, dict)
            ]
        elif event.name in ("TaskCreate", "TaskUpdate", "TaskList"):
            self._learn_tasks(event)
        self._end_agent(event.id)

    def _end_agent(self, call: str) -> None:
        """The call that started an agent is over: so is the agent, unless it works in the background."""
        for agent in self.agents.values():
            if agent.call == call and agent.ended is None and agent.id not in self.tasks:
                agent.ended, agent.state = time.monotonic(), "done"

    def _learn_tasks(self, event: ToolFinished) -> None:
        """The newer tools for to-dos name one of them at a time."""
        told = event.structured if isinstance(event.structured, dict) else {}
        task: dict[str, Any] = told["task"] if isinstance(told.get("task"), dict) else told
        name = str(task.get("id") or event.input.get("taskId") or "")
        words = str(event.input.get("subject") or task.get("subject") or "")
        state = str(event.input.get("status") or task.get("status") or "pending")
        known = next((todo for todo in self.todos if todo.text.startswith(f"#{name} ")), None)
        if state == "deleted" and known is not None:
            self.todos = [todo for todo in self.todos if todo is not known]
        elif known is not None:
            known.state = state if state in _TASK_STATES else known.state
            known.text = f"#{name} {words}" if words else known.text
        elif name and words and event.name == "TaskCreate":
            self.todos = [*self.todos, Todo(f"#{name} {words}", state)]

    def _background(self, event: BackgroundStarted | BackgroundEnded) -> None:
        if isinstance(event, BackgroundStarted):
            self.tasks[event.id] = Task(
                event.id, event.description, event.kind, time.monotonic(), call_id=event.call_id
            )
        elif event.id in self.tasks:
            self.tasks[event.id].state = event.status
            if event.id in self.agents:
                self.agents[event.id].ended = time.monotonic()
                self.agents[event.id].state = event.status

    def _of_agent(self, event: Event, name: str) -> None:
        agent = self.agents.get(name)
        if agent is None:
            agent = self._meet(event, name)
        match event:
            case RequestSent():
                agent.requests += 1
                agent.state, agent.ended = "working", None
            case ReplyCompleted():
                agent.cost += event.cost_usd or 0.0
                self._spend(event, agent.name)
            case ToolStarted():
                agent.doing = f"{event.name} {' '.join(primary(event.input).split())}"
                if event.name in AGENT_TOOLS:
                    call = CallAtWork(event.id, event.name, event.input, time.monotonic())
                    self._starters[event.id] = call, name
            case ToolFinished():
                agent.calls += 1
                agent.doing = ""
                self._end_agent(event.id)
            case Finished():
                agent.ended = time.monotonic()
                agent.state = "failed" if event.result.is_error else "done"

    def _meet(self, event: Event, name: str) -> AgentAtWork:
        call, above = self._starters.get(event.parent_call or "", (None, None))
        words = str(call.input.get("description") or call.words) if call is not None else name
        kind = str(call.input.get("subagent_type") or "agent") if call is not None else "agent"
        made = AgentAtWork(name, f"{words} ({kind})", above, time.monotonic(), event.parent_call or "")
        self.agents[name] = made
        return made

"""One conversation of a session: the model's side, the tools' side, the messages, and their record.

Conversations form a tree. They share `services`; everything else here belongs to one of them. The stages of a
turn use a Conversation; nobody else changes it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from typing import TYPE_CHECKING, Literal, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.ids import new_uuid
from checkrein.base.origin import Origin
from checkrein.llm.port import Message, Model, Reply, Request, Text, user
from checkrein.model.items import Hook
from checkrein.model.view import View
from checkrein.policy.policy import Directory
from checkrein.policy.situation import Situation
from checkrein.policy.values import MODES, Mode
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.context import toolsearch
from checkrein.runtime.context.cache import cache_ttl
from checkrein.runtime.context.reminders import quoted, reminder
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.process.command import GRACE
from checkrein.runtime.session.backdrop import Backdrop
from checkrein.runtime.session.budget import Meter
from checkrein.runtime.session.control import Control
from checkrein.runtime.session.events import ContextAdded, Event, ModeChanged, Notice
from checkrein.runtime.session.models import Models
from checkrein.runtime.session.opened import Opened
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.own_servers import NONE, OwnServers
from checkrein.runtime.session.record import Record
from checkrein.runtime.session.services import Services
from checkrein.runtime.session.state import State
from checkrein.runtime.store.recorder import Recorder
from checkrein.runtime.tools.ended_shells import EndedShells

if TYPE_CHECKING:
    from checkrein.runtime.call.offer import Offer
    from checkrein.runtime.skills.kit import SkillKit
    from checkrein.runtime.tools.desk import ToolState
    from checkrein.runtime.turn.retry import RetryPolicy

_DEFAULT_OUTPUT = 32_000


class Link(Struct, frozen=True, kw_only=True):
    """How a child belongs to its parent. `kind` says what it is: a `helper` answers one question of a hook;
    an `agent` is a subagent. `call` is the parent's call that it belongs to, or the run of the hook."""

    agent_id: str
    kind: Literal["helper", "agent"]
    call: str
    agent_type: str | None = None
    depth: int = 1
    fork: bool = False


class Child(Struct, frozen=True, kw_only=True):
    """What the caller wants of a child. `view` and `options` can only narrow what the parent has. A child
    that goes on has its former `agent_id` and `messages`. A `lean` one gets no instruction files. `hooks`
    and `servers` are its own, besides those of its parent. `confine` moves it into a worktree.
    A `fork` begins as its parent is: its requests begin with the same bytes. `memory` is the directory
    of its own memory."""

    view: View
    options: Options
    kind: Literal["helper", "agent"]
    call: str
    model: str | None = None
    agent_type: str | None = None
    agent_id: str | None = None
    messages: tuple[Message, ...] = ()
    lean: bool = False
    hooks: tuple[Hook, ...] = ()
    servers: OwnServers = NONE
    confine: Callable[[Situation], Situation] | None = None
    fork: bool = False
    memory: Directory | None = None


class Seat(Struct, frozen=True, kw_only=True):
    """The plan of a conversation, before it opens anything. `link` and `above`, its parent, are None at the
    root. `own_servers` are those that it starts and ends."""

    view: View
    options: Options
    control: Control
    state: State
    meter: Meter
    link: Link | None = None
    above: Conversation | None = None
    own_servers: OwnServers = NONE


class Start(Struct, frozen=True, kw_only=True):
    """What a conversation begins with. `memory` is the directory of the auto memory, or of the agent's own,
    which is `own_memory` too; `notes` are for the person who started the session. `situation` is that of a
    child that works elsewhere."""

    opened: Opened
    model: tuple[Model, str]
    memory: str | None = None
    own_memory: Directory | None = None
    notes: tuple[str, ...] = ()
    lean: bool = False
    situation: Situation | None = None
    fork: bool = False


class Conversation:
    def __init__(
        self,
        services: Services,
        seat: Seat,
        host: ToolHost,
        offer: Offer,
        models: Models,
        record: Record,
        backdrop: Backdrop,
        skills: SkillKit,
    ) -> None:
        self.services = services
        self.view = seat.view
        self.options = seat.options
        self.control = seat.control
        self.state = seat.state
        self.meter = seat.meter
        self.link = seat.link
        self.above = seat.above
        self.own_servers = services.servers if seat.own_servers.items else None
        self.host = host
        self.offer = offer
        self.models = models
        self.record = record
        self.backdrop = backdrop
        self.skills = skills
        self.control.wakes.join(EndedShells(self.desk))

    def lineage(self) -> tuple[Sequence[Message], ...]:
        """The messages from the main conversation down to this one."""
        return (*(self.above.lineage() if self.above is not None else ()), self.state.messages)

    @property
    def env(self) -> dict[str, str]:
        return self.services.env

    @property
    def gate(self) -> Gate:
        return self.host.gate

    @property
    def hooks(self) -> HookRunner:
        return self.host.hooks

    @property
    def recorder(self) -> Recorder:
        return self.record.recorder

    @property
    def desk(self) -> ToolState:
        return self.host.bench.state

    @property
    def view_below(self) -> View:
        """The view that a child narrows: with the tools of the conversation's own servers."""
        view = self.view
        if self.own_servers is None or view.tool_names is None:
            return view
        own = (name for name in self.host.tools.names() if self.services.tools.owns(name))
        return replace(view, tool_names=view.tool_names.union(own))

    @property
    def session_id(self) -> str:
        return self.recorder.writer.session_id

    def note(self, text: str, source: str, origin: Origin | None = None) -> Iterator[Event]:
        """Tell the model something between prompts. Before the conversation begins the text waits, so that
        the opening comes first."""
        text = self.services.kept.vault.masked(text)
        if not self.state.messages:
            self.backdrop.opening_context.append(text)
            return
        wrapped = reminder(text)
        self.state.append(user(Text(wrapped)))
        yield ContextAdded(new_uuid(), wrapped, source, origin)

    def begin_prompt(self, uuid: str) -> None:
        self.hooks.update(prompt_id=uuid, permission_mode=self.gate.mode)

    def next_turn(self) -> None:
        """Start another turn in the same run: per-turn values reset, what the result counts stays."""
        denials = self.state.denials
        self.gate.end_turn()
        self.state.begin_turn()
        self.state.denials = denials
        self.meter.requests += 1

    @property
    def retry(self) -> RetryPolicy:
        """How often to ask the model again: seldom, while another one waits."""
        policy = self.options.retry
        return policy.before_another() if self.models.fallbacks_left else policy

    def fall_back(self) -> str:
        """Switch to the next model of the chain; returns its name."""
        self.state.model = self.models.fall_back()
        return self.state.model

    def settle(self) -> Generator[Event, None, None]:
        """The safe point before a request: changes asked for since the last one take effect here."""
        yield from self.take_changes()
        yield from self.models.follow(self.state.turn_model, self.view.project)
        self.state.model = self.models.name
        yield from self.look_at_tools()

    def take_changes(self) -> Generator[Event, None, None]:
        """Take the mode and the model that the control asks for. Between requests and between prompts."""
        mode = self.control.take_mode()
        if mode is not None:
            if self.may_enter(mode):
                self.enter(mode)
                yield ModeChanged(mode)
            else:
                yield Notice("warning", f"The mode {mode!r} is not available here.")
        name = self.control.take_model()
        if name is not None:
            yield from self.models.switch(name, self.state.turn_model, self.view.project)
            self.recorder.writer.state(model=None if name == "default" else name)
            self.state.model = self.models.name

    def may_enter(self, mode: str) -> TypeGuard[Mode]:
        return mode in MODES and self.host.permissions.may_enter(mode)

    def enter(self, mode: Mode) -> None:
        """Judge in this mode from now on. Any thread may call it."""
        self.gate.set_mode(mode)
        self.hooks.update(permission_mode=mode)

    def look_at_tools(self) -> Generator[Event, None, None]:
        """Take up the tools that came since the last request. The model learns how to find those that
        wait."""
        yield from self.hear_servers()
        if self.own_servers is not None:
            for text in self.own_servers.said():
                yield from self.note(quoted(text), "server")
        change = self.host.view.refresh(first=not self.state.messages)
        if change is None:
            return
        self.gate.know(self.host.tools.registry)
        if change.waiting:
            names = toolsearch.named(change.waiting)
            yield from self.note(f"More tools, whose definitions ToolSearch gives: {names}.", "tools")

    def hear_servers(self) -> Iterator[Event]:
        """What happened to MCP servers since the last look, for the person. A server's words may hold
        secrets."""
        mask = self.services.kept.vault.masked
        if self.own_servers is not None:
            for event in self.own_servers.heard():
                yield replace(event, text=mask(event.text)) if isinstance(event, Notice) else event

    @property
    def effort(self) -> str | None:
        """How much the model should think: as a skill wants it for this turn, as `/config` set it, or as the
        session began."""
        return self.state.turn_effort or self.state.effort or self.options.effort

    def request(self, messages: Sequence[Message] | None = None, max_tokens: int | None = None) -> Request:
        """The next request. A summary passes its own `messages`; the rest stays the same."""
        from checkrein.facts.models import find_model

        state = self.state
        facts = find_model(state.model)
        limit = min(_DEFAULT_OUTPUT, facts.max_output) if facts else _DEFAULT_OUTPUT
        return self.backdrop.prompt.request(
            state.model,
            self.host.tools,
            state.messages if messages is None else messages,
            max_tokens=max_tokens or state.max_tokens or self.options.max_tokens or limit,
            session_id=self.session_id,
            effort=self.effort,
            ttl=cache_ttl(self.env, state.model),
        )

    def cost(self, reply: Reply) -> float | None:
        from checkrein.llm.prices import cost

        return cost(reply.usage, reply.model or self.state.model)

    def close(self, grace: float = GRACE) -> None:
        """Release what only this conversation holds. The commands that a child left in the background end
        with it: nobody would hear of them. So do its own servers, which have `grace` seconds."""
        try:
            if self.link is not None:
                self._end_processes(grace)
        finally:
            self.record.close()
            self.host.close()

    def _end_processes(self, grace: float) -> None:
        for shell in tuple(self.desk.shells.values()):
            if shell.status == "running":
                shell.running.kill()
        if self.own_servers is not None:
            self.own_servers.close(grace)

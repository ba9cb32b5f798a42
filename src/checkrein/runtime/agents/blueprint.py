"""What a subagent is made of: its tools, mode, model and prompt, by its type and by what its parent has."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from checkrein.base.ids import short_id
from checkrein.base.origin import BUNDLED, Origin
from checkrein.facts import subagents
from checkrein.facts.tools import DEFAULT_AGENT
from checkrein.llm.port import ToolUse
from checkrein.passes.agents import (
    AgentType,
    child_mode,
    child_model,
    is_file_model,
    no_agent,
    no_tools,
    pool,
)
from checkrein.passes.agents.agent_bounds import own_rules
from checkrein.passes.agents.tool_pool import of_servers
from checkrein.runtime.agents.task import Order
from checkrein.runtime.agents.twin import fork_of
from checkrein.runtime.memory.agent_memory import agent_memory
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.conversation import Child
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.own_servers import servers_of_agent
from checkrein.runtime.tools.port import Aside, ToolFailure

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


FORK_TYPE = AgentType(
    name=subagents.FORK,
    description="Continues this conversation in a child.",
    body="",
    one_shot=True,
    origin=Origin(BUNDLED, "bundled"),
)


class Blueprints:
    """For the subagents of one conversation."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation

    @property
    def depth(self) -> int:
        """How deep a subagent of this conversation is."""
        link = self._conversation.link
        return 1 + (link.depth if link is not None else 0)

    def kind(self, name: str | None) -> AgentType:
        if name == subagents.FORK:
            return FORK_TYPE
        kinds = self._conversation.offer.agents
        kind = kinds.get(name or DEFAULT_AGENT)
        if kind is None:
            raise ToolFailure(no_agent(name or DEFAULT_AGENT, kinds))
        return kind

    def startable(self, name: str | None) -> AgentType:
        """A kind that may begin to work here. Raises ToolFailure below the deepest that agents go."""
        kind, limit = self.kind(name), self._conversation.services.crew.depth
        if kind is not FORK_TYPE and self.depth > limit:
            raise ToolFailure(f"Agents go {limit} deep, and this would be deeper. Do the work yourself.")
        return kind

    def approved(self, order: Order, aside: Aside) -> str:
        """The task of an agent that begins to work though nobody called Agent: for a skill or a message. What
        judges such calls judges it too. Raises ToolFailure."""
        kind = self.startable(order.type)
        input = {"description": order.description, "prompt": order.prompt, "subagent_type": kind.name}
        use = ToolUse(aside.call_id or "", subagents.AGENT_TOOL, input)
        done = self._conversation.host.judged(use, aside).finished
        if done.is_error:
            raise ToolFailure(str(done.content))
        return str(done.input["prompt"])

    def in_background(self, order: Order, kind: AgentType) -> bool:
        if order.wait or subagents.is_on(self._conversation.env, subagents.ENV_NO_BACKGROUND):
            return False
        return kind.background or order.background is not False

    def child(self, order: Order, kind: AgentType, call: str, *, background: bool) -> Child:
        """Raises ToolFailure when it would have no tool, or a model that only the user may choose."""
        conversation = self._conversation
        if order.model is not None and is_file_model(order.model):
            raise ToolFailure(f"The model {order.model} is a file; only the user can choose it.")
        if kind is FORK_TYPE:
            return fork_of(conversation, order, call)
        mode = child_mode(conversation.gate.mode, kind, order.mode)
        gives = partial(
            pool,
            kind,
            background=background,
            depth=self.depth,
            limit=conversation.services.crew.depth,
            mode=mode,
            teammate=order.team is not None,
        )
        own = of_servers(kind, (one.name for one in kind.servers))
        found = gives((*conversation.host.tools.names(), *own))
        if (refused := no_tools(kind, found)) is not None:
            raise ToolFailure(refused)
        above = conversation.options
        options = Options(
            mode=mode,
            rules=tuple(own_rules(kind, conversation.gate.situation.root)),
            allowed=order.allowed,
            tools=found.names if kind.tools is not None else None,
            system_prompt=kind.body,
            system_origin=kind.origin,
            fallback_models=above.fallback_models,
            max_tokens=above.max_tokens,
            thinking=above.thinking,
            effort=order.effort or kind.effort or above.effort,
            budget=Budget(requests=kind.max_turns),
            retry=above.retry,
            hooks=above.hooks,
            bare=above.bare,
            idle_timeout=above.idle_timeout,
        )
        return Child(
            view=conversation.view_below.narrow(tools=found.names, agents=kind.agents),
            options=options,
            kind="agent",
            call=call,
            model=child_model(conversation.env, order.model, kind, None),
            agent_type=kind.name,
            agent_id=short_id("a"),
            lean=kind.lean,
            hooks=kind.hooks,
            memory=agent_memory(kind, conversation.view.project, conversation.env),
            servers=servers_of_agent(kind.name, kind.servers, lambda name: bool(gives((name,)).names)),
        )

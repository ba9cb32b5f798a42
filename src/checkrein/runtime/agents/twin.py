"""A fork: a child that knows what its parent knows, and begins its requests with the same bytes.

The parent has just called Agent, so its last message has calls without results. The fork gets a result for
each: its own says what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from checkrein.base.ids import short_id
from checkrein.facts import subagents
from checkrein.llm.port import Message, ToolResult, ToolUse, user
from checkrein.runtime.agents.task import Order
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.conversation import Child
from checkrein.runtime.tools.port import ToolFailure

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation

_YOURS = (
    "You are the fork that this call made: everything above is your own past. Do the task below by yourself, "
    "and end with a report for the conversation that you come from. You can't fork again."
)
_OTHERS = "(This call belongs to the conversation that you come from. Don't wait for it.)"


def may_fork(conversation: Conversation) -> bool:
    """By the environment; without it, where a person sits before the session. A fork does not fork."""
    link, env = conversation.link, conversation.env
    if link is not None and link.fork:
        return False
    if subagents.ENV_FORK in env:
        return subagents.is_on(env, subagents.ENV_FORK)
    return conversation.options.kind == "interactive"


def fork_of(conversation: Conversation, order: Order, call: str) -> Child:
    """Raises ToolFailure where there are no forks."""
    if not may_fork(conversation):
        raise ToolFailure(
            "This conversation can't be forked. Start an agent, and tell it what it has to know."
        )
    above = conversation.options
    return Child(
        view=conversation.view_below,
        options=replace(
            above, mode=conversation.gate.mode, budget=Budget(), rules=(), allowed=(), disallowed=()
        ),
        kind="agent",
        call=call,
        agent_type=subagents.FORK,
        agent_id=short_id("a"),
        messages=tuple(past(conversation.state.messages, call)),
        memory=conversation.gate.situation.memory,
        fork=True,
    )


def past(messages: Sequence[Message], call: str) -> list[Message]:
    """The messages of the parent, with a result for each open call."""
    found = list(messages)
    calls = [block for block in found[-1].content if isinstance(block, ToolUse)] if found else []
    if calls:
        found.append(user(*(ToolResult(one.id, _YOURS if one.id == call else _OTHERS) for one in calls)))
    return found

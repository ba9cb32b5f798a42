"""What can be started as an agent: one value for `show`, `why`, `check` and the runtime."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.items import Agent, Hook, Server
from checkrein.passes.agent_row import Ignored
from checkrein.policy.values import Mode

Trusts = Callable[[Origin], bool]


class AgentType(Struct, frozen=True, kw_only=True):
    """What can be started under a name: a definition in effect, or an agent that comes with Checkrein.

    Every value is one that holds: what is unknown, untrusted or not allowed here is in `ignored` instead.

    `body` is the system prompt. `item` is the definition; None for a built-in agent.
    `tools` None means all of the parent's. Entries are as written, except that `Agent(a, b)` is the entry
    `Agent` and the names are in `agents`: the types that it may start, None for every one. `disallowed` are
    the tools that it does not have; `denied` are the entries of `disallowedTools` with a specifier, which are
    deny rules for its calls.
    `model`, `permission_mode` and `effort` None mean the parent's. `skills` and `server_names` exist.
    A `lean` agent gets neither instruction files nor the state of the repository. A `one_shot` agent
    has no id: nobody can continue it.
    """

    name: str
    description: str
    body: str
    item: Agent | None = None
    tools: tuple[str, ...] | None = None
    disallowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    agents: frozenset[str] | None = None
    model: str | None = None
    permission_mode: Mode | None = None
    max_turns: int | None = None
    skills: tuple[str, ...] = ()
    memory: str | None = None
    effort: str | None = None
    background: bool = False
    isolation: str | None = None
    initial_prompt: str | None = None
    server_names: tuple[str, ...] = ()
    servers: tuple[Server, ...] = ()
    hooks: tuple[Hook, ...] = ()
    lean: bool = False
    one_shot: bool = False
    ignored: tuple[Ignored, ...] = ()
    origin: Origin

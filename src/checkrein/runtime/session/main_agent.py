"""An agent as the main conversation: `--agent NAME`, or the setting `agent`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import UsageError
from checkrein.facts.subagents import MEMORY_TOOLS
from checkrein.llm.port import Model
from checkrein.model.items import Hook, Server
from checkrein.model.view import View
from checkrein.passes.agents import AgentType, agent_types, main_agents, no_agent
from checkrein.passes.agents.agent_bounds import deny_rules
from checkrein.policy.modes import narrowed
from checkrein.policy.policy import Directory
from checkrein.policy.project import mode_of
from checkrein.runtime.memory.agent_memory import agent_memory
from checkrein.runtime.session.options import Options
from checkrein.runtime.trust import Standing

if TYPE_CHECKING:
    from checkrein.runtime.session.conversation import Conversation


class Role(Struct, frozen=True, kw_only=True):
    """A session as its agent makes it. `hooks`, `servers`, `skills`, `memory`, `lean` and `first_prompt` are
    the agent's; `note` is for the person who started the session."""

    view: View
    options: Options
    model: Model | str | None
    hooks: tuple[Hook, ...] = ()
    servers: tuple[Server, ...] = ()
    skills: tuple[str, ...] = ()
    memory: Directory | None = None
    lean: bool = False
    first_prompt: str | None = None
    note: str | None = None

    def begin(self, conversation: Conversation, add_hooks: Callable[[tuple[Hook, ...]], None]) -> None:
        """Give the conversation what the agent starts with."""
        add_hooks(self.hooks)
        conversation.backdrop.initial_message = self.first_prompt
        conversation.backdrop.first_skills = self.skills


def role_of(
    view: View, options: Options, model: Model | str | None, env: dict[str, str], trust: Standing
) -> Role:
    """The session with the agent that the caller names, or else the settings.

    What the caller chose goes before what the definition says. The definition only narrows: tools, agents
    and mode. A definition's first prompt and memory count when the caller names the agent, or trusts the
    project.
    """
    plain = Role(view=view, options=options, model=model)
    name = options.agent or str(view.project.setting("agent"))
    interactive = options.kind == "interactive"
    kinds = agent_types(view, env, trusts=trust.trusts, interactive=interactive)
    kinds = main_agents(env, interactive=interactive) | kinds
    kind = kinds.get(name)
    if kind is None and options.agent:
        raise UsageError(no_agent(name, kinds), kind="agent_not_found")
    if kind is None:
        return replace(plain, note=f"The setting `agent` does not count. {no_agent(name, kinds)}")
    goes_on = options.resume is not None or options.continue_
    wanted = bool(options.agent) or trust.trusted
    return Role(
        view=view.narrow(agents=kind.agents),
        options=_options(kind, options, view),
        model=kind.model if model is None and not goes_on else model,
        hooks=kind.hooks,
        servers=kind.servers,
        skills=kind.skills,
        memory=agent_memory(kind, view.project, env) if wanted else None,
        lean=kind.lean,
        first_prompt=kind.initial_prompt if wanted and not goes_on else None,
    )


def _options(kind: AgentType, options: Options, view: View) -> Options:
    mode = options.mode
    usual = mode_of(view.project).mode
    if mode is None and kind.permission_mode is not None:
        narrow = narrowed(usual, kind.permission_mode)
        mode = None if narrow == usual else narrow
    own_prompt = options.system_prompt is None and bool(kind.body)
    budget = options.budget
    return replace(
        options,
        agent=kind.name,
        mode=mode,
        tool_entries=_entries(kind),
        rules=(*options.rules, *deny_rules(kind, view.project.place.cwd)),
        system_prompt=kind.body if own_prompt else options.system_prompt,
        system_origin=kind.origin if own_prompt else options.system_origin,
        effort=options.effort or kind.effort,
        budget=replace(budget, requests=kind.max_turns) if budget.requests is None else budget,
    )


def _entries(kind: AgentType) -> tuple[str, ...] | None:
    if kind.tools is None:
        return None
    return kind.tools if kind.memory is None else (*kind.tools, *MEMORY_TOOLS)

"""What a conversation offers the model: its tools, and the list of its skills."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any

from msgspec import Struct

from checkrein.facts.models import find_model
from checkrein.facts.subagents import AGENT_TOOL
from checkrein.model.view import View
from checkrein.passes.agents import AgentType, agent_types
from checkrein.passes.agents.agent_type import Trusts
from checkrein.passes.agents.agent_types import trust_all
from checkrein.policy.remote import PREFIX
from checkrein.runtime.call.host import ToolHost
from checkrein.runtime.call.toolset import Toolbox
from checkrein.runtime.context import toolsearch
from checkrein.runtime.context.segments import Segment
from checkrein.runtime.context.toolsearch import ToolSearch
from checkrein.runtime.session.options import Options
from checkrein.runtime.skills import usage
from checkrein.runtime.skills.kit import SkillKit
from checkrein.runtime.skills.listing import Listing, make_listing
from checkrein.runtime.skills.skill_tool import SkillTool
from checkrein.runtime.tools.port import AnyTool

_DEFAULT = ("default",)


class Supply(Struct, frozen=True, kw_only=True):
    """What an offer has to know about its session. `missing` says which servers have not brought their
    tools. `owns` says which tools come from servers of the conversation itself."""

    env: Mapping[str, str]
    missing: Callable[[], str] = str
    trusts: Trusts = trust_all
    owns: Callable[[str], bool] = lambda name: False


class Offer:
    """The tools that one conversation sees."""

    def __init__(
        self,
        view: View,
        options: Options,
        supply: Supply,
        model: str,
        host: ToolHost,
        above: Offer | None = None,
    ) -> None:
        """`above` is the parent's: apart from the tools of its own servers, a child has no tool that its
        parent may not have."""
        self._view = view
        self._options = options
        self._supply = supply
        self._model = model
        self._host = host
        self._above = above

    def box(self, tools: Iterable[AnyTool], skills: SkillKit, keep: Callable[[Any], None]) -> Toolbox:
        """The tools that the caller wants, the view shows and no rule takes away, then those that only a
        conversation has: Skill, StructuredOutput, ToolSearch. When the caller names tools, all of them are in
        the request."""
        options, env = self._options, self._supply.env
        own = sorted(tools, key=lambda tool: tool.name if tool.name.startswith(PREFIX) else "")
        box = Toolbox(tool for tool in own if self.allows(tool))
        if self._names_tools:
            box = box.all_upfront()
        if not toolsearch.defers(env, box, _window(self._model)):
            box = box.all_upfront()
        if self._offers_skills() and self._is_left("Skill"):
            box = box.with_tools(SkillTool(skills.invoker, skills.active))
        if options.schema is not None:
            from checkrein.runtime.tools.structured import StructuredOutput

            box = box.with_tools(StructuredOutput(options.schema, keep))
        if box.deferred and not options.bare:
            box = box.with_tools(ToolSearch(lambda: self._host.tools, self._supply.missing))
        return box

    def allows(self, tool: AnyTool) -> bool:
        """Whether the conversation may have a tool: its caller wants it, its view shows it, no rule takes it
        away, and the same holds above. The caller names built-in tools only: those of servers are there
        too. The definition of an agent has chosen among the tools of its own servers."""
        if tool.name == self._options.prompt_tool:
            return False
        if self._supply.owns(tool.name):
            return self._is_shown(tool.name) and self._is_left(tool.name)
        named = {tool.name, *tool.aliases}
        wanted = not self._names_tools or not named.isdisjoint(self._options.tools or ())
        wanted = (wanted or tool.name.startswith(PREFIX)) and self._is_listed(tool.name)
        if not wanted or not self._view.sees_tool(tool.name) or not self._is_left(tool.name):
            return False
        return self._above is None or self._above.allows(tool)

    @cached_property
    def agents(self) -> dict[str, AgentType]:
        """The agents that the Agent tool starts. A rule can take one away."""
        interactive = self._options.kind == "interactive"
        supply = self._supply
        found = agent_types(self._view, supply.env, trusts=supply.trusts, interactive=interactive)
        cwd, gate = self._view.project.place.cwd, self._host.gate
        return {
            name: kind
            for name, kind in found.items()
            if gate.decide(AGENT_TOOL, {"subagent_type": name}, cwd).verdict != "deny"
        }

    def look_again(self, view: View) -> None:
        """The agents may be others now."""
        self._view = view
        self.__dict__.pop("agents", None)

    @property
    def _names_tools(self) -> bool:
        return self._options.tools is not None and self._options.tools != _DEFAULT

    def _is_listed(self, name: str) -> bool:
        """Whether the agent that the conversation is has the tool."""
        entries = self._options.tool_entries
        if entries is None:
            return True
        from checkrein.passes.agents import named

        return named(name, entries)

    def _is_shown(self, name: str) -> bool:
        """Whether the program that opened the session lets it have the tool."""
        return self._above._is_shown(name) if self._above is not None else self._view.sees_tool(name)

    def _is_left(self, name: str) -> bool:
        return self._host.gate.decide(name, {}, self._view.project.place.cwd).offered

    def _offers_skills(self) -> bool:
        """Whether the model can load skills. True even when the list is empty, because reading a file may
        bring one."""
        options = self._options
        named = options.tools is None or options.tools == _DEFAULT or "Skill" in options.tools
        named = named and self._is_listed("Skill") and self._view.sees_tool("Skill")
        return named and not options.bare and self._view.skill_names != frozenset()


def skill_listing(view: View, options: Options, env: dict[str, str], model: str) -> Listing:
    if options.bare:
        return Listing("", ())
    return make_listing(view, window=_window(model), env=env, used=lambda: usage.counts(env))


def offered_segments(box: Toolbox, listing: Listing, agents: Mapping[str, AgentType] = {}) -> list[Segment]:
    """What the model learns of the offer before the conversation: the skills, the agents, and the tools that
    wait."""
    found = [Segment("session", "skills", listing.text, pinned=True)] if listing.text else []
    if agents:
        rows = "\n".join(f"- {name}: {kind.description}" for name, kind in agents.items())
        found.append(
            Segment("session", "agents", f"The types of agents for {AGENT_TOOL}:\n{rows}", pinned=True)
        )
    waiting = toolsearch.listing(box)
    return [*found, waiting] if waiting is not None else found


def _window(model: str) -> int | None:
    facts = find_model(model)
    return facts.window if facts else None

"""The agents of a view: the definitions in effect, and the built-in agents that none of them replaces.

Which definition wins a name is `resolve`'s decision. This says what the winner's fields mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import BOUND_SCOPES, Origin
from checkrein.facts import claude
from checkrein.facts.claude_fields import PLUGIN_AGENT_IGNORED
from checkrein.facts.subagents import AGENT_TOOL
from checkrein.model.rule import split_rule
from checkrein.passes.agent_row import Ignored
from checkrein.passes.agents.agent_type import AgentType, Trusts
from checkrein.passes.agents.builtin_agents import builtin_agents
from checkrein.passes.agents.child_terms import is_file_model
from checkrein.passes.agents.tool_pool import canonical
from checkrein.policy.situation import known_mode

if TYPE_CHECKING:
    from checkrein.model.items import Agent, Server
    from checkrein.model.view import View
    from checkrein.policy.values import Mode

_INHERIT = "inherit"
_MANUAL = "manual"
_NOT_TRUSTED = "the project is not trusted; look at it, then run `checkrein trust`"
_OF_PLUGIN = "agents of plugins can't have it"


def trust_all(_: Origin) -> bool:
    """For judges that look at a project as its author does."""
    return True


def agent_types(
    view: View, env: Mapping[str, str], *, trusts: Trusts = trust_all, interactive: bool = False
) -> dict[str, AgentType]:
    """Each name with its agent, built-in agents first. A definition replaces the built-in agent of its name.

    `trusts` says whether something of an origin may run. A view that names its agents hides the built-in ones
    that it does not name.
    """
    shown = view.agent_names
    found = {
        kind.name: kind
        for kind in builtin_agents(env, interactive=interactive)
        if shown is None or kind.name in shown
    }
    return found | {name: agent_type_of(item, view, trusts) for name, item in view.agents.items()}


def agent_type_of(item: Agent, view: View, trusts: Trusts = trust_all) -> AgentType:
    """What a definition means, whether it wins its name or not."""
    return _Definition(item, view, trusts).agent_type()


def no_agent(name: str, known: Iterable[str]) -> str:
    """What to say about a name that no agent has."""
    names = list(known)
    return (
        f"There is no agent {name!r}.{did_you_mean(name, names)} Agents here: {', '.join(names) or 'none'}."
    )


class _Definition:
    """Reads the fields of one definition, and notes those without effect."""

    def __init__(self, item: Agent, view: View, trusts: Trusts) -> None:
        self._item = item
        self._view = view
        self._trusts = trusts
        self._ignored: list[Ignored] = []

    def agent_type(self) -> AgentType:
        item = self._item
        tools, agents = self._tools()
        disallowed, denied = self._disallowed()
        for field in PLUGIN_AGENT_IGNORED if item.plugin else ():
            if field in item.unknown:
                self._ignore(field, _OF_PLUGIN)
        self._without_trust("hooks")
        if item.servers or not item.server_names:
            self._without_trust("mcpServers")
        return AgentType(
            name=item.name,
            description=item.description or f"Agent from {item.plugin} plugin",
            body=item.body.strip(),
            item=item,
            tools=tools,
            disallowed=disallowed,
            denied=denied,
            agents=agents,
            model=self._model(),
            permission_mode=self._mode(),
            max_turns=self._max_turns(),
            skills=tuple(self._skills()),
            memory=self._known("memory", item.memory, claude.AGENT_MEMORY),
            effort=self._known("effort", item.effort, claude.EFFORTS),
            background=item.background is True,
            isolation=self._known("isolation", item.isolation, claude.ISOLATIONS),
            initial_prompt=item.initial_prompt or None,
            server_names=tuple(self._server_names()),
            servers=tuple(self._servers()),
            hooks=tuple(one for one in item.hooks if self._trusts(one.origin)),
            ignored=tuple(self._ignored),
            origin=item.origin,
        )

    def _ignore(self, field: str, why: str) -> None:
        self._ignored.append(Ignored(field, why, self._item.where(field)))

    def _without_trust(self, field: str) -> None:
        """The view of an untrusted project has lost the field already; its place is still known."""
        item = self._item
        if not item.plugin and field in item.spans and not self._trusts(item.where(field)):
            self._ignore(field, _NOT_TRUSTED)

    def _known(self, field: str, value: str | None, values: tuple[str, ...]) -> str | None:
        if value is None or value in values:
            return value
        self._ignore(field, f"`{value}` is not one of {', '.join(values)}")
        return None

    def _model(self) -> str | None:
        """A definition may name a service's model. A file that plays one is the user's choice alone."""
        name = self._item.model
        if not name or name == _INHERIT:
            return None
        if self._item.origin.scope in BOUND_SCOPES and is_file_model(name):
            self._ignore("model", f"`{name}` is a file; only you can choose it")
            return None
        return name

    def _mode(self) -> Mode | None:
        value = self._known("permissionMode", self._item.permission_mode, claude.PERMISSION_MODES)
        return known_mode("default" if value == _MANUAL else value)

    def _max_turns(self) -> int | None:
        most = self._item.max_turns
        if most is not None and most < 1:
            self._ignore("maxTurns", f"{most} is not at least 1")
            return None
        return most

    def _tools(self) -> tuple[tuple[str, ...] | None, frozenset[str] | None]:
        if self._item.tools is None:
            return None, None
        kept: list[str] = []
        starts: list[str | None] = []
        for text in self._item.tools:
            tool, specifier, problem = split_rule(text)
            if problem is not None:
                self._ignore("tools", f"`{text}` names no tool: {problem}")
                continue
            if canonical(tool) == AGENT_TOOL:
                starts.append(specifier)
            elif specifier is not None:
                self._ignore("tools", f"`{text}` gives it all of {tool}; rules limit the calls of a tool")
            kept.append(tool)
        limits = [one for one in starts if one is not None]
        every = not starts or len(limits) < len(starts)
        return tuple(dict.fromkeys(kept)), None if every else frozenset(self._agent_names(",".join(limits)))

    def _agent_names(self, specifier: str) -> Iterable[str]:
        """The agents in `Agent(a, b)`. A plugin may name its own without its prefix."""
        known = self._view.agents
        for part in specifier.split(","):
            name = part.strip()
            own = f"{self._item.plugin}:{name}"
            if name:
                yield own if name not in known and own in known else name

    def _disallowed(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Whole tools, and rules for some of a tool's calls. An entry that is not well formed takes all of
        its tool away."""
        whole: list[str] = []
        rules: list[str] = []
        for text in self._item.disallowed_tools:
            tool, specifier, problem = split_rule(text)
            if problem is not None:
                tool = tool.rstrip(")")
                self._ignore("disallowedTools", f"`{text}`: {problem}; it takes all of {tool} away")
            if specifier is None:
                whole.append(tool)
            else:
                rules.append(text)
        return tuple(filter(None, whole)), tuple(rules)

    def _skills(self) -> Iterable[str]:
        if not self._item.skills:
            return
        skills = {**self._view.commands, **self._view.skills}
        for name in self._item.skills:
            full = next((one for one in (name, f"{self._item.plugin}:{name}") if one in skills), None)
            if full is None:
                self._ignore("skills", f"the skill `{name}` does not exist")
            elif not skills[full].model_invocable:
                self._ignore("skills", f"only people may use the skill `{name}` (disable-model-invocation)")
            else:
                yield full

    def _servers(self) -> Iterable[Server]:
        """Its own servers, under the same lists and switches as those of the session."""
        view = self._view
        off = [(one.item, one.lost) for one in view.project.inactive] if self._item.servers else []
        for server in self._item.servers:
            why = next((lost for item, lost in off if item == server), None)
            if why is not None:
                self._ignore("mcpServers", f"the server `{server.name}` is off: {why}")
            elif self._trusts(server.origin) and view.sees_server(server.name):
                yield server

    def _server_names(self) -> Iterable[str]:
        known = self._view.servers if self._item.server_names else {}
        for name in self._item.server_names:
            if name in known:
                yield name
            else:
                self._ignore("mcpServers", f"the server `{name}` does not exist here, or is off")

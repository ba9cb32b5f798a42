"""`checkrein why`: the value of a thing, the file and line it comes from, and all candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.base.origin import Origin
from checkrein.cli.layers import layers_arg, layers_of
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.run_args import MODES as RUN_MODES
from checkrein.cli.target import PROJECT_ARG, require
from checkrein.passes.explain import THING_KINDS, Explanation
from checkrein.policy.values import Decision, KernelLayer
from checkrein.runtime.context.cachereport import CacheReport
from checkrein.runtime.context.explain import PromptReport
from checkrein.runtime.mcp.server_row import ServerRow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from checkrein.model.project import Project
    from checkrein.policy.situation import Situation
    from checkrein.policy.values import Call

_PATIENCE = 30.0
"""Seconds that a server has to connect."""


class Standpoint(Struct, frozen=True):
    """Whether the project is trusted, and why."""

    trusted: bool
    reason: str


class AgentTerms(Struct, frozen=True):
    """The agent whose calls are judged: where it comes from, and its mode. `worktree` is where it would work,
    if that is not where its parent works."""

    name: str
    mode: str
    origin: Origin
    worktree: str | None = None


class Payload(Struct, frozen=True, omit_defaults=True):
    """`kind` is how `why` read the thing; `thing` joins several calls with commas. `decisions` exist for
    calls, and for a path outside the project's configuration: those on reading and changing it. `mode`,
    `trust` and `layers` are the ones that the decisions depend on. `servers` are those whose tools are
    called: where each comes from, and how it is; `unserved` are tools that no server can have. With an
    `agent` the decisions are on its calls, and `parents` are those on the same calls of the conversation that
    starts it; `mode` is the conversation's."""

    thing: str
    kind: str
    explanations: tuple[Explanation, ...] = ()
    decisions: dict[str, Decision] = {}
    mode: str | None = None
    trust: Standpoint | None = None
    layers: tuple[KernelLayer, ...] = ()
    servers: tuple[ServerRow, ...] = ()
    unserved: tuple[str, ...] = ()
    agent: AgentTerms | None = None
    parents: dict[str, Decision] = {}
    prompt: PromptReport | None = None
    cache: CacheReport | None = None


COMMAND = Command(
    name="why",
    summary="Explain a call, a path, a name or a settings key: value, file and line, all candidates.",
    args=(
        Arg(
            name="things",
            multiple=True,
            metavar="THING...",
            help="A call such as `Bash(git push)`, or several; a path, a name, or a settings key.",
        ),
        PROJECT_ARG,
        Arg(
            name="kind",
            flags=("--kind",),
            type="choice",
            choices=THING_KINDS,
            help="Read THING as this; without it: a call, a path, a name, a key, in this order.",
        ),
        Arg(
            name="prompt",
            flags=("--prompt",),
            type="bool",
            help="What a session tells the model before the first prompt: segments, origin, size.",
        ),
        Arg(
            name="cache",
            flags=("--cache",),
            complete="sessions",
            metavar="SESSION",
            help="Where and why the prompt cache of a session broke, and what that cost.",
        ),
        Arg(
            name="model",
            flags=("--model",),
            complete="models",
            help="With --prompt: the model whose window counts.",
        ),
        Arg(
            name="mode",
            flags=("--mode",),
            type="choice",
            choices=RUN_MODES,
            help="With calls: judge them in this permission mode; without it, in the project's own.",
        ),
        Arg(
            name="trusted",
            flags=("--trusted",),
            off="--untrusted",
            type="bool",
            help="With calls: judge them as if the project were trusted, or not; without it, as it is.",
        ),
        layers_arg("as in a session here"),
        Arg(
            name="agent",
            flags=("--agent",),
            metavar="NAME",
            help="With calls: judge them as calls of this agent, which the main conversation starts.",
        ),
        Arg(
            name="probe",
            flags=("--probe",),
            type="bool",
            help="With calls of MCP tools: connect to the server, and say how it is.",
        ),
    ),
    payload=Payload,
    errors=("project_not_found", "thing_not_found", "call_invalid", "session_not_found", "agent_not_found"),
    examples=(
        ("checkrein why permissions.deny", "every deny rule with its file and line"),
        ("checkrein why review", "the skill called review and what it shadows"),
        ("checkrein why CLAUDE.md", "why this file is in the context"),
        ("checkrein why 'Bash(git push && rm -rf build)'", "each piece of the command and its verdict"),
        ("checkrein why 'Bash(make)' 'Read(.env)' --mode plan", "several calls, in a mode"),
        ("checkrein why 'Bash(make)' --trusted", "what the rules of the project would allow"),
        ("checkrein why 'Bash($TOOL x)' --layers none", "the verdict where nothing is enforced later"),
        ("checkrein why 'Bash(make)' --agent reviewer", "the verdict for an agent, and for its parent"),
        ("checkrein why mcp__tracker__create", "where the server comes from, its state, the verdict"),
        ("checkrein why --prompt", "every segment of the prompt with its origin and size"),
        ("checkrein why --cache 3f2a", "the requests of a session and what the cache served"),
    ),
)


class Given(Struct, frozen=True, kw_only=True):
    things: tuple[str, ...]
    project: str
    kind: str | None
    prompt: bool
    cache: str | None
    model: str | None
    mode: str | None = None
    trusted: bool | None = None
    layers: str | None = None
    probe: bool = False
    agent: str | None = None

    def terms(self) -> bool:
        """Whether an option says how to judge calls."""
        return self.probe or any(
            one is not None for one in (self.mode, self.trusted, self.layers, self.agent)
        )


def run(given: Given) -> Outcome:
    things, project, kind = given.things, given.project, given.kind
    if bool(things) + given.prompt + (given.cache is not None) != 1:
        raise UsageError("Name one thing to explain, or give --prompt or --cache SESSION.")
    if given.model is not None and not given.prompt:
        raise UsageError("--model only works with --prompt.")
    require(project)
    if not things:
        return _session(project, given.cache, given.model)
    from checkrein.passes import explain
    from checkrein.passes.load import load

    thing = things[0]
    loaded = load(project, bundled=_is_bundled(thing))
    kinds = {one: kind or explain.thing_kind(loaded, one) for one in things}
    other = next((one for one in things if kinds[one] != "call"), None)
    if other is not None and len(things) > 1:
        raise UsageError(f"Only calls can be explained together; {other} is a {kinds[other]}.")
    chosen = kinds[thing]
    if chosen in ("name", "key") and given.terms():
        names = "--mode, --trusted, --untrusted, --layers, --agent and --probe"
        raise UsageError(f"{names} only work with calls; {thing} is a {chosen}.")
    found: list[Explanation] = []
    calls: tuple[str, ...] = things if chosen == "call" else ()
    if chosen == "path":
        found = explain.explain_path(loaded, thing)
        calls = () if found else (f"Read({thing})", f"Edit({thing})")
    elif chosen == "name":
        found = _seen(loaded, explain.explain_name(loaded, thing))
    elif chosen == "key":
        found = explain.explain_key(loaded, thing)
    if not found and not calls:
        raise NotFoundError(
            f"{thing} contributes nothing to this project.",
            kind="thing_not_found",
            hint="`checkrein show` lists what is in effect.",
        )
    payload = Payload(", ".join(things), chosen, tuple(found))
    if calls:
        payload = _judged(payload, loaded, calls, given)

    def text() -> str:
        from checkrein.cli import why_text

        if calls:
            told = (
                [why_text.table(payload.decisions, payload.parents)]
                if len(things) > 1
                else [
                    why_text.decision(call, one, payload.parents.get(call))
                    for call, one in payload.decisions.items()
                ]
            )
            if payload.agent is not None:
                told.insert(0, why_text.agent(payload.agent))
            told += [why_text.server(row) for row in payload.servers]
            told += [why_text.unknown_server(tool) for tool in payload.unserved]
            return "\n\n".join([why_text.no_part(thing), *told] if chosen == "path" else told)
        return "\n\n".join(why_text.explanation(one) for one in found)

    return Outcome(data=payload, text=text)


def _is_bundled(thing: str) -> bool:
    """Whether a word names a skill that comes with Checkrein. Other projects need not read those."""
    if not thing.replace("-", "").isalpha():
        return False
    from checkrein.passes.visibility.bundled_skills import bundled_names

    return thing in bundled_names()


def _seen(project: Project, found: list[Explanation]) -> list[Explanation]:
    """With the sessions that see a skill, where rules decide that."""
    bundled = any(one.origin is not None and one.origin.scope == "bundled" for one in found)
    if project.governance is None and not bundled:
        return found
    from checkrein.passes.visibility.outlook import annotated

    return annotated(project, found)


def _judged(payload: Payload, project: Project, texts: tuple[str, ...], given: Given) -> Payload:
    """Explain calls with the decisions that a session would make."""
    from msgspec.structs import replace

    from checkrein.passes.calls import parse_call
    from checkrein.passes.tools import added_tools
    from checkrein.policy.reasons import explain
    from checkrein.policy.situation import Terms
    from checkrein.runtime.call.links import LiveLinks
    from checkrein.runtime.session.prospect import situation_of

    added = added_tools(project.place.root)
    calls = {text: parse_call(text, added) for text in texts}
    terms = Terms(mode="default" if given.mode == "manual" else given.mode, tools=added.registry())
    met = situation_of(project, terms, trusted=given.trusted, layers=layers_of(given.layers))
    decisions = {text: explain(met, call, met.context(links=LiveLinks())) for text, call in calls.items()}
    status = met.trust
    standpoint = None if status is None else Standpoint(status.trusted, status.reason)
    judged = replace(payload, decisions=decisions, mode=met.mode, trust=standpoint, layers=met.layers)
    if given.agent is not None:
        judged = _of_agent(judged, given.agent, project, met, calls)
    tools = [call.tool for call in calls.values() if call.tool.startswith("mcp__")]
    if not tools:
        return judged
    rows, unserved = _servers(project, tools, given)
    return replace(judged, servers=rows, unserved=unserved)


def _of_agent(
    judged: Payload, name: str, project: Project, met: Situation, calls: Mapping[str, Call]
) -> Payload:
    """The same calls by an agent; the decisions so far are its parent's."""
    import os

    from msgspec.structs import replace

    from checkrein.model.view import View
    from checkrein.passes.agents import agent_types, no_agent
    from checkrein.passes.agents.agent_bounds import bounds
    from checkrein.runtime.call.links import LiveLinks
    from checkrein.runtime.memory.agent_memory import agent_memory
    from checkrein.runtime.trust import standing
    from checkrein.runtime.worktrees.foreseen import foreseen

    trust = standing(project, trusted=met.trusted, distrusted=not met.trusted)
    kinds = agent_types(View(trust.project), os.environ, trusts=trust.trusts)
    if name not in kinds:
        raise NotFoundError(no_agent(name, kinds), kind="agent_not_found")
    kind = kinds[name]
    place = foreseen(name, project.place) if kind.isolation is not None else None
    memory = agent_memory(kind, trust.project, os.environ)
    bound = bounds(kind, met, memory) if place is None else bounds(kind, met, memory, place.confine)
    terms = AgentTerms(name, bound.situation.mode, kind.origin, place.path if place is not None else None)
    return replace(
        judged,
        decisions={text: bound.explain(call, LiveLinks()) for text, call in calls.items()},
        parents=judged.decisions,
        agent=terms,
    )


def _servers(
    project: Project, tools: Sequence[str], given: Given
) -> tuple[tuple[ServerRow, ...], tuple[str, ...]]:
    """The servers that the tools belong to, each once, and the tools that belong to none."""
    import os

    from checkrein.model.view import View
    from checkrein.runtime.mcp import overview
    from checkrein.runtime.mcp.probe import probe
    from checkrein.runtime.mcp.roster import of_tool, roster
    from checkrein.runtime.trust import standing

    trust = standing(project, trusted=given.trusted is True, distrusted=given.trusted is False)
    every = roster(project, trust)
    owners = {tool: of_tool(every, tool) for tool in tools}
    found = [one for one in every if any(one in owner for owner in owners.values())]
    names = [one.server.name for one in found if one.part == "used"]
    seen = probe(View(trust.project), os.environ, names=names, timeout=_PATIENCE) if given.probe else ()
    unserved = tuple(tool for tool, owner in owners.items() if not owner)
    return overview.rows(found, seen, project.place), unserved


def _session(project: str, cache: str | None, model: str | None) -> Outcome:
    from checkrein.cli import why_prompt

    if cache is not None:
        served = why_prompt.cache_report_of(cache, project)
        return Outcome(data=Payload(cache, "cache", cache=served), text=lambda: why_prompt.cache_text(served))
    told = why_prompt.prompt_report(project, model)
    return Outcome(data=Payload(project, "prompt", prompt=told), text=lambda: why_prompt.prompt_text(told))

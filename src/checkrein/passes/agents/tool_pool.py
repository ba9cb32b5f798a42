"""The tools of a subagent: what it gets of those that its parent has, and why it does not get others.

In this order: `disallowedTools` takes away, `tools` keeps (absent: everything), a memory adds the tools that
keep it, then two filters take away what no subagent has and what none has in the background. A tool that
`disallowedTools` names stays away, also with a memory, and with Bash every other tool that runs commands. The
filters concern built-in tools: those of servers and of installed packages pass.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache

from msgspec import Struct

from checkrein.facts.subagents import AGENT_TOOL, IN_BACKGROUND, MEMORY_TOOLS, OF_TEAMMATES, WITHOUT
from checkrein.facts.tools import SHELL_TOOLS, TOOLS
from checkrein.passes.agents.agent_type import AgentType
from checkrein.policy.remote import PREFIX, normal, normal_pattern

_EXIT_PLAN = "ExitPlanMode"
_SEPARATOR = "__"


class Dropped(Struct, frozen=True):
    name: str
    why: str


class Pool(Struct, frozen=True, kw_only=True):
    """`names` are the tools that it gets, in the parent's order. `unknown` are the entries of `tools` that
    match nothing of the parent's. `dropped` are the tools that it would have without the filters."""

    names: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def canonical(name: str) -> str:
    """The name that a tool has now: `Agent` for `Task`."""
    return _aliases().get(name, name)


def pool(
    kind: AgentType,
    offered: Iterable[str],
    *,
    background: bool,
    depth: int,
    limit: int,
    mode: str,
    teammate: bool = False,
) -> Pool:
    """What `kind` gets of the tools that its parent has.

    `depth` is that of the subagent itself, 1 right below the main conversation. `limit` is the deepest that
    may exist. `mode` is the subagent's. Forks keep their parent's tools and never come here.
    """
    left = [name for name in dict.fromkeys(offered) if _taken(kind, name) is None]
    wanted = left if kind.tools is None else [name for name in left if named(name, kind.tools)]
    unknown = tuple(entry for entry in kind.tools or () if not any(_is(name, entry) for name in left))
    if kind.memory is not None:
        wanted = [name for name in left if name in wanted or name in MEMORY_TOOLS]
    names: list[str] = []
    dropped: list[Dropped] = []
    for name in wanted:
        why = _never(canonical(name), depth, limit, mode)
        if why is None and background:
            why = _not_in_background(canonical(name), teammate)
        if why is None:
            names.append(name)
        else:
            dropped.append(Dropped(name, why))
    return Pool(names=tuple(names), unknown=unknown, dropped=tuple(dropped))


def of_servers(kind: AgentType, servers: Iterable[str]) -> Iterator[str]:
    """The tools of servers before any is connected: all of a server's, and those that the agent names."""
    heads = [f"{PREFIX}{normal(name)}{_SEPARATOR}" for name in servers]
    yield from (f"{head}*" for head in heads)
    for entry in kind.tools or ():
        if "*" not in entry and any(normal(entry).startswith(head) for head in heads):
            yield normal(entry)


def no_tools(kind: AgentType, found: Pool) -> str | None:
    """Why an agent without any tool can't start, with the entries that led there. One whose `tools` is an
    empty list only talks, on purpose."""
    if found.names or kind.tools == ():
        return None
    said = [f"The agent {kind.name} can't start: it has no tool."]
    if found.unknown:
        said.append(f"Nothing here matches these entries of `tools`: {', '.join(found.unknown)}.")
    if found.dropped:
        said.append(f"Not available to it: {', '.join(f'{one.name} ({one.why})' for one in found.dropped)}.")
    if kind.disallowed:
        said.append(f"`disallowedTools` takes away: {', '.join(kind.disallowed)}.")
    return " ".join(said)


def lack(kind: AgentType, found: Pool, tool: str) -> tuple[str, str]:
    """The field that keeps a tool from an agent, empty where a filter does, and why. `found` does not have
    it."""
    entry = _taken(kind, tool)
    if entry is not None:
        return "disallowedTools", f"its `disallowedTools` names {entry}"
    dropped = next((one.why for one in found.dropped if one.name == canonical(tool)), None)
    if dropped is not None:
        return "", dropped
    return "tools", f"its `tools` does not name {tool}"


@cache
def _aliases() -> dict[str, str]:
    return {alias: fact.name for fact in TOOLS for alias in fact.aliases}


@cache
def _builtin() -> frozenset[str]:
    return frozenset(fact.name for fact in TOOLS).union(WITHOUT, IN_BACKGROUND, OF_TEAMMATES)


def _never(name: str, depth: int, limit: int, mode: str) -> str | None:
    if name == AGENT_TOOL and depth >= limit:
        return f"agents go at most {limit} deep"
    if name not in WITHOUT or (name == _EXIT_PLAN and mode == "plan"):
        return None
    return "only in the mode plan" if name == _EXIT_PLAN else "no subagent has it"


def _not_in_background(name: str, teammate: bool) -> str | None:
    if name not in _builtin() or name in IN_BACKGROUND or (teammate and name in OF_TEAMMATES):
        return None
    return "not in the background"


def _taken(kind: AgentType, name: str) -> str | None:
    """The entry of `disallowedTools` that takes a tool away."""
    meant = (name, SHELL_TOOLS[0]) if name in SHELL_TOOLS else (name,)
    return next((entry for entry in kind.disallowed if any(_is(one, entry) for one in meant)), None)


def named(name: str, entries: Iterable[str]) -> bool:
    """Whether entries of `tools` or `disallowedTools` name a tool."""
    return any(_is(name, entry) for entry in entries)


def _is(name: str, entry: str) -> bool:
    """Whether an entry means a tool: its name, an older name, a pattern, or `mcp__server` for all of a
    server's."""
    if not entry.startswith(PREFIX):
        return fnmatchcase(name, canonical(entry)) if "*" in entry else canonical(name) == canonical(entry)
    pattern = normal_pattern(entry)
    whole_server = _SEPARATOR not in pattern.removeprefix(PREFIX)
    return fnmatchcase(name, pattern) or (whole_server and name.startswith(pattern + _SEPARATOR))

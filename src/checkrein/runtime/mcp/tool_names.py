"""The names of server tools: `mcp__<server>__<tool>`, in the characters and the length that services take.

A name leads back to its tool by lookup only: both parts may hold `__`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.harmless import one_line
from checkrein.base.origin import BOUND_SCOPES, Origin
from checkrein.facts.mcp import TOOL_NAME_CHARS
from checkrein.policy.remote import PREFIX, Remote, normal

_HASH_CHARS = 10
_KEPT_CHARS = TOOL_NAME_CHARS - _HASH_CHARS - 1


def tool_name(remote: Remote) -> str:
    """The name that the model calls. The same tool always has the same one."""
    name = normal(remote.written)
    if len(name) <= TOOL_NAME_CHARS:
        return name
    from hashlib import sha256

    whole = f"{remote.server}\0{remote.tool}".encode("utf-8", "surrogatepass")
    return f"{name[:_KEPT_CHARS]}_{sha256(whole).hexdigest()[:_HASH_CHARS]}"


def may_be_of(server: str, name: str) -> bool:
    """Whether a tool of this server, or the server as a rule names it, can have the name."""
    start = normal(Remote(server, "").written)
    cut = len(name) == TOOL_NAME_CHARS and start.startswith(name[:_KEPT_CHARS])
    return cut or name == start.removesuffix("__") or name.startswith(start)


class Named(Struct, frozen=True):
    """The names of a server's tools, and a Diagnostic for each tool that can't have one."""

    names: dict[str, str]
    problems: tuple[Diagnostic, ...] = ()


class ToolNames:
    """The names in use in a session. Who has a name keeps it; nothing replaces a tool silently. Safe to use
    from several threads.

    `owners` are the entries of the session's servers. A server that came with a project or a plugin gets no
    name that reads as one of the user's own server: the rules for that one would hold for it."""

    def __init__(self, owners: Mapping[str, Origin] | None = None) -> None:
        self._lock = threading.Lock()
        self._own = {
            name: origin for name, origin in (owners or {}).items() if origin.scope not in BOUND_SCOPES
        }
        self._tools: dict[str, Remote] = {}
        self._origins: dict[str, Origin] = {}

    def take(self, server: str, tools: Iterable[str], origin: Origin) -> Named:
        """Name the tools of a server, in place of those that it had. `origin` is the server's entry."""
        with self._lock:
            self._drop(server)
            rivals = self._origins if server in self._own else {**self._origins, **self._own}
            twin = next((other for other in rivals if normal(other) == normal(server)), None)
            if twin is not None:
                return Named({}, (_twin_server(server, twin, origin, rivals[twin]),))
            self._origins[server] = origin
            names: dict[str, str] = {}
            problems: list[Diagnostic] = []
            for tool in tools:
                if not tool.strip():
                    problems.append(_nameless(server, origin))
                    continue
                remote = Remote(server, tool)
                name = tool_name(remote)
                owner = None if server in self._own else self._owner(remote)
                if owner is not None:
                    problems.append(_foreign(remote, owner, origin, self._own[owner]))
                    continue
                holder = self._tools.setdefault(name, remote)
                if holder is remote:
                    names[tool] = name
                else:
                    problems.append(_taken(remote, holder, name, origin, self._origins[holder.server]))
            return Named(names, tuple(problems))

    def _owner(self, remote: Remote) -> str | None:
        """The user's own server that a name seems to belong to."""
        name = normal(remote.written)
        return next((own for own in self._own if name.startswith(f"{PREFIX}{normal(own)}__")), None)

    def drop(self, server: str) -> None:
        with self._lock:
            self._drop(server)

    def _drop(self, server: str) -> None:
        self._origins.pop(server, None)
        self._tools = {name: one for name, one in self._tools.items() if one.server != server}

    def find(self, name: str) -> Remote | None:
        """The tool behind a name. Also takes the name with its original characters."""
        with self._lock:
            found = self._tools.get(name)
            return found or next((one for one in self._tools.values() if one.written == name), None)


def _twin_server(server: str, twin: str, origin: Origin, other: Origin) -> Diagnostic:
    return _problem(
        f"The MCP servers {_q(twin)} and {_q(server)} have the same name in rules, mcp__{normal(server)}. "
        f"The tools of {_q(server)} are not used",
        origin,
        other,
        "Rename one of the servers.",
    )


def _taken(remote: Remote, holder: Remote, name: str, origin: Origin, other: Origin) -> Diagnostic:
    return _problem(
        f"The tools {_q(holder.tool)} of {_q(holder.server)} and {_q(remote.tool)} of {_q(remote.server)} "
        f"have the same name, {name}. The second one is not used",
        origin,
        other,
        "Rename one of the tools or servers.",
    )


def _foreign(remote: Remote, owner: str, origin: Origin, other: Origin) -> Diagnostic:
    return _problem(
        f"The tool {_q(remote.tool)} of {_q(remote.server)} reads as a tool of your server {_q(owner)}. "
        "It is not used",
        origin,
        other,
        "Rename one of the servers.",
    )


def _nameless(server: str, origin: Origin) -> Diagnostic:
    message = f"A tool of the MCP server {_q(server)} has no name. It is not used"
    return Diagnostic("RUNMCP004", "error", message, origin, hint="Correct the server.")


def _problem(message: str, origin: Origin, other: Origin, hint: str) -> Diagnostic:
    return Diagnostic("RUNMCP004", "error", message, origin, hint=hint, related=(other,))


def _q(name: str) -> str:
    """A name that a server chose, for a message."""
    return repr(one_line(name[:120]))

"""A server entry as it is used: variables filled in, environment, directory and times decided."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.harmless import one_line
from checkrein.base.origin import BOUND_SCOPES, Origin
from checkrein.dialects.servers import expand, variables
from checkrein.facts import mcp
from checkrein.facts.claude import SERVER_TIMEOUT_MIN_MS
from checkrein.facts.models_providers import CREDENTIALS
from checkrein.model.items import Server

REMOTE = ("http", "sse")


class Times(Struct, frozen=True, kw_only=True):
    """Seconds. `idle` is how long a call may stay without an answer or progress; None is for ever."""

    startup: float = mcp.STARTUP_MS / 1000
    call: float = mcp.TOOL_MS / 1000
    idle: float | None = mcp.IDLE_STDIO_MS / 1000
    first_byte: float = mcp.FIRST_BYTE_MS / 1000


class Entry(Struct, frozen=True, kw_only=True):
    """A server, ready to connect. `env` is the whole environment of a stdio server's process and of the
    headers helper. `agent` is the one whose own server it is. `problem` says why it can't work; `findings`
    are warnings."""

    name: str
    transport: str
    origin: Origin
    argv: tuple[str, ...] = ()
    cwd: str = "/"
    env: dict[str, str] = {}
    url: str = ""
    headers: dict[str, str] = {}
    headers_helper: str | None = None
    oauth: dict[str, Any] = {}
    always_load: bool = False
    plugin: str | None = None
    agent: str | None = None
    times: Times = Times()
    problem: str | None = None
    findings: tuple[Diagnostic, ...] = ()

    @property
    def is_remote(self) -> bool:
        return self.transport in REMOTE

    @property
    def named(self) -> str:
        """How the commands on servers name it."""
        import shlex

        words = (self.name,) if self.agent is None else (self.name, "--agent", self.agent)
        return shlex.join(map(one_line, words))


class Place(Struct, frozen=True, kw_only=True):
    """Where a session's servers run. `env` is the environment of the session's children. `plugin_root` gives
    the directory of a plugin."""

    root: str
    env: Mapping[str, str]
    plugin_root: Callable[[str], str | None] = lambda plugin: None


def resolve(server: Server, place: Place, agent: str | None = None) -> Entry:
    """Total: what can't work has `problem` set."""
    plugin_root = place.plugin_root(server.plugin) if server.plugin else None
    known = _known(server, place, plugin_root)

    def filled(text: str) -> str:
        return expand(text, known)

    own_env = {name: filled(value) for name, value in server.env.items()}
    argv = (filled(server.command), *map(filled, server.args)) if server.command else ()
    cwd = os.path.join(place.root, os.path.expanduser(filled(server.cwd))) if server.cwd else place.root
    env = {**_inherited(server, place.env), mcp.PROJECT_DIR_ENV: place.root}
    if plugin_root:
        env[mcp.PLUGIN_ROOT_ENV] = plugin_root
    url = filled(server.url or "")
    headers = {name: filled(value) for name, value in server.headers.items()}
    return Entry(
        name=server.name,
        transport=server.transport,
        origin=server.origin,
        argv=argv,
        cwd=cwd,
        env=env | own_env,
        url=url,
        headers=headers,
        headers_helper=server.headers_helper,
        oauth=server.oauth,
        always_load=server.always_load,
        plugin=server.plugin,
        agent=agent,
        times=times(server, place.env),
        problem=_problem(server, argv, own_env, url, headers),
        findings=(*_unset(server, known), *_spaced(server, argv, own_env, url, headers)),
    )


def times(server: Server, env: Mapping[str, str]) -> Times:
    own = server.timeout_ms if (server.timeout_ms or 0) >= SERVER_TIMEOUT_MIN_MS else None
    every = _milliseconds(env, mcp.TOOL_ENV)
    call = own or every or mcp.TOOL_MS
    usual = mcp.IDLE_STDIO_MS if server.transport == "stdio" else mcp.IDLE_NETWORK_MS
    asked = _milliseconds(env, mcp.IDLE_ENV)
    idle = None if asked == 0 else max(asked or usual, own or 0)
    return Times(
        startup=(_milliseconds(env, mcp.STARTUP_ENV) or mcp.STARTUP_MS) / 1000,
        call=call / 1000,
        idle=None if idle is None else idle / 1000,
        first_byte=max(mcp.FIRST_BYTE_MS, own or every or 0) / 1000,
    )


def _milliseconds(env: Mapping[str, str], name: str) -> int | None:
    text = env.get(name, "").strip()
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 12 else None


def _known(server: Server, place: Place, plugin_root: str | None) -> dict[str, str]:
    """What `${VAR}` may mean. A file that came with a project never gets Checkrein's own credentials."""
    withheld = CREDENTIALS if server.origin.scope in BOUND_SCOPES else frozenset()
    known = {name: value for name, value in place.env.items() if name.upper() not in withheld}
    known.setdefault(mcp.PROJECT_DIR_ENV, place.root)
    if plugin_root:
        known[mcp.PLUGIN_ROOT_ENV] = plugin_root
    return known


def _inherited(server: Server, env: Mapping[str, str]) -> dict[str, str]:
    if server.transport == "stdio" and env.get(mcp.ALLOWLIST_ENV) == "1":
        return {name: env[name] for name in mcp.INHERITED_ENV if name in env}
    return dict(env)


def _unset(server: Server, known: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    missing = [name for name, default in variables(server).items() if default is None and name not in known]
    return tuple(
        Diagnostic(
            "RUNMCP001",
            "warning",
            f"The server `{server.name}` uses `${{{name}}}`, which "
            + (
                "no file of a project may use: it holds a credential of Checkrein."
                if name.upper() in CREDENTIALS
                else "is not set; the text stays as it is written."
            ),
            server.origin,
            hint=f"Set {name}, or write `${{{name}:-default}}`.",
        )
        for name in missing
    )


def _spaced(
    server: Server, argv: tuple[str, ...], env: Mapping[str, str], url: str, headers: Mapping[str, str]
) -> tuple[Diagnostic, ...]:
    """Space that nobody sees, at an end or as a character without a form, in a value of one line. The value
    is used as it is."""
    values = {
        "`url`": url,
        **{f"argument {at}" if at else "`command`": text for at, text in enumerate(argv)},
        **{f"the variable `{one_line(name)}`": text for name, text in env.items()},
        **{f"the header `{one_line(name)}`": text for name, text in headers.items()},
    }
    return tuple(
        Diagnostic(
            "RUNMCP005",
            "warning",
            f"The server `{server.name}` has hidden space in {where}.",
            server.origin,
            hint="Write the value again without it.",
        )
        for where, text in values.items()
        if "\n" not in text.strip() and text != one_line(text).strip()
    )


def _problem(
    server: Server, argv: tuple[str, ...], env: Mapping[str, str], url: str, headers: Mapping[str, str]
) -> str | None:
    if server.transport == "ws":
        return "The transport `ws` is not supported by Checkrein; use `http`."
    if server.transport in REMOTE and not url.strip():
        return "It is not configured: its `url` is empty."
    if server.problem:
        return f"The entry {server.problem}."
    if any("\0" in text for text in (*argv, *env, *env.values())) or any("=" in name for name in env):
        return "`command`, `args` or `env` holds a character that no process can get."
    if any(sign in text for text in (*headers, *headers.values()) for sign in "\r\n\0"):
        return "`headers` holds a line break."
    if server.transport in REMOTE and not url.lower().startswith(("http://", "https://")):
        return "`url` must begin with `https://` or `http://`."
    return None

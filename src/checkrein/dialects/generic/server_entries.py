"""MCP server entries in each agent's shape. Secrets are never written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from checkrein.dialects.generic.references import (
    PROJECT_DIR,
    has_reference,
    references,
    safe_text,
    safe_tree,
    safe_value,
    spell,
    whole_reference,
)
from checkrein.dialects.generic.written import Ledger, Variables
from checkrein.facts.agents import DocumentForm, Target
from checkrein.model.items import Server

_REMOTE = ("http", "sse", "ws")


def clean(server: Server, ledger: Ledger) -> Server:
    """The server without anything that looks like a secret. Each secret has a variable of its own."""

    def text(field: str, value: str | None) -> str | None:
        return None if value is None else safe_text(field, value, ledger, server.name)

    def named(field: str, values: dict[str, str]) -> dict[str, str]:
        return {name: safe_value(field, name, value, ledger, server.name) for name, value in values.items()}

    server = _settled(server, ledger)
    return msgspec.structs.replace(
        server,
        command=text("command", server.command),
        args=tuple(_argument(server, index, ledger) for index in range(len(server.args))),
        env=named("env", server.env),
        headers=named("headers", server.headers),
        url=text("url", server.url),
        headers_helper=text("headersHelper", server.headers_helper),
        oauth=safe_tree("oauth", "oauth", server.oauth, ledger, server.name),
        unknown=safe_tree("unknown", "", server.unknown, ledger, server.name),
    )


def _settled(server: Server, ledger: Ledger) -> Server:
    """Without Claude Code's variable for the project: other agents start a server in that directory."""
    if ledger.target.dialect == "claude" or server.cwd:
        return server

    def here(value: str) -> str:
        return PROJECT_DIR.sub(".", value)

    settled = msgspec.structs.replace(
        server,
        command=None if server.command is None else here(server.command),
        args=tuple(here(one) for one in server.args),
        env={name: here(value) for name, value in server.env.items()},
    )
    for field in ("command", "args", "env"):
        if getattr(settled, field) != getattr(server, field):
            ledger.approximated(
                field, f"{ledger.subject}: `.` replaces ${{CLAUDE_PROJECT_DIR}}, which nothing sets there"
            )
    return settled


def _argument(server: Server, index: int, ledger: Ledger) -> str:
    value = server.args[index]
    before = server.args[index - 1] if index else ""
    if before.startswith("--") and "=" not in before:
        return safe_value("args", before.strip("-"), value, ledger, server.name)
    return safe_text("args", value, ledger, server.name)


def server_entry(server: Server, target: Target, form: DocumentForm, ledger: Ledger) -> dict[str, Any]:
    """One entry in the shape of a file; the ledger gets the fields without a key there."""
    if form.env is not None:
        target = msgspec.structs.replace(target, env=form.env)
    safe = clean(server, ledger)
    for field in ("command", "args", "env", "url", "headers", "transport"):
        if getattr(server, field):
            ledger.kept(field)
    if target.dialect == "claude":
        ledger.kept(*(f"unknown.{key}" for key in server.unknown))
    return _SHAPES[form.shape](safe, target, ledger)


def _base(server: Server, target: Target) -> dict[str, Any]:
    entry: dict[str, Any] = {}
    if server.command is not None:
        entry["command"] = spell(server.command, target)
    if server.args:
        entry["args"] = [spell(value, target) for value in server.args]
    if server.env:
        entry["env"] = {name: spell(value, target) for name, value in server.env.items()}
    if server.url is not None:
        entry["url"] = spell(server.url, target)
    if server.headers:
        entry["headers"] = {name: spell(value, target) for name, value in server.headers.items()}
    return entry


def _take(server: Server, entry: dict[str, Any], ledger: Ledger, **keys: str) -> None:
    """Copy fields that have a key there."""
    for field, key in keys.items():
        value = getattr(server, field)
        if value not in (None, {}, False, ()):
            entry[key] = value
            ledger.kept(field)


def _claude(server: Server, target: Target, ledger: Ledger) -> dict[str, Any]:
    entry = _base(server, target)
    if server.transport != "stdio":
        entry = {"type": server.transport, **entry}
    if target.dialect == "claude":
        _take(server, entry, ledger, headers_helper="headersHelper", oauth="oauth", timeout_ms="timeout",
              always_load="alwaysLoad", cwd="cwd")  # fmt: skip
        entry |= server.unknown
    return entry


def _vscode(server: Server, target: Target, ledger: Ledger) -> dict[str, Any]:
    entry = {"type": server.transport, **_base(server, target)}
    _take(server, entry, ledger, cwd="cwd")
    return entry


def _cursor(server: Server, target: Target, ledger: Ledger) -> dict[str, Any]:
    if server.transport == "sse":
        ledger.outcomes.pop("transport", None)
        ledger.approximated("transport", f"{ledger.subject}: the address decides the transport there")
    entry = _base(server, target)
    _take(server, entry, ledger, cwd="cwd")
    return entry


def _gemini(server: Server, target: Target, ledger: Ledger) -> dict[str, Any]:
    entry = _base(server, target)
    if server.transport == "http" and "url" in entry:
        entry = {("httpUrl" if key == "url" else key): value for key, value in entry.items()}
    if server.transport == "ws":
        ledger.outcomes.pop("transport", None)
        ledger.lost("transport", f"{ledger.subject}: there is no `ws` transport there")
    _take(server, entry, ledger, cwd="cwd", timeout_ms="timeout")
    return entry


def _opencode(server: Server, target: Target, ledger: Ledger) -> dict[str, Any]:
    if server.transport in _REMOTE:
        if server.transport != "http":
            ledger.outcomes.pop("transport", None)
            ledger.approximated("transport", f"{ledger.subject}: `{server.transport}` is `remote` there")
        base = _base(server, target)
        entry: dict[str, Any] = {"type": "remote", "url": base.get("url", "")}
        if "headers" in base:
            entry["headers"] = base["headers"]
    else:
        base = _base(server, target)
        entry = {"type": "local", "command": [base.get("command", ""), *base.get("args", [])]}
        if "env" in base:
            entry["environment"] = base["env"]
        _take(server, entry, ledger, cwd="cwd")
    entry["enabled"] = True
    _take(server, entry, ledger, timeout_ms="timeout")
    return entry


def _codex(server: Server, target: Target, ledger: Ledger) -> dict[str, Any]:
    """config.toml does not expand text: whole references become names of variables to pass on."""
    entry: dict[str, Any] = {}
    if server.command is not None:
        entry["command"] = server.command
    if server.args:
        entry["args"] = list(server.args)
    _pass_on(server.env, "env", "env_vars", entry, ledger, same_name=True)
    if server.url is not None:
        entry["url"] = server.url
    headers = dict(server.headers)
    token = headers.get("Authorization", "")
    if token.startswith("Bearer ") and (name := whole_reference(token.removeprefix("Bearer "))):
        entry["bearer_token_env_var"] = name
        del headers["Authorization"]
    _pass_on(headers, "headers", "env_http_headers", entry, ledger, same_name=False)
    if any(has_reference(text) for text in (server.command or "", *server.args, server.url or "")):
        ledger.outcomes.pop("args", None)
        ledger.approximated(
            "args", f"{ledger.subject}: ${{…}} in command, arguments or address is not replaced there"
        )
    _take(server, entry, ledger, cwd="cwd")
    if server.timeout_ms is not None:
        entry["tool_timeout_sec"] = server.timeout_ms / 1000
        ledger.kept("timeout_ms")
    if server.transport in ("sse", "ws"):
        ledger.outcomes.pop("transport", None)
        ledger.approximated("transport", f"{ledger.subject}: `{server.transport}` is plain HTTP there")
    return entry


def _pass_on(
    values: dict[str, str],
    field: str,
    by_name: str,
    entry: dict[str, Any],
    ledger: Ledger,
    *,
    same_name: bool,
) -> None:
    literal: dict[str, str] = {}
    names: dict[str, str] = {}
    for key, value in values.items():
        name = whole_reference(value)
        if name is not None and (not same_name or name == key):
            names[key] = name
        else:
            literal[key] = value
    if literal:
        entry["env" if same_name else "http_headers"] = literal
    if names:
        entry[by_name] = list(names.values()) if same_name else names
    if any(has_reference(value) for value in literal.values()):
        ledger.outcomes.pop(field, None)
        ledger.approximated(field, f"{ledger.subject}: ${{…}} inside `{field}` is not replaced there")


_SHAPES = {
    "claude": _claude,
    "copilot": _vscode,
    "cursor": _cursor,
    "gemini": _gemini,
    "opencode": _opencode,
    "codex": _codex,
    "amp": _cursor,
}
SERVER_KEYS = {"copilot": "servers", "opencode": "mcp", "codex": "mcp_servers", "amp": "amp.mcpServers"}
"""The key that holds the entries, if it is not `mcpServers`."""


def goose_extensions(
    servers: Iterable[Server], target: Target, variables: Variables
) -> tuple[dict[str, Any], ...]:
    """What a recipe has to declare: goose's own tools, and the project's servers.

    A recipe names the variables that a server needs and never holds their values.
    """
    found: list[dict[str, Any]] = [{"type": "builtin", "name": "developer"}]
    for server in servers:
        if server.problem:
            continue
        safe = clean(server, Ledger(target, "server", server, variables=variables))
        entry: dict[str, Any]
        if safe.transport in _REMOTE:
            kind = "sse" if safe.transport == "sse" else "streamable_http"
            entry = {"type": kind, "name": safe.name, "uri": safe.url or ""}
            if safe.headers:
                entry["headers"] = dict(safe.headers)
        else:
            entry = {"type": "stdio", "name": safe.name, "cmd": safe.command or "", "args": list(safe.args)}
            plain = {name: value for name, value in safe.env.items() if not has_reference(value)}
            if plain:
                entry["envs"] = plain
        needed = [*safe.env.values(), *safe.headers.values(), safe.url or "", *safe.args]
        names = [name for value in needed for name in references(value)]
        if names:
            entry["env_keys"] = list(dict.fromkeys(names))
        found.append(entry)
    return tuple(found)

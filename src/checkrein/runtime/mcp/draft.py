"""A new server entry, from words of a command line or from JSON. Messages never repeat a value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from checkrein.base.errors import UsageError
from checkrein.base.jsonpos import JsonError, decode
from checkrein.base.nearest import did_you_mean
from checkrein.base.origin import COMMAND_LINE, Origin
from checkrein.dialects.codes import Log
from checkrein.dialects.servers import read_entry
from checkrein.facts import claude
from checkrein.facts.mcp import SERVER_NAME
from checkrein.model.items import Server

_EXAMPLE = 'Such as \'{"command": "npx", "args": ["-y", "tracker-mcp"]}\'.'
_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Words(Struct, frozen=True, kw_only=True):
    """What a command line says about a server. `transport` None: the target tells it."""

    target: str
    args: Sequence[str] = ()
    transport: str | None = None
    env: Sequence[str] = ()
    headers: Sequence[str] = ()
    client_id: str | None = None
    callback_port: int | None = None


def require_name(name: str) -> None:
    if name in claude.RESERVED_SERVERS:
        raise UsageError(
            f"The server name {name!r} is reserved.", kind="server_name_invalid", hint="Choose another name."
        )
    if not re.fullmatch(SERVER_NAME, name):
        raise UsageError(
            f"The server name {name!r} holds characters other than letters, digits, `-` and `_`.",
            kind="server_name_invalid",
            hint="In the names of its tools such characters become `_`, so rules could not spell it.",
        )


def from_words(words: Words) -> dict[str, Any]:
    transport = words.transport or _transport(words.target)
    if transport == "stdio":
        return _program(words)
    if not _is_address(words.target):
        raise UsageError(f"A server of the transport {transport} needs an address that begins with https://.")
    if words.args or words.env:
        what = "--env" if words.env else "arguments"
        raise UsageError(f"A server with an address takes no {what}; only a program does.")
    entry: dict[str, Any] = {"type": transport, "url": words.target}
    if words.headers:
        entry["headers"] = dict(_header(text) for text in words.headers)
    oauth: dict[str, Any] = {}
    if words.client_id is not None:
        oauth["clientId"] = words.client_id
    if words.callback_port is not None:
        oauth["callbackPort"] = _port(words.callback_port)
    return {**entry, "oauth": oauth} if oauth else entry


def from_json(text: str) -> dict[str, Any]:
    decoded = decode(text)
    if isinstance(decoded, JsonError):
        where = f"line {decoded.span.line}, column {decoded.span.column}"
        raise UsageError(
            f"The entry is not JSON: {decoded.message} ({where}).", kind="server_invalid", hint=_EXAMPLE
        )
    if not isinstance(decoded.value, dict):
        raise UsageError("The entry must be a JSON object.", kind="server_invalid", hint=_EXAMPLE)
    if "mcpServers" in decoded.value:
        raise UsageError(
            "The entry is a whole file; give the object of one server.",
            kind="server_invalid",
            hint=_EXAMPLE,
        )
    return decoded.value


def checked(name: str, entry: dict[str, Any]) -> Server:
    """The entry as readers see it. Raises UsageError when they would skip it or a known part of it. Keys that
    nobody knows stay."""
    log = Log()
    server = read_entry(name, entry, Origin(COMMAND_LINE, "cli"), "$", {}, log)
    if server is None or log:
        told = "; ".join(one.message for one in log) or "it is not an object"
        raise UsageError(f"The entry is not usable: {told}.", kind="server_invalid")
    if server.problem is not None:
        raise UsageError(f"The server {name} {server.problem}.", kind="server_invalid", hint=_EXAMPLE)
    for key in ("command", "url"):
        if not isinstance(entry.get(key), str | None):
            raise UsageError(f"`{key}` of the entry must be text.", kind="server_invalid", hint=_EXAMPLE)
    for key in server.unknown:
        if key == "timeout":
            least = claude.SERVER_TIMEOUT_MIN_MS
            raise UsageError(
                f"`timeout` is in milliseconds, from {least:,} on; less is ignored.", kind="server_invalid"
            )
        meant = did_you_mean(key, claude.SERVER_KEYS)
        if meant:
            raise UsageError(f"A server has no key {key!r}.{meant}", kind="server_invalid")
    return server


def _transport(target: str) -> str:
    if not _is_address(target):
        return "stdio"
    if target.rstrip("/").endswith("/sse"):
        raise UsageError("Say --transport http or --transport sse: the address does not tell which.")
    return "http"


def _program(words: Words) -> dict[str, Any]:
    if _is_address(words.target):
        raise UsageError("An address is not a program; say --transport http.")
    for given, flag in (
        (words.headers, "--header"),
        (words.client_id, "--client-id"),
        (words.callback_port, "--callback-port"),
    ):
        if given:
            raise UsageError(f"{flag} is for servers with an address, not for a program.")
    entry: dict[str, Any] = {"type": "stdio", "command": words.target, "args": list(words.args)}
    return {**entry, "env": dict(_variable(text) for text in words.env)} if words.env else entry


def _variable(text: str) -> tuple[str, str]:
    name, found, value = text.partition("=")
    if not found or not _VARIABLE_NAME.fullmatch(name):
        raise UsageError("--env takes NAME=VALUE, with letters, digits and `_` in the name.")
    return name, value


def _header(text: str) -> tuple[str, str]:
    name, found, value = text.partition(":")
    name, value = name.strip(), value.strip()
    if not found or not _HEADER_NAME.fullmatch(name) or not value:
        raise UsageError("--header takes 'Name: value'.")
    if not value.isprintable():
        raise UsageError(f"The value of the header {name} holds a control character.")
    return name, value


def _port(port: int) -> int:
    if not 0 < port < 65536:
        raise UsageError("--callback-port takes a number from 1 to 65535.")
    return port


def _is_address(target: str) -> bool:
    return target.lower().startswith(("http://", "https://"))

"""The headers of a remote server: those of its entry, and those that its `headersHelper` prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import msgspec
from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.errors import CheckreinError
from checkrein.base.harmless import one_line
from checkrein.base.origin import BOUND_SCOPES
from checkrein.facts import mcp
from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.process.command import Command, Completed

Run = Callable[[Command, Cancel], Completed]
"""`Spawner.run` in a session. It refuses a command from an origin that is not trusted."""

_SAID = 200


class Headers(Struct, frozen=True):
    """`finding` says why the helper's headers are missing."""

    values: dict[str, str]
    finding: Diagnostic | None = None

    @property
    def has_authorization(self) -> bool:
        return has_authorization(self.values)


def has_authorization(values: Iterable[str]) -> bool:
    return any(name.lower() == "authorization" for name in values)


def headers(entry: Entry, run: Run | None) -> Headers:
    """Runs the helper, and waits for it. Without one, or when it fails, the entry's own headers."""
    if not entry.headers_helper or run is None:
        return Headers(entry.headers)
    command = Command(
        argv=entry.headers_helper,
        cwd=entry.cwd,
        origin=entry.origin,
        purpose=f"the headers helper of the MCP server {entry.name}",
        env=helper_env(entry),
        timeout=mcp.HELPER_SECONDS,
        limit=1 << 16,
    )
    try:
        ended = run(command, Cancel())
    except CheckreinError as error:
        return _without(entry, str(error))
    except OSError as error:
        return _without(entry, f"It could not be started: {error}.")
    if ended.timed_out:
        return _without(entry, f"It took longer than {mcp.HELPER_SECONDS:g} s.")
    if ended.exit_code != 0:
        said = one_line(ended.stderr.decode("utf-8", "replace").strip()[-_SAID:])
        return _without(entry, f"It ended with status {ended.exit_code}: {said}")
    try:
        printed = msgspec.json.decode(ended.stdout, type=dict[str, str])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _without(entry, "It must print one JSON object of strings.")
    if any(sign in text for text in (*printed, *printed.values()) for sign in "\r\n\0"):
        return _without(entry, "It printed a header with a line break.")
    new = {name.lower() for name in printed}
    kept = {name: value for name, value in entry.headers.items() if name.lower() not in new}
    return Headers({**kept, **printed})


def helper_env(entry: Entry) -> dict[str, str]:
    """A helper that came with a project or a plugin gets nothing that looks like a credential."""
    env: Mapping[str, str] = entry.env
    if entry.origin.scope in BOUND_SCOPES:
        env = {name: value for name, value in env.items() if mcp.SECRET_PARTS.isdisjoint(_parts(name))}
    return {**env, mcp.HELPER_NAME_ENV: entry.name, mcp.HELPER_URL_ENV: entry.url}


def _parts(name: str) -> list[str]:
    return name.upper().split("_")


def _without(entry: Entry, why: str) -> Headers:
    message = f"The headers helper of the server `{entry.name}` gave no headers. {why}"
    hint = "Run the command of `headersHelper` yourself, and look at what it prints."
    return Headers(entry.headers, Diagnostic("RUNMCP002", "warning", message, entry.origin, hint=hint))

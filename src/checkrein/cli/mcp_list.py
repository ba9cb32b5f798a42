"""`checkrein mcp list`: every server, how it is, and why one is not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.cli.mcp_target import TIMEOUT_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.runtime.mcp.server_row import ServerRow

if TYPE_CHECKING:
    from collections.abc import Sequence

    from checkrein.cli.mcp_target import Roll
    from checkrein.runtime.mcp.probe import Probed


class Payload(Struct, frozen=True, omit_defaults=True):
    """`lock_written` says whether --write-lock changed `checkrein.lock`; `problems` are files that are not
    used."""

    root: str
    trusted: bool
    servers: tuple[ServerRow, ...] = ()
    lock_written: bool = False
    problems: tuple[str, ...] = ()


COMMAND = Command(
    name="mcp list",
    summary="List the MCP servers, how they are, and their tools.",
    details="It connects to each server. For a server that no session uses it says why.",
    args=(
        PROJECT_ARG,
        Arg(
            name="no_probe",
            flags=("--no-probe",),
            type="bool",
            help="Connect to nothing; only say what the files say.",
        ),
        Arg(
            name="write_lock",
            flags=("--write-lock",),
            type="bool",
            help="Write the tools of the project's servers into checkrein.lock.",
        ),
        TIMEOUT_ARG,
    ),
    payload=Payload,
    errors=("project_not_found", "lock_broken", "lock_unwritable"),
    examples=(
        ("checkrein mcp list", "connect to all servers"),
        ("checkrein mcp list --no-probe", "without connecting"),
        ("checkrein mcp list --write-lock", "for the team: what the tools are now"),
    ),
)


def run(project: str, no_probe: bool, write_lock: bool, timeout: float) -> Outcome:
    import os

    from checkrein.base.errors import UsageError
    from checkrein.cli.mcp_target import roll
    from checkrein.runtime.mcp import lockfile, overview
    from checkrein.runtime.mcp.pins import Pins
    from checkrein.runtime.mcp.probe import probe

    if no_probe and write_lock:
        raise UsageError("--write-lock needs the tools; leave --no-probe out.")
    found = roll(project)
    place = found.project.place
    seen = () if no_probe else probe(found.view, os.environ, timeout=timeout)
    written = write_lock and locked(found, seen)
    problems = (Pins(place).problem, lockfile.read(place).problem)
    payload = Payload(
        place.root,
        found.trust.trusted,
        overview.rows(found.listed, seen, place),
        written,
        tuple(problem for problem in problems if problem),
    )

    def text() -> str:
        from checkrein.cli import mcp_text

        return mcp_text.listing(payload)

    return Outcome(data=payload, text=text, warnings=found.unread)


def locked(found: Roll, seen: Sequence[Probed]) -> bool:
    """Write the lock: the project's servers that are connected, and those of before that still exist."""
    from checkrein.runtime.mcp import lockfile
    from checkrein.runtime.mcp.tool_hashes import hashes

    shared = {
        one.server.name
        for one in found.listed
        if lockfile.is_shared(one.server) and one.part in ("used", "untrusted")
    }
    now = {
        one.status.name: hashes(one.catalog)
        for one in seen
        if one.status.name in shared and one.status.state == "connected"
    }
    return lockfile.write(found.project.place, now, shared)

"""Servers as rows: where each comes from, how it is, what it offers, and what differs from before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from checkrein.base.secrets import redact_text
from checkrein.model.project import Place
from checkrein.passes.rows import summary
from checkrein.runtime.mcp import lockfile
from checkrein.runtime.mcp.pins import Pins
from checkrein.runtime.mcp.probe import Probed
from checkrein.runtime.mcp.roster import Listed
from checkrein.runtime.mcp.server_row import Changes, ServerRow
from checkrein.runtime.mcp.tool_hashes import compare, hashes


def rows(listed: Iterable[Listed], probed: Iterable[Probed], place: Place) -> tuple[ServerRow, ...]:
    seen = {one.status.name: one for one in probed}
    locked = lockfile.read(place).servers
    pins = Pins(place)
    return tuple(_row(one, seen, locked, pins) for one in listed)


def _row(
    listed: Listed, seen: Mapping[str, Probed], locked: Mapping[str, Mapping[str, str]], pins: Pins
) -> ServerRow:
    server = listed.server
    plain = ServerRow(
        name=server.name,
        scope=server.origin.scope,
        transport=server.transport,
        summary=summary(server),
        origin=server.origin,
        state="configured" if listed.part == "used" else listed.part,
        reason=listed.reason,
    )
    probed = seen.get(server.name)
    if listed.part != "used" or probed is None:
        return plain
    status, catalog = probed.status, probed.catalog
    told = replace(
        plain,
        state=status.state,
        reason=redact_text(status.error or "") or None,
        connect_ms=status.connect_ms,
    )
    if status.state != "connected":
        return told
    changes = pins.compared(server, catalog)
    known = locked.get(server.name) if lockfile.is_shared(server) else None
    differs = None if known is None else compare(known, hashes(catalog))
    return replace(
        told,
        program=" ".join(filter(None, (catalog.server_name, catalog.server_version))) or None,
        protocol=catalog.protocol or None,
        tools=tuple(tool.name for tool in catalog.tools),
        prompts=len(catalog.prompts),
        resources=len(catalog.resources),
        asks=() if changes is None else tuple(sorted(changes.unknown)),
        lock=None if differs == Changes() else differs,
    )

"""Channels of a server that the plugin does not have."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import PLUGIN, manifest
from checkrein.passes.checks.manifests import key_origin, manifest_values


def run(subject: Subject) -> Iterator[Finding]:
    for plugin in subject.project.sources.plugins:
        channels = manifest_values(subject, plugin).get("channels")
        own = {s.name.rpartition(":")[2] for s in subject.project.sources.servers if s.plugin == plugin.name}
        for number, channel in enumerate(channels if isinstance(channels, list) else ()):
            wanted = channel.get("server") if isinstance(channel, dict) else None
            if isinstance(wanted, str) and wanted not in own:
                origin = key_origin(subject, plugin.origin, f"$.channels[{number}].server")
                message = f"The channel names `{wanted}`, which is not a server of the plugin"
                yield Finding(origin=origin, message=message)


_SERVERS = {"inbox": {"command": "inbox-mcp"}}

CHECK = Check(
    code="PL020",
    name="channel-server-missing",
    severity="error",
    summary="A channel names a server that the plugin does not have.",
    why="Claude Code can't open the channel.",
    hint="Use a key of the plugin's `mcpServers`.",
    bad={PLUGIN: manifest(mcpServers=_SERVERS, channels=[{"server": "inbx"}])},
    good={PLUGIN: manifest(mcpServers=_SERVERS, channels=[{"server": "inbox"}])},
    run=run,
)

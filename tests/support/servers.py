"""MCP servers that nobody has to start: what they offer is a value."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from checkrein.llm.cancel import Cancel
from checkrein.model.view import View
from checkrein.runtime.mcp.connection import (
    CallResult,
    Catalog,
    Progress,
    PromptMessage,
    RemoteTool,
    ServerFailure,
    Status,
)


def catalog(**tools: str) -> Catalog:
    """Tools by name, each with its description."""
    made = tuple(RemoteTool(name=name, description=text) for name, text in tools.items())
    return Catalog(tools=made, server_name="fake", server_version="1.0", protocol="2025-11-25")


class FakeConnection:
    """A server that echoes. `fail` is why it is not connected, or why its calls fail."""

    def __init__(self, status: Status, offered: Catalog, fail: str | None = None) -> None:
        self.status, self.catalog, self.fail = status, offered, fail
        self.name = status.name
        self.calls: list[tuple[str, dict[str, Any]]] = []

    def call_tool(
        self,
        tool: str,
        input: dict[str, Any],
        cancel: Cancel,
        progress: Progress | None = None,
        call: str = "",
    ) -> CallResult:
        self.calls.append((tool, input))
        if self.fail is not None:
            raise ServerFailure(self.fail)
        return CallResult(content=({"type": "text", "text": f"{tool} {sorted(input)}"},))

    def read_resource(self, uri: str, cancel: Cancel) -> tuple[dict[str, Any], ...]:
        return ()

    def get_prompt(self, prompt: str, arguments: dict[str, str], cancel: Cancel) -> tuple[PromptMessage, ...]:
        return ()


class FakeServers:
    """What `probe.connect` gives. `offers` is what each server has; one without an offer fails."""

    def __init__(self, offers: Mapping[str, Catalog], fail: str | None = None) -> None:
        self.offers, self.fail = offers, fail
        self.started: list[str] = []
        self.made: dict[str, FakeConnection] = {}
        self.closed = 0

    def connect(self, view: View, env: Mapping[str, str], names: Collection[str]) -> FakeServers:
        for name in names:
            server = view.servers[name]
            offered = self.offers.get(name)
            status = Status(
                name=name,
                state="failed" if offered is None else "connected",
                scope=server.origin.scope,
                transport=server.transport,
                error="It did not start." if offered is None else None,
                connect_ms=None if offered is None else 5,
            )
            self.made[name] = FakeConnection(status, offered or Catalog(), self.fail)
        self.started += names
        return self

    def wait(self, names: Collection[str], timeout: float, cancel: Cancel) -> None:
        pass

    def get(self, name: str) -> FakeConnection | None:
        return self.made.get(name)

    def close(self, grace: float) -> None:
        self.closed += 1

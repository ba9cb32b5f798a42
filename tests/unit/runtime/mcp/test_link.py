"""A stdio server from the first handshake to its end."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from support.mcp_servers import stdio

from .conftest import Connect


def test_connect_list_and_call(connect: Connect, tmp_path: Path) -> None:
    servers = connect(stdio(tmp_path, "plain"))
    link = servers.get("plain")
    assert link is not None
    assert link.status.state == "connected", link.status
    assert link.status.connect_ms is not None
    assert [tool.name for tool in link.catalog.tools] == ["echo"]
    assert (link.catalog.instructions, link.catalog.server_name) == ("Be kind.", "plain")
    result = link.call_tool("echo", {"a": [1, "ü"]}, Cancel())
    assert result.content == ({"type": "text", "text": '{"a": [1, "\\u00fc"]}'},)
    assert not result.is_error


def test_an_error_of_the_server(connect: Connect, tmp_path: Path) -> None:
    changes = "def call(request, name, arguments): refuse(request, -32602, 'no \\x1b[31mway')"
    link = connect(stdio(tmp_path, "s", changes)).get("s")
    with pytest.raises(ServerFailure, match=r"no \\x1b\[31mway \(-32602\)") as failed:
        link.call_tool("echo", {}, Cancel())
    assert failed.value.kind == "failed"

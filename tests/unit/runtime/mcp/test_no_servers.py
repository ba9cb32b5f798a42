"""A session pays for MCP servers only when it has some, and before its first request only a little."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

_CODE = """
import sys
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel

class Model(ScriptedModel):
    def stream(self, request, cancel):
        loaded = {name.partition(".")[0] for name in sys.modules}
        print(sorted(loaded & {"mcp", "mcp_types", "asyncio", "anyio", "httpx2", "pydantic"}))
        print(sorted(name for name in sys.modules if name.startswith("checkrein.runtime.mcp")))
        return super().stream(request, cancel)

with Session(".", model=Model([{"text": "hi"}]), options=Options(trust=True)) as session:
    list(session.events("go"))
"""


def loaded(project: Path) -> tuple[list[str], list[str]]:
    """What is imported when the first request goes out: heavy packages, and our own modules for servers."""
    done = subprocess.run(
        [sys.executable, "-c", _CODE], cwd=project, capture_output=True, text=True, check=True, timeout=60
    )
    heavy, own = (json.loads(line.replace("'", '"')) for line in done.stdout.splitlines()[:2])
    return heavy, own


def test_a_session_without_servers_imports_nothing_for_them(project: Path) -> None:
    assert loaded(project) == ([], [])


@pytest.mark.project({".mcp.json": {"mcpServers": {"s": {"command": "true"}}}})
def test_the_first_request_goes_out_before_the_heavy_packages_are_imported(project: Path) -> None:
    heavy, own = loaded(project)
    assert heavy == []
    assert "checkrein.runtime.mcp.session_servers" in own

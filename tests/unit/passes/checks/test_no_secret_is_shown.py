"""Findings about secrets never show them, in no format."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from checkrein.base.diagnostic import count
from checkrein.cli.check_text import render
from checkrein.passes.findings import check
from checkrein.passes.load import load
from checkrein.passes.survey.examined import Examined

SECRET = "3f9c1d77a2b84e60"
FILES = {
    ".claude/settings.json": json.dumps({"env": {"DEPLOY_TOKEN": SECRET}}, indent=2),
    ".mcp.json": json.dumps(
        {
            "mcpServers": {
                "a": {"command": "a", "env": {"A_TOKEN": SECRET}},
                "b": {
                    "type": "http",
                    "url": f"https://me:{SECRET}@example.com",
                    "headers": {"X-Api-Key": SECRET},
                },
                "c": {"command": "c", "args": ["--api-key", SECRET]},
            }
        }
    ),
    "CLAUDE.md": f"Deploy with sk-ant-{SECRET}.\n",
}


@pytest.mark.parametrize("format_", ["text", "json", "sarif", "github", "gitlab"])
def test_no_format_shows_a_secret(tmp_path: Path, format_: str) -> None:
    from checkrein.cli.check import Payload

    (tmp_path / ".git").mkdir()
    (tmp_path / ".claude").mkdir()
    for name, content in FILES.items():
        (tmp_path / name).write_text(content, "utf-8")
    home = str(tmp_path / "home")
    found = check(load(tmp_path, env={"HOME": home}, home=home))
    assert {"CC036", "MCP009", "MEM010"} <= {finding.code for finding in found}
    assert SECRET not in msgspec.json.encode(found).decode()
    assert SECRET not in render(Payload(str(tmp_path), tuple(found), count(found), Examined(0, {})), format_)

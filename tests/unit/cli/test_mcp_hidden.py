"""What `checkrein mcp list` and `mcp get` hide, and what they must not keep quiet about."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrein.base.secrets import redact_url
from checkrein.cli.main import run

KEY = "k3J9sLq0aZ81mN"
URL = f"https://user:pw12345@x.example.com/mcp?team=a&api_key={KEY}&key={KEY}#access_token={KEY}"
SERVERS = {"mcpServers": {"far": {"type": "http", "url": URL}}}


@pytest.mark.project({}, home={".claude.json": SERVERS}, inside=".")
@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("words", [("list", "--no-probe"), ("get", "far", "--no-probe")])
@pytest.mark.parametrize("form", [(), ("--json",)])
def test_an_address_shows_no_secret(
    words: tuple[str, ...], form: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["mcp", *words, *form]) == 0
    shown = capsys.readouterr().out
    assert KEY not in shown
    assert "pw12345" not in shown
    assert "x.example.com/mcp?team=a&api_key=‹redacted›" in shown


def test_a_variable_in_an_address_is_shown() -> None:
    assert (
        redact_url("https://x.example.com/?key=${KEY}&page=2") == "https://x.example.com/?key=${KEY}&page=2"
    )
    assert redact_url("https://x.example.com/keys/one?monkey=1") == "https://x.example.com/keys/one?monkey=1"


@pytest.mark.project({".mcp.json": "{broken"}, home={".claude.json": "[broken"}, inside=".")
def test_a_broken_file_of_servers_is_told(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mcp", "list", "--no-probe"]) == 0
    told = capsys.readouterr()
    assert f"{project / '.mcp.json'}:1: .mcp.json is not JSON" in told.err
    assert ".claude.json is not JSON" in told.err
    assert run(["mcp", "list", "--no-probe", "--json"]) == 0
    assert [one["code"] for one in json.loads(capsys.readouterr().out)["warnings"]] == ["JSON001", "JSON001"]

"""What a newcomer reads when a command on servers goes wrong: what happened, why, and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from checkrein.cli import parser
from checkrein.cli.main import run
from checkrein.runtime.mcp.connection import Status
from checkrein.runtime.mcp.probe import within

pytestmark = [
    pytest.mark.project({"CLAUDE.md": "x"}, inside="."),
    pytest.mark.usefixtures("project"),
]


def said(capsys: pytest.CaptureFixture[str], *words: str, status: int) -> str:
    assert run(["mcp", *words]) == status
    return capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("ad",), ("There is no command 'ad'", "Did you mean 'add'?")),
        (("add",), ("Missing argument 'NAME'", "checkrein mcp add --help")),
        (("add", "x"), ("Missing argument 'COMMAND_OR_URL'", "checkrein mcp add --help")),
        (("add", "x", "prog", "--own"), ("No such option", "Put `--` before the command")),
        (("add-json", "x", "{bad"), ("is not JSON", "line 1", "Such as")),
        (("add-json", "x", "[]"), ("must be a JSON object", "Such as")),
        (("add-json", "x", "{}"), ("has no `command`", "Such as")),
        (("add-json", "x", '{"command": 5}'), ("`command` of the entry must be text", "Such as")),
        (("add-json", "x", '{"type": "http", "url": 5}'), ("`url` of the entry must be text", "Such as")),
    ],
)
def test_wrong_words(capsys: pytest.CaptureFixture[str], words: tuple[str, ...], parts: tuple[str]) -> None:
    text = said(capsys, *words, status=2)
    assert [part for part in parts if part not in text] == []


def test_a_server_behind_a_broken_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".mcp.json").write_text('{"mcpServers": {,}}')
    for words in (("get", "team"), ("login", "team"), ("test", "team"), ("approve", "team")):
        text = said(capsys, *words, status=1)
        assert "There is no server 'team'" in text
        assert ".mcp.json:1" in text
        assert "Repair the file." in text


def test_a_login_to_a_server_that_is_down(capsys: pytest.CaptureFixture[str]) -> None:
    run(["mcp", "add", "down", "http://127.0.0.1:9/mcp"])
    text = said(capsys, "login", "down", status=1)
    assert "Not signed in to down: It could not be reached" in text
    assert "`checkrein mcp test down`" in text


def test_a_home_that_can_not_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CHECKREIN_HOME", str(tmp_path / "file" / "home"))
    text = said(capsys, "add", "x", "prog", status=1)
    assert "can't be written" in text
    assert f"Check the permissions of {tmp_path / 'file'}" in text


def test_a_server_that_is_not_ready_says_so() -> None:
    status = Status(name="s", state="pending", scope="user", transport="stdio")
    assert (within(status, 2.0).error or "").startswith("It was not ready within 2 s.")
    ready = Status(name="s", state="connected", scope="user", transport="stdio")
    assert within(ready, 2.0) == ready


def test_the_list_of_commands_fits_a_terminal() -> None:
    told = CliRunner().invoke(parser.root(), ["mcp", "--help"], terminal_width=80).output
    assert "add-json" in told
    assert "..." not in told.partition("Commands:")[2]

"""Which browser opens an address, and what it gets to see."""

from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.runtime.mcp.oauth.browser import Browser, commands
from checkrein.runtime.process.command import Command, Completed
from checkrein.runtime.process.fake import FakeSpawner
from checkrein.runtime.process.spawner import Spawner

URL = "https://as.example/authorize?a=b&state=$(touch x);`y`"


def env(tmp_path: Path, browser: str) -> dict[str, str]:
    return {"BROWSER": browser, "PATH": "/usr/bin:/bin", "MCP_CLIENT_SECRET": "s", "MCP_ID_TOKEN": "t"}


@pytest.mark.parametrize(
    ("browser", "expected"),
    [
        ("true", [("true", URL)]),
        ("true --new '%s'", [("true", "--new", URL)]),
        ("no-such-program:true -x", [("true", "-x", URL)]),
        ("'broken", []),
        ("", []),
    ],
)
def test_the_variable_is_a_list_of_commands(
    tmp_path: Path, browser: str, expected: list[tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.platform", "linux")
    assert commands(URL, env(tmp_path, browser)) == expected


def test_no_shell_and_no_secret(tmp_path: Path) -> None:
    spawner = FakeSpawner()
    assert Browser(spawner, env(tmp_path, "true"), str(tmp_path))(URL)
    command = spawner.commands[0]
    assert command.argv == ("true", URL)
    assert not {"MCP_CLIENT_SECRET", "MCP_ID_TOKEN"} & command.env.keys()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "javascript:alert(1)", "-x", ""])
def test_only_web_addresses_are_opened(tmp_path: Path, url: str) -> None:
    spawner = FakeSpawner()
    assert not Browser(spawner, env(tmp_path, "true"), str(tmp_path))(url)
    assert spawner.commands == []


def test_the_next_one_is_tried_when_one_fails(tmp_path: Path) -> None:
    def answer(command: Command) -> Completed:
        return Completed(exit_code=1 if command.argv[0] == "false" else 0)

    spawner = FakeSpawner(answer)
    assert Browser(spawner, env(tmp_path, "false:true"), str(tmp_path))(URL)
    assert [command.argv[0] for command in spawner.commands] == ["false", "true"]
    assert not Browser(spawner, env(tmp_path, "false"), str(tmp_path))(URL)


def test_a_browser_that_stays_is_a_success(tmp_path: Path) -> None:
    with Spawner(lambda origin: True) as spawner:
        assert Browser(spawner, env(tmp_path, "sleep 30 #"), str(tmp_path))("https://as.example") is False
        assert Browser(spawner, env(tmp_path, "sh -c 'sleep 30'"), str(tmp_path))("https://as.example")

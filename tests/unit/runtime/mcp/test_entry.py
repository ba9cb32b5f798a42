"""Entries as they are used: variables, environment, times, what can't work."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.base.origin import Origin, Scope
from checkrein.facts.mcp import IDLE_ENV
from checkrein.model.items import Server
from checkrein.runtime.mcp.entry import Entry, Place, resolve
from checkrein.runtime.mcp.headers import helper_env

ENV = {"PATH": "/bin", "HOST": "h.test", "GITHUB_TOKEN": "t0ken", "ANTHROPIC_API_KEY": "own", "EDITOR": "vi"}


def resolved(around: dict[str, str] | None = None, scope: Scope = "project", **fields: Any) -> Entry:
    given = {"command": "srv", "transport": "http" if "url" in fields else "stdio", **fields}
    server = Server(name="s", origin=Origin("/p/.mcp.json", scope), **given)
    return resolve(
        server, Place(root="/p", env=ENV | (around or {}), plugin_root=lambda plugin: f"/plugins/{plugin}")
    )


def test_variables_in_a_stdio_entry() -> None:
    entry = resolved(command="${RUN:-node}", args=("${HOST}", "${NONE}"), env={"A": "${HOST}!"}, cwd="sub")
    assert entry.argv == ("node", "h.test", "${NONE}")
    assert entry.env == {**ENV, "A": "h.test!", "CLAUDE_PROJECT_DIR": "/p"}
    assert entry.cwd == "/p/sub"
    (finding,) = entry.findings
    assert finding.code == "RUNMCP001"
    assert "`${NONE}`, which is not set" in finding.message


def test_hidden_space_is_told_and_stays() -> None:
    entry = resolved(command="node ", args=("a b", "\u200bc"), env={"KEY": "t0ken\n"})
    assert (entry.argv, entry.env["KEY"]) == (("node ", "a b", "\u200bc"), "t0ken\n")
    assert [one.code for one in entry.findings] == ["RUNMCP005"] * 3
    told = " ".join(one.message for one in entry.findings)
    assert all(part in told for part in ("`command`", "argument 2", "the variable `KEY`"))
    assert "t0ken" not in told
    far = resolved(url="https://x.test/ ", headers={"X-Key": "\u00a0k", "Y": "fine value"})
    assert [one.message.partition(" in ")[2] for one in far.findings] == ["`url`.", "the header `X-Key`."]


def test_variables_in_a_remote_entry() -> None:
    entry = resolved(url="https://${HOST}/mcp", headers={"Authorization": "Bearer ${GITHUB_TOKEN}"})
    assert entry.url == "https://h.test/mcp"
    assert entry.headers == {"Authorization": "Bearer t0ken"}
    assert entry.findings == ()


def test_a_project_never_gets_our_own_credentials() -> None:
    entry = resolved(url="https://x.test", headers={"X": "${ANTHROPIC_API_KEY}"})
    assert entry.headers == {"X": "${ANTHROPIC_API_KEY}"}
    assert "holds a credential of Checkrein" in entry.findings[0].message
    users = resolved(scope="user", url="https://x.test", headers={"X": "${ANTHROPIC_API_KEY}"})
    assert users.headers == {"X": "own"}


def test_only_a_few_variables_are_inherited_on_demand() -> None:
    entry = resolved({"CLAUDE_CODE_MCP_ALLOWLIST_ENV": "1"}, env={"A": "${EDITOR}"})
    assert entry.env == {"PATH": "/bin", "CLAUDE_PROJECT_DIR": "/p", "A": "vi"}


def test_a_plugin_knows_its_place() -> None:
    entry = resolved(scope="plugin", plugin="tool", command="${CLAUDE_PLUGIN_ROOT}/run")
    assert entry.argv == ("/plugins/tool/run",)
    assert entry.env["CLAUDE_PLUGIN_ROOT"] == "/plugins/tool"


@pytest.mark.parametrize(
    ("env", "fields", "startup", "call", "idle", "first_byte"),
    [
        ({}, {}, 30, 100_000, 1800, 60),
        ({}, {"url": "http://x"}, 30, 100_000, 300, 60),
        ({"MCP_TIMEOUT": "5000", "MCP_TOOL_TIMEOUT": "7000"}, {}, 5, 7, 1800, 60),
        ({"MCP_TOOL_TIMEOUT": "90000"}, {"url": "http://x"}, 30, 90, 300, 90),
        ({"MCP_TOOL_TIMEOUT": "7000"}, {"timeout_ms": 2000}, 30, 2, 1800, 60),
        ({}, {"timeout_ms": 600_000, "url": "http://x"}, 30, 600, 600, 600),
        ({}, {"timeout_ms": 999}, 30, 100_000, 1800, 60),
        ({}, {"timeout_ms": -5}, 30, 100_000, 1800, 60),
        ({"CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT": "4000"}, {}, 30, 100_000, 4, 60),
        ({"CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT": "0"}, {}, 30, 100_000, None, 60),
        (dict.fromkeys(("MCP_TIMEOUT", "MCP_TOOL_TIMEOUT", IDLE_ENV), "²"), {}, 30, 100_000, 1800, 60),
        ({"MCP_TIMEOUT": "soon", "MCP_TOOL_TIMEOUT": "-1"}, {}, 30, 100_000, 1800, 60),
    ],
)  # fmt: skip
def test_times(
    env: dict[str, str], fields: dict[str, Any], startup: int, call: int, idle: int | None, first_byte: int
) -> None:
    times = resolved(env, **fields).times
    assert (times.startup, times.call, times.idle, times.first_byte) == (startup, call, idle, first_byte)


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"transport": "ws", "url": "ws://x"},
            "The transport `ws` is not supported by Checkrein; use `http`.",
        ),
        ({"transport": "http", "url": "${EMPTY:-}"}, "It is not configured: its `url` is empty."),
        ({"url": "ftp://x"}, "`url` must begin with `https://` or `http://`."),
        ({"url": "http://x", "headers": {"A": "b\r\nC: d"}}, "`headers` holds a line break."),
        ({"env": {"A=B": "c"}}, "`command`, `args` or `env` holds a character that no process can get."),
        ({"command": None, "problem": "has no `command`"}, "The entry has no `command`."),
        ({}, None),
    ],
)
def test_what_can_not_work(fields: dict[str, Any], problem: str | None) -> None:
    assert resolved(**fields).problem == problem


def test_a_helper_of_a_project_gets_nothing_that_looks_like_a_credential() -> None:
    env = {"API_KEY": "x", "MY_PAT": "x", "MONKEY": "y", "PATIENCE": "y"}
    entry = resolved(env, url="https://x.test/mcp", headers_helper="h")
    given = helper_env(entry)
    assert set(given) >= {"MONKEY", "PATIENCE", "EDITOR"}
    assert set(given).isdisjoint({"API_KEY", "MY_PAT", "GITHUB_TOKEN", "ANTHROPIC_API_KEY"})
    assert given["CLAUDE_CODE_MCP_SERVER_URL"] == "https://x.test/mcp"
    assert "API_KEY" in helper_env(resolved(env, scope="user", url="https://x.test/mcp", headers_helper="h"))

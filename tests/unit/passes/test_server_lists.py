"""What switches, lists and the administrator's file leave of the servers."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrein.model.project import Project
from checkrein.passes.load import load

Tree = Callable[[Mapping[str, str]], Path]
ENTRIES = {
    "program": {"command": "${RUNNER}", "args": ["x", "${NAME:-y}"]},
    "remote": {"type": "http", "url": "https://${HOST}/mcp"},
}
ENV = {"RUNNER": "npx", "HOST": "api.example.com"}


def loaded(root: Path, env: Mapping[str, str] = ENV, **options: Any) -> Project:
    places = {"home": str(root / "home"), "managed_dir": str(root / "managed")}
    return load(root / "p", env=dict(env), **places, **options)


def reasons(project: Project) -> dict[str, str | None]:
    return {one.item.name: one.lost for one in project.inactive}


def test_a_server_that_the_user_switched_off(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/.mcp.json": json.dumps(ENTRIES)})
    switches = {"disabledMcpServers": ["remote", "other", 1]}
    state = json.dumps({"projects": {str(root / "p"): switches}}, indent=1)
    tree({"home/.claude.json": state})
    found = loaded(root)
    assert sorted(found.servers) == ["program"]
    reason = reasons(found)["remote"] or ""
    assert reason.startswith("switched off for this project: `disabledMcpServers` in")
    assert "home/.claude.json:5" in reason
    assert sorted(loaded(root, setting_sources=["project"]).servers) == ["program"]
    tree({"home/.claude.json": state.replace('"remote"', '"program"')})
    assert sorted(loaded(root, mcp_config=[{"remote": ENTRIES["remote"]}]).servers) == ["remote"]


@pytest.mark.parametrize("wrong", [{"disabledMcpServers": "remote"}, {"disabledMcpServers": None}, [], 1])
def test_a_state_file_of_another_form_switches_nothing_off(tree: Tree, wrong: Any) -> None:
    root = tree({"p/.git/": "", "p/.mcp.json": json.dumps(ENTRIES)})
    tree({"home/.claude.json": json.dumps({"projects": {str(root / "p"): wrong}})})
    assert sorted(loaded(root).servers) == ["program", "remote"]


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({"deniedMcpServers": [{"serverUrl": "https://api.example.com/*"}]}, ["program"]),
        ({"deniedMcpServers": [{"serverUrl": "https://${HOST}"}]}, ["program"]),
        ({"deniedMcpServers": [{"serverUrl": "https://${NOWHERE:-api.example.com}:443/mcp"}]}, ["program"]),
        ({"deniedMcpServers": [{"serverUrl": "*.example.com"}]}, ["program"]),
        ({"deniedMcpServers": [{"serverUrl": "https://api.example.com/other"}]}, ["program", "remote"]),
        ({"deniedMcpServers": [{"serverCommand": ["npx", "x", "y"]}]}, ["remote"]),
        ({"deniedMcpServers": [{"serverCommand": ["${RUNNER}", "x", "y"]}]}, ["remote"]),
        ({"deniedMcpServers": [{"serverCommand": ["npx", "x y"]}]}, ["program", "remote"]),
        ({"deniedMcpServers": [{"serverCommand": ["npx", "x", "*"]}]}, ["program", "remote"]),
        ({"allowedMcpServers": [{"serverUrl": "https://${HOST}/*"}]}, ["remote"]),
        ({"allowedMcpServers": [{"serverCommand": ["npx", "x", "y"]}, {"serverName": "remote"}]}, None),
        ({"allowedMcpServers": [{"serverUrl": "https://other"}, {"serverName": "remote"}]}, []),
        ({"allowedMcpServers": [{"serverUrl": "https://o", "serverName": "remote"}]}, []),
        ({"allowedMcpServers": []}, []),
    ],
)
def test_both_sides_of_a_list_are_filled_in(
    tree: Tree, settings: dict[str, Any], left: list[str] | None
) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.mcp.json": json.dumps(ENTRIES),
            "managed/managed-settings.json": json.dumps(settings),
        }
    )
    assert sorted(loaded(root).servers) == (["program", "remote"] if left is None else left)


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.com/a.example.com/mcp",
        "https://a.example.com@evil.com/mcp",
        "https://evil.com?.example.com/mcp",
        "https://evil.com#.example.com/mcp",
        "https://evil.com\\.example.com/mcp",
        "http://a.example.com/mcp",
    ],
)
def test_an_address_that_only_looks_allowed(tree: Tree, url: str) -> None:
    settings = {"allowedMcpServers": [{"serverUrl": "https://*.example.com/*"}]}
    entry = {"s": {"type": "http", "url": url}, "good": {"type": "http", "url": "https://a.EXAMPLE.com/x"}}
    root = tree(
        {
            "p/.git/": "",
            "p/.mcp.json": json.dumps(entry),
            "managed/managed-settings.json": json.dumps(settings),
        }
    )
    assert sorted(loaded(root).servers) == ["good"]


@pytest.mark.parametrize(
    "url", ["https://EVIL.com:443/x", "https://evil.com./x", "https://u@evil.com", "HTTPS://evil.com?x"]
)
def test_an_address_that_only_looks_different_from_a_denied_one(tree: Tree, url: str) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.mcp.json": json.dumps({"s": {"type": "http", "url": url, "command": "x"}}),
            "managed/managed-settings.json": '{"deniedMcpServers": [{"serverUrl": "https://evil.com"}]}',
        }
    )
    assert loaded(root).servers == {}


def test_the_env_of_settings_hides_nothing_from_a_list(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.mcp.json": json.dumps(ENTRIES),
            "p/.claude/settings.json": '{"env": {"HOST": "evil.com"}}',
            "managed/managed-settings.json": '{"deniedMcpServers": [{"serverUrl": "https://evil.com"}]}',
        }
    )
    assert sorted(loaded(root).servers) == ["program"]
    allowed = '{"allowedMcpServers": [{"serverUrl": "https://api.example.com"}]}'
    tree({"managed/managed-settings.json": allowed})
    assert loaded(root).servers == {}
    tree({"p/.claude/settings.json": '{"env": {"OTHER": "evil.com"}}'})
    assert sorted(loaded(root).servers) == ["remote"]
    tree({"managed/managed-settings.json": allowed.replace("api.example.com", "${HOST}")})
    tree({"p/.claude/settings.json": '{"env": {"HOST": "evil.com"}}'})
    assert loaded(root).servers == {}


@pytest.mark.parametrize("text", ["{}", '{"mcpServers": {}}', "not JSON"])
def test_an_empty_file_of_the_administrator_leaves_no_server(tree: Tree, text: str) -> None:
    root = tree({"p/.git/": "", "p/.mcp.json": json.dumps(ENTRIES), "managed/managed-mcp.json": text})
    found = loaded(root)
    assert found.servers == {}
    assert reasons(found)["remote"] == "managed-mcp.json exists, so only its servers count"


def plugin(root: Path, name: str, entries: Mapping[str, Any]) -> dict[str, str]:
    return {
        f"{name}/.claude-plugin/plugin.json": json.dumps({"name": name}),
        f"{name}/.mcp.json": json.dumps({"mcpServers": entries}),
    }


def test_a_server_of_a_plugin_that_is_there_already(tree: Tree) -> None:
    own = {"type": "http", "url": "https://API.example.com:443/mcp"}
    root = tree({"p/.git/": "", "p/.mcp.json": json.dumps(ENTRIES)})
    tree(plugin(root, "one", {"same": own, "new": {"command": "${CLAUDE_PLUGIN_ROOT}/run"}}))
    tree(plugin(root, "two", {"new": {"command": "${CLAUDE_PLUGIN_ROOT}/run"}, "twin": {"command": "t"}}))
    tree(plugin(root, "three", {"twin": {"command": "t"}, "other": {"command": "t", "args": ["1"]}}))
    dirs = [str(root / name) for name in ("one", "two", "three")]
    found = loaded(root, plugin_dirs=dirs)
    assert sorted(found.servers) == [
        *("plugin:one:new", "plugin:three:other", "plugin:two:new", "plugin:two:twin", "program", "remote"),
    ]
    assert "`remote`" in (reasons(found)["plugin:one:same"] or "")
    assert "`plugin:two:twin`" in (reasons(found)["plugin:three:twin"] or "")
    assert "plugin:one:same" in loaded(root, env={}, plugin_dirs=dirs).servers

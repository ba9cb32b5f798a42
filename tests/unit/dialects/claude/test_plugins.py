import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrein.dialects.claude import plugins
from checkrein.facts.claude_plugins import OPEN_SCHEMA

Tree = Callable[[Mapping[str, str]], Path]
STOP = '{"Stop": [{"hooks": [{"type": "command", "command": "c"}]}]}'
SKILL = "---\ndescription: d\n---\nBody"


def manifest(**values: Any) -> str:
    return json.dumps({"name": "p", **values})


def test_default_directories(tree: Tree) -> None:
    root = tree(
        {
            "p/.claude-plugin/plugin.json": manifest(
                version="1.2.0",
                description="D",
                author="Ann",
                keywords=["k"],
                dependencies=["q"],
                userConfig={"a": {}},
                strange=1,
            ),
            "p/skills/one/SKILL.md": SKILL,
            "p/skills/two/SKILL.md": "---\nname: second\ndescription: d\n---\n",
            "p/commands/ns/do.md": SKILL,
            "p/agents/team/helper.md": "---\nname: h\ndescription: d\n---\n",
            "p/agents/bare.md": "No frontmatter.",
            "p/hooks/hooks.json": '{"description": "x", "hooks": ' + STOP + "}",
            "p/.mcp.json": '{"db": {"command": "x"}}',
            "p/settings.json": '{"agent": "h", "model": "ignored"}',
            "p/output-styles/s.md": "x",
            "p/bin/": "",
            "p/CLAUDE.md": "not loaded",
        }
    )
    found = plugins.read(str(root / "p"), marketplace="m")
    (plugin,) = found.plugins
    assert (plugin.name, plugin.version, plugin.author, plugin.keywords) == (
        "p",
        "1.2.0",
        {"name": "Ann"},
        ("k",),
    )
    assert (plugin.dependencies, plugin.unknown, plugin.marketplace) == (("q",), {"strange": 1}, "m")
    assert plugin.components == {
        "skills": ["skills"],
        "commands": ["commands"],
        "agents": ["agents"],
        "hooks": ["hooks/hooks.json"],
        "mcpServers": [".mcp.json"],
        "settings": ["settings.json"],
        "outputStyles": ["output-styles"],
        "bin": ["bin"],
    }
    assert [skill.name for skill in found.skills] == ["p:one", "p:second"]
    assert [command.name for command in found.commands] == ["p:ns:do"]
    assert sorted(agent.name for agent in found.agents) == ["p:bare", "p:team:h"]
    assert [(hook.event, hook.plugin) for hook in found.hooks] == [("Stop", "p")]
    assert [(server.name, server.plugin) for server in found.servers] == [("plugin:p:db", "p")]
    assert [(item.name, item.value) for item in found.settings] == [("agent", "h")]
    assert found.instructions == ()
    assert found.diagnostics == ()
    assert {item.origin.scope for item in (*found.skills, *found.hooks, *found.servers)} == {"plugin"}


def test_manifest_keys_add_or_replace(tree: Tree) -> None:
    root = tree(
        {
            "p/.claude-plugin/plugin.json": manifest(
                skills=["./more", "./single"],
                commands="./other/only.md",
                agents=["./team"],
                hooks=["./h.json", {"Stop": [{"hooks": [{"type": "command", "command": "inline"}]}]}],
                mcpServers={"inline": {"command": "x"}},
            ),
            "p/skills/one/SKILL.md": SKILL,
            "p/more/two/SKILL.md": SKILL,
            "p/single/SKILL.md": SKILL,
            "p/commands/default.md": SKILL,
            "p/other/only.md": SKILL,
            "p/agents/default.md": "---\nname: d\ndescription: d\n---\n",
            "p/team/t.md": "---\nname: t\ndescription: d\n---\n",
            "p/hooks/hooks.json": '{"Stop": [{"hooks": [{"type": "command", "command": "default"}]}]}',
            "p/h.json": '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "named"}]}]}}',
            "p/.mcp.json": '{"mcpServers": {"file": {"command": "x"}}}',
        }
    )
    found = plugins.read(str(root / "p"))
    assert [skill.name for skill in found.skills] == ["p:one", "p:two", "p:single"]
    assert [command.name for command in found.commands] == ["p:only"]
    assert [agent.name for agent in found.agents] == ["p:t"]
    assert [hook.command for hook in found.hooks] == ["default", "named", "inline"]
    assert [server.name for server in found.servers] == ["plugin:p:file", "plugin:p:inline"]
    assert found.hooks[2].origin.field == "$.hooks[1].Stop[0].hooks[0]"
    assert found.hooks[2].origin.line == 1


def test_a_root_skill_counts_where_there_is_no_other(tree: Tree) -> None:
    root = tree({"p/SKILL.md": "---\nname: own\ndescription: d\n---\n", "q/SKILL.md": SKILL, "q/skills/": ""})
    assert [skill.name for skill in plugins.read(str(root / "p")).skills] == ["p:own"]
    assert plugins.read(str(root / "q")).skills == ()


@pytest.mark.parametrize("path", ["../outside", "/etc", "./link"])
def test_paths_stay_inside_the_plugin(tree: Tree, path: str) -> None:
    root = tree({"outside/one/SKILL.md": SKILL, "p/.claude-plugin/plugin.json": manifest(skills=path)})
    (root / "p/link").symlink_to(root / "outside")
    found = plugins.read(str(root / "p"))
    assert found.skills == ()
    assert [entry.code for entry in found.diagnostics] == ["PLUGIN003"]


def test_a_skill_that_links_out_of_the_plugin_is_not_read(tree: Tree) -> None:
    root = tree({"outside/SKILL.md": SKILL, "p/skills/real/SKILL.md": SKILL})
    (root / "p/skills/link").symlink_to(root / "outside")
    assert [skill.name for skill in plugins.read(str(root / "p")).skills] == ["p:real"]


def test_a_path_that_does_not_exist(tree: Tree) -> None:
    root = tree({"p/.claude-plugin/plugin.json": manifest(commands="./none")})
    assert [entry.code for entry in plugins.read(str(root / "p")).diagnostics] == ["PLUGIN004"]


@pytest.mark.parametrize(
    ("text", "code", "loads"),
    [
        ("{}", "PLUGIN001", False),
        ('{"name": ""}', "PLUGIN001", False),
        ('{"name": "p", "keywords": "k"}', "PLUGIN001", False),
        ('{"name": "p", "metadata": 3}', "PLUGIN005", True),
        ("{", "JSON001", False),
    ],
)
def test_manifests_that_are_wrong(tree: Tree, text: str, code: str, loads: bool) -> None:
    root = tree({"p/.claude-plugin/plugin.json": text})
    found = plugins.read(str(root / "p"))
    assert [entry.code for entry in found.diagnostics] == [code]
    assert bool(found.plugins) is loads


def test_a_directory_without_a_manifest_is_named_after_itself(tree: Tree) -> None:
    root = tree({"tool/skills/a/SKILL.md": SKILL})
    found = plugins.read(str(root / "tool"))
    assert [(plugin.name, plugin.format) for plugin in found.plugins] == [("tool", "none")]
    assert [skill.name for skill in found.skills] == ["tool:a"]


def test_agent_plugins(tree: Tree) -> None:
    root = tree(
        {
            "p/plugin.json": json.dumps({"$schema": OPEN_SCHEMA, "name": "p.x", "version": "1", "odd": 1}),
            "p/skills/one/SKILL.md": SKILL,
            "p/mcp.json": '{"$schema": "s", "mcpServers": {"s": {"type": "stdio", "command": "c"}}}',
            "p/commands/ignored.md": SKILL,
            "p/hooks/hooks.json": "{}",
        }
    )
    found = plugins.read(str(root / "p"))
    assert [(plugin.name, plugin.format) for plugin in found.plugins] == [("p.x", "agent_plugins")]
    assert [skill.name for skill in found.skills] == ["p.x:one"]
    assert [server.name for server in found.servers] == ["plugin:p.x:s"]
    assert (found.commands, found.hooks) == ((), ())
    assert [entry.code for entry in found.diagnostics] == ["PLUGIN005"]


@pytest.mark.parametrize("name", ["", "Upper", "a--b", "-a", "a..b", "x" * 65])
def test_agent_plugin_names(tree: Tree, name: str) -> None:
    root = tree({"p/plugin.json": json.dumps({"$schema": OPEN_SCHEMA, "name": name})})
    assert [entry.code for entry in plugins.read(str(root / "p")).diagnostics] == ["PLUGIN001"]


def test_a_marketplace_entry_fills_or_replaces_the_manifest(tree: Tree) -> None:
    root = tree(
        {
            "p/.claude-plugin/plugin.json": manifest(version="1", commands="./own.md"),
            "p/own.md": SKILL,
            "p/entry.md": SKILL,
        }
    )
    entry = {"name": "p", "version": "9", "description": "from the entry", "commands": "./entry.md"}
    (strict,) = (found := plugins.read(str(root / "p"), entry=entry)).plugins
    assert (strict.version, strict.description) == ("1", "from the entry")
    assert [command.name for command in found.commands] == ["p:own"]
    (loose,) = (found := plugins.read(str(root / "p"), entry={**entry, "strict": False})).plugins
    assert loose.version == "9"
    assert [command.name for command in found.commands] == ["p:entry"]


def test_language_servers_and_monitors_are_read_and_shown(tree: Tree) -> None:
    lsp = {
        "py": {"command": "pyls", "args": ["--stdio"], "extensionToLanguage": {".py": "python"}},
        "late": {"command": "other", "extensionToLanguage": {".py": "python", ".pyi": "python"}},
        "broken": {"command": "x"},
    }
    watch = [
        {"name": "ci", "command": "watch-ci", "description": "d"},
        {"name": "skill", "command": "w", "description": "d", "when": "on-skill-invoke:s"},
        {"name": "odd", "command": "w", "description": "d", "when": "sometimes"},
        {"name": "option", "command": "w ${user_config.x}", "description": "d"},
        {"name": "less"},
    ]
    root = tree(
        {
            "p/.claude-plugin/plugin.json": manifest(),
            "p/.lsp.json": json.dumps(lsp),
            "p/monitors/monitors.json": json.dumps(watch),
        }
    )
    found = plugins.read(str(root / "p"))
    shown = {
        one.name: (one.kind, one.command, one.detail, bool(one.problem)) for one in found.plugins[0].programs
    }
    assert shown == {
        "py": ("lsp", "pyls --stdio", ".py", False),
        "late": ("lsp", "other", ".pyi", False),
        "broken": ("lsp", "x", "", True),
        "ci": ("monitor", "watch-ci", "always", False),
        "skill": ("monitor", "w", "on-skill-invoke:s", False),
        "odd": ("monitor", "w", "sometimes", True),
        "option": ("monitor", "w ${user_config.x}", "always", True),
        "less": ("monitor", "", "always", True),
    }
    assert [one.code for one in found.diagnostics] == ["PLUGIN006"] * 5


def test_agent_plugins_are_closed(tree: Tree) -> None:
    servers = {
        "ok": {"type": "stdio", "command": "x", "args": ["${PLUGIN_ROOT}/a"]},
        "far": {"type": "streamable-http", "url": "https://h.example/mcp"},
        "near": {"type": "sse", "url": "http://127.0.0.1:1/mcp"},
        "plain": {"type": "sse", "url": "http://h.example/mcp"},
        "words": {"type": "stdio", "command": "x y"},
        "extra": {"type": "stdio", "command": "x", "timeout": 3},
        "untyped": {"command": "x"},
    }
    root = tree(
        {
            "p/plugin.json": json.dumps({"$schema": OPEN_SCHEMA, "name": "p"}),
            "p/mcp.json": json.dumps({"$schema": "s", "mcpServers": servers}),
            "q/plugin.json": json.dumps({"$schema": OPEN_SCHEMA, "name": "q", "version": 1}),
            "r/plugin.json": json.dumps({"$schema": OPEN_SCHEMA, "name": "r"}),
            "r/mcp.json": json.dumps({"mcpServers": {"ok": servers["ok"]}}),
        }
    )
    assert [one.name for one in plugins.read(str(root / "p")).servers] == [
        "plugin:p:ok",
        "plugin:p:far",
        "plugin:p:near",
    ]
    assert plugins.read(str(root / "q")).plugins == ()
    assert plugins.read(str(root / "r")).servers == ()


def test_plugins_of_codex(tree: Tree) -> None:
    root = tree(
        {
            "p/.codex-plugin/plugin.json": json.dumps(
                {
                    "name": "p",
                    "version": "1.0.0",
                    "skills": "./abilities",
                    "mcpServers": "./m.json",
                    "interface": {},
                }
            ),
            "p/abilities/one/SKILL.md": SKILL,
            "p/m.json": '{"mcpServers": {"db": {"command": "x"}}}',
        }
    )
    found = plugins.read(str(root / "p"))
    assert (found.plugins[0].format, found.plugins[0].version) == ("codex", "1.0.0")
    assert [one.name for one in found.skills] == ["p:one"]
    assert [one.name for one in found.servers] == ["plugin:p:db"]

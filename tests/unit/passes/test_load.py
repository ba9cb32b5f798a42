import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import NotFoundError
from checkrein.model.project import Project
from checkrein.passes.load import load

Tree = Callable[[Mapping[str, str]], Path]
SKILL = "---\ndescription: d\n---\nBody"


def test_a_misspelt_keyword_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="settings_sources"):
        load(tmp_path, settings_sources=["user"])  # type: ignore[call-arg]


def agent(name: str, text: str = "d") -> str:
    return f"---\nname: {name}\ndescription: {text}\n---\nBody"


def project(root: Path, path: str = "p", **options: Any) -> Project:
    options.setdefault("env", {})
    return load(root / path, home=str(root / "home"), managed_dir=str(root / "managed"), **options)


def test_agents_of_the_project_win_over_the_users(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "home/.claude/agents/a.md": agent("a", "user"),
            "p/.claude/agents/a.md": agent("a", "root"),
            "p/sub/.claude/agents/x.md": agent("a", "near"),
            "p/sub/.claude/agents/y.md": agent("a", "twin"),
        }
    )
    found = project(root, "p/sub").agents["a"]
    assert [(c.item.description, (c.lost or "").split(" ")[0]) for c in found.candidates] == [
        ("near", ""),
        ("twin", "two"),
        ("root", str(root / "p/sub/.claude/agents/x.md")),
        ("user", "the"),
    ]
    assert found.candidates[3].lost == "the project's agent of the same name wins over the user's"


def test_the_organisations_agent_wins_then_that_of_the_command_line(tree: Tree) -> None:
    root = tree(
        {
            "managed/.claude/agents/deep/a.md": agent("a", "managed"),
            "p/.claude/agents/a.md": agent("a", "project"),
            "home/.claude/agents/a.md": agent("a", "user"),
        }
    )
    given = {"a": {"description": "given", "prompt": "p"}}
    found = project(root, "p", agents=given).agents["a"]
    assert [one.item.description for one in found.candidates] == ["managed", "given", "project", "user"]
    (root / "managed/.claude/agents/deep/a.md").unlink()
    assert project(root, "p", agents=given).agents["a"].item.description == "given"


def test_skills_by_scope_and_distance(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "managed/.claude/skills/a/SKILL.md": SKILL,
            "home/.claude/skills/a/SKILL.md": SKILL,
            "home/.claude/skills/synced/a/SKILL.md": SKILL,
            "home/.claude/skills/synced/b/SKILL.md": SKILL,
            "p/.claude/skills/a/SKILL.md": SKILL,
            "bundled/skills/a/SKILL.md": SKILL,
            "bundled/skills/doctor/SKILL.md": SKILL,
        }
    )
    found = project(root, bundled_dir=str(root / "bundled"))
    scopes = [c.item.origin.scope for c in found.skills["a"].candidates]
    assert scopes == ["managed", "user", "project", "bundled", "user"]
    assert found.skills["a"].candidates[-1].lost == "a synced skill gives way to any other of its name"
    assert found.skills["b"].item.origin.scope == "user"
    tree({"home/.claude/settings.json": '{"disableBundledSkills": true}'})
    without = project(root, bundled_dir=str(root / "bundled"))
    assert [c.lost for c in without.inactive] == ["`disableBundledSkills` is set"]
    assert "doctor" in without.skills


def test_hooks_that_are_switched_off_or_repeated(tree: Tree) -> None:
    hook = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "c"}]}]}}
    other = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "managed"}]}]}}
    root = tree(
        {
            "p/.claude/settings.json": json.dumps(hook),
            "home/.claude/settings.json": json.dumps(hook),
            "managed/managed-settings.json": json.dumps(other),
        }
    )
    found = project(root)
    assert [(h.command, h.origin.scope) for h in found.hooks] == [("managed", "managed"), ("c", "project")]
    assert "runs once" in (found.inactive[0].lost or "")
    tree({"home/.claude/settings.json": json.dumps({"disableAllHooks": True})})
    assert [h.command for h in project(root).hooks] == ["managed"]
    tree({"managed/managed-settings.json": json.dumps({**other, "disableAllHooks": True})})
    assert project(root).hooks == ()
    tree({"managed/managed-settings.json": json.dumps({**other, "allowManagedHooksOnly": True})})
    tree({"home/.claude/settings.json": "{}"})
    assert [h.command for h in project(root).hooks] == ["managed"]


def test_only_managed_rules(tree: Tree) -> None:
    rules = {"permissions": {"deny": ["Read(x)"], "ask": ["Bash(x)"], "allow": ["Bash(y)"]}}
    root = tree(
        {
            "p/.claude/settings.json": json.dumps(rules),
            "managed/managed-settings.json": json.dumps({**rules, "allowManagedPermissionRulesOnly": True}),
        }
    )
    found = project(root, rules={"allow": ["Bash"], "deny": ["WebFetch"]})
    assert {rule.origin.scope for rule in found.rules if rule.verdict == "allow"} == {"managed"}
    kept = {(rule.text, rule.origin.scope) for rule in found.rules if rule.verdict != "allow"}
    assert kept >= {("Read(x)", "project"), ("Bash(x)", "project"), ("WebFetch", "cli")}
    assert {c.lost for c in found.inactive} == {"`allowManagedPermissionRulesOnly` is set"}


def servers(root: Path, **options: Any) -> dict[str, str]:
    return {name: found.item.origin.scope for name, found in project(root, **options).servers.items()}


def test_servers_by_scope(tree: Tree) -> None:
    entry = {"mcpServers": {"s": {"command": "x"}}}
    root = tree({"p/.git/": "", "p/.mcp.json": json.dumps(entry)})
    assert servers(root) == {"s": "project"}
    tree({"home/.claude.json": json.dumps({"projects": {str(root / "p"): entry}, **entry})})
    assert servers(root) == {"s": "local"}
    assert servers(root, mcp_config=[entry]) == {"s": "cli"}
    tree({"managed/managed-mcp.json": '{"mcpServers": {"m": {"command": "x"}}}'})
    assert servers(root) == {"m": "managed"}


@pytest.mark.parametrize(
    ("settings", "left"),
    [
        ({"disabledMcpjsonServers": ["local"]}, ["remote"]),
        ({"deniedMcpServers": [{"serverName": "remote"}]}, ["local"]),
        ({"deniedMcpServers": [{"serverUrl": "https://*.example.com/*"}]}, ["local"]),
        ({"deniedMcpServers": [{"serverUrl": "https://api.EXAMPLE.com"}]}, ["local"]),
        ({"deniedMcpServers": [{"serverCommand": ["npx", "x"]}]}, ["remote"]),
        ({"deniedMcpServers": [{"serverCommand": ["npx"]}]}, ["local", "remote"]),
        ({"allowedMcpServers": [{"serverName": "local"}]}, ["local"]),
        (
            {"allowedMcpServers": [{"serverUrl": "https://api.example.com/*"}, {"serverName": "local"}]},
            ["local", "remote"],
        ),
        ({"allowedMcpServers": [{"serverUrl": "https://other/*"}, {"serverName": "remote"}]}, []),
        ({"allowedMcpServers": []}, []),
    ],
)
def test_servers_that_a_list_forbids(tree: Tree, settings: dict[str, Any], left: list[str]) -> None:
    entries = {
        "local": {"command": "npx", "args": ["x"]},
        "remote": {"type": "http", "url": "https://api.example.com/mcp"},
    }
    root = tree(
        {"p/.mcp.json": json.dumps(entries), "p/.git/": "", "p/.claude/settings.json": json.dumps(settings)}
    )
    found = project(root)
    assert sorted(found.servers) == left
    assert len(found.inactive) == 2 - len(left)


def test_only_the_managed_list_of_servers_may_count(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.mcp.json": '{"s": {"command": "x"}}',
            "p/.claude/settings.json": '{"allowedMcpServers": []}',
            "managed/managed-settings.json": '{"allowManagedMcpServersOnly": true}',
        }
    )
    assert sorted(project(root).servers) == ["s"]
    tree({"managed/managed-settings.json": '{"allowManagedMcpServersOnly": true, "allowedMcpServers": []}'})
    assert project(root).servers == {}


@pytest.mark.parametrize("lock", [True, ["skills", "agents", "mcp"]])
def test_a_lock_to_plugins(tree: Tree, lock: Any) -> None:
    root = tree(
        {
            "managed/managed-settings.json": json.dumps({"strictPluginOnlyCustomization": lock}),
            "managed/.claude/skills/m/SKILL.md": SKILL,
            "p/.claude/skills/s/SKILL.md": SKILL,
            "p/.claude/agents/a.md": agent("a"),
            "p/.mcp.json": '{"s": {"command": "x"}}',
            "given/skills/x/SKILL.md": SKILL,
        }
    )
    found = project(root, plugin_dirs=[str(root / "given")])
    assert sorted(found.skills) == ["given:x", "m"]
    assert (found.agents, found.servers) == ({}, {})
    assert len(found.inactive) == 3


def test_parts_of_a_disabled_plugin_are_known_but_inactive(tree: Tree) -> None:
    catalog = {"name": "shop", "owner": {"name": "o"}, "plugins": [{"name": "a", "source": "./a"}]}
    root = tree(
        {
            "p/.git/": "",
            "p/.claude-plugin/marketplace.json": json.dumps(catalog),
            "p/a/skills/s/SKILL.md": SKILL,
        }
    )
    found = project(root)
    assert found.skills == {}
    assert [(c.item.origin.file, c.lost) for c in found.inactive] == [
        (str(root / "p/a/skills/s/SKILL.md"), "the plugin `a` is not enabled")
    ]
    assert found.plugins["a@shop"].item.enabled is False


def test_excluded_instructions(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/CLAUDE.md": "@x.md",
            "p/x.md": "x",
            "p/sub/CLAUDE.md": "kept",
            "p/sub/.claude/settings.json": json.dumps({"claudeMdExcludes": ["**/p/CLAUDE.md"]}),
            "managed/CLAUDE.md": "managed",
        }
    )
    found = project(root, "p/sub")
    assert [item.text for item in found.instructions] == ["managed", "kept"]
    assert [c.lost for c in found.inactive] == ["`claudeMdExcludes` names it"]


def test_agent_skills_directories(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.agents/skills/a/SKILL.md": SKILL,
            "home/.agents/skills/a/SKILL.md": SKILL,
        }
    )
    found = project(root)
    assert found.detection.dialect == "agent_skills_std"
    assert [c.item.origin.scope for c in found.skills["a"].candidates] == ["project", "user"]
    tree({"p/.claude/settings.json": "{}"})
    claude = project(root)
    assert claude.skills == {}
    assert {c.lost for c in claude.inactive} == {"Claude Code does not read `.agents/skills`"}


def test_one_file(tree: Tree) -> None:
    root = tree(
        {
            "x/lone/SKILL.md": SKILL,
            "y/prompt.md": "---\ndescription: d\n---\nDo.",
            "x/.git/": "",
            "y/.git/": "",
        }
    )
    assert list(project(root, "x/lone/SKILL.md").skills) == ["lone"]
    assert list(project(root, "x/lone").skills) == ["lone"]
    assert list(project(root, "y/prompt.md").commands) == ["prompt"]


def test_a_file_that_is_part_of_the_project_is_not_read_twice(tree: Tree) -> None:
    root = tree({"p/.claude/skills/s/SKILL.md": SKILL})
    found = project(root, "p/.claude/skills/s/SKILL.md")
    assert len(found.skills["s"].candidates) == 1


def test_without_a_workspace_root_there_is_a_warning(tree: Tree) -> None:
    found = project(tree({"q/": ""}), "q")
    assert [entry.code for entry in found.diagnostics] == ["ROOT001"]


def test_the_environment_is_a_value(tree: Tree) -> None:
    root = tree({"p/.git/": "", "cfg/skills/u/SKILL.md": SKILL})
    found = load(root / "p", env={"CLAUDE_CONFIG_DIR": str(root / "cfg"), "HOME": str(root / "home")})
    assert list(found.skills) == ["u"]


def test_the_setting_of_a_project(tree: Tree) -> None:
    root = tree({"p/.claude/settings.json": '{"permissions": {"defaultMode": "plan"}}'})
    found = project(root, settings={"model": "m"})
    assert found.setting("permissions.defaultMode") == "plan"
    assert found.setting("model") == "m"
    assert found.setting("none", 3) == 3


def test_a_path_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        load(tmp_path / "none")


def test_loading_imports_nothing_heavy(tree: Tree) -> None:
    root = tree(
        {"p/.claude/skills/s/SKILL.md": SKILL, "p/CLAUDE.md": "Plain.", "p/.claude/settings.json": '{"a": 1}'}
    )
    script = (
        "import sys, msgspec, yaml; before = set(sys.modules)\n"
        "from checkrein.passes.load import load\n"
        f"load({str(root / 'p')!r}, env={{}}, home={str(root)!r})\n"
        "print(' '.join(set(sys.modules) - before))"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment
    )
    heavy = {
        "asyncio",
        "markdown_it",
        "pathspec",
        "dataclasses",
        "inspect",
        "pathlib",
        "json",
        "tomllib",
        "subprocess",
    }
    assert not heavy & set(done.stdout.split())


def test_other_files_cost_nothing(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.claude/skills/s/SKILL.md": SKILL,
            "p/src/deep/er/file.py": "x",
            "p/docs/a/b.md": "x",
        }
    )
    listed: list[str] = []
    real = os.scandir

    def watched(path: Any = ".") -> Any:
        listed.append(str(path))
        return real(path)

    monkeypatch.setattr(os, "scandir", watched)
    project(root)
    assert not [path for path in listed if path.endswith(("/er", "/docs", "/a"))]

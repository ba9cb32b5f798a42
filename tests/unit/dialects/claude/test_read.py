import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from checkrein.dialects.claude.place import locate
from checkrein.dialects.claude.read import Options, read
from checkrein.model.project import Sources

Tree = Callable[[Mapping[str, str]], Path]
SKILL = "---\ndescription: d\n---\nBody"
AGENT = "---\nname: {}\ndescription: d\n---\nBody"


def sources(root: Path, path: str = "p", *, add_dirs: tuple[str, ...] = (), **options: Any) -> Sources:
    managed = str(root / "managed")
    located = locate(
        str(root / path), env={}, home=str(root / "home"), managed_dir=managed, add_dirs=add_dirs
    )
    return read(located.place, Options(env=options.pop("env", {}), **options))


def test_skills_of_every_scope_in_order(tree: Tree) -> None:
    root = tree(
        {
            "managed/.claude/skills/m/SKILL.md": SKILL,
            "home/.claude/skills/u/SKILL.md": SKILL,
            "home/.claude/skills/synced/s/SKILL.md": SKILL,
            "p/.git/": "",
            "p/.claude/skills/top/SKILL.md": SKILL,
            "p/sub/.claude/skills/near/SKILL.md": SKILL,
            "added/.claude/skills/a/SKILL.md": SKILL,
            "bundled/skills/b/SKILL.md": SKILL,
        }
    )
    found = sources(root, "p/sub", add_dirs=(str(root / "added"),), bundled_dir=str(root / "bundled"))
    assert [(skill.name, skill.origin.scope) for skill in found.skills] == [
        ("m", "managed"),
        ("u", "user"),
        ("s", "user"),
        ("near", "project"),
        ("top", "project"),
        ("a", "project"),
        ("b", "bundled"),
    ]


def test_switches_that_leave_scopes_out(tree: Tree) -> None:
    root = tree(
        {
            "managed/.claude/skills/m/SKILL.md": SKILL,
            "home/.claude/skills/u/SKILL.md": SKILL,
            "p/.claude/skills/x/SKILL.md": SKILL,
            "p/CLAUDE.md": "x",
        }
    )
    assert [skill.name for skill in sources(root, setting_sources=("project",)).skills] == ["m", "x"]
    off = sources(root, env={"CLAUDE_CODE_DISABLE_POLICY_SKILLS": "1", "CLAUDE_CODE_DISABLE_CLAUDE_MDS": "1"})
    assert [skill.name for skill in off.skills] == ["u", "x"]
    assert off.instructions == ()


def test_a_skill_reached_twice_is_read_once(tree: Tree) -> None:
    root = tree({"p/.claude/skills/a/SKILL.md": SKILL})
    (root / "p/.claude/skills/b").symlink_to(root / "p/.claude/skills/a")
    (root / "home/.claude").mkdir(parents=True)
    (root / "home/.claude/skills").symlink_to(root / "p/.claude/skills")
    assert [(skill.name, skill.origin.scope) for skill in sources(root).skills] == [("a", "user")]


def test_skills_that_are_not_quite(tree: Tree) -> None:
    root = tree(
        {
            "p/.claude/skills/low/skill.md": SKILL,
            "p/.claude/skills/dir/SKILL.md/x": "",
            "p/.claude/skills/e/": "",
        }
    )
    found = sources(root)
    assert found.skills == ()
    assert sorted(entry.code for entry in found.diagnostics) == ["FILE002", "FILE006"]


def test_in_the_home_directory_nothing_is_read_twice(tree: Tree) -> None:
    root = tree({"home/.claude/skills/u/SKILL.md": SKILL, "home/.claude/settings.json": '{"model": "m"}'})
    found = sources(root, "home")
    assert [skill.origin.scope for skill in found.skills] == ["user"]
    assert [item.origin.scope for item in found.settings] == ["user"]


def test_agents_of_files_and_of_the_command_line(tree: Tree) -> None:
    root = tree(
        {
            "managed/.claude/agents/m.md": AGENT.format("m"),
            "home/.claude/agents/deep/er/u.md": AGENT.format("u"),
            "p/.claude/agents/x.md": AGENT.format("x"),
        }
    )
    found = sources(root, agents={"c": {"description": "d", "prompt": "p"}})
    assert [(agent.name, agent.origin.scope) for agent in found.agents] == [
        ("c", "cli"),
        ("m", "managed"),
        ("u", "user"),
        ("x", "project"),
    ]


def server(name: str) -> dict[str, Any]:
    return {"mcpServers": {name: {"command": name}}}


def test_servers_of_every_place(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.mcp.json": json.dumps(server("project")),
            "given.json": json.dumps(server("file")),
        }
    )
    state = {**server("user"), "projects": {str(root / "p"): server("local")}}
    tree(
        {
            "home/.claude.json": json.dumps(state),
            "p/.claude/settings.json": json.dumps(server("settings")),
            "managed/managed-mcp.json": json.dumps(server("managed")),
        }
    )
    given = (str(root / "given.json"), json.dumps(server("inline")), server("object"))
    found = sources(root, mcp_config=given)
    assert [(item.name, item.origin.scope) for item in found.servers] == [
        ("managed", "managed"),
        ("file", "cli"),
        ("inline", "cli"),
        ("object", "cli"),
        ("local", "local"),
        ("project", "project"),
        ("settings", "project"),
        ("user", "user"),
    ]
    assert found.servers[4].origin.line == 1
    strict = sources(root, mcp_config=(server("only"),), strict_mcp_config=True)
    assert [item.name for item in strict.servers] == ["managed", "only"]


def test_credentials_are_known_by_existence_only(tree: Tree) -> None:
    root = tree(
        {
            "home/.claude/.credentials.json": "not even JSON",
            "p/.claude/settings.json": '{"apiKeyHelper": "./never-run.sh"}',
        }
    )
    found = sources(root, env={"ANTHROPIC_API_KEY": "sk-not-to-be-kept"})
    assert [(entry.name, entry.exists) for entry in found.credentials] == [
        (".credentials.json", True),
        ("apiKeyHelper", True),
        ("ANTHROPIC_AUTH_TOKEN", False),
        ("ANTHROPIC_API_KEY", True),
        ("CLAUDE_CODE_OAUTH_TOKEN", False),
    ]
    assert "sk-not-to-be-kept" not in repr(found)
    assert found.diagnostics == ()


def test_instructions_of_managed_files_and_keys(tree: Tree) -> None:
    root = tree(
        {
            "managed/CLAUDE.md": "file",
            "managed/managed-settings.json": '{"claudeMd": "key"}',
            "added/CLAUDE.md": "added",
            "p/.git/": "",
        }
    )
    found = sources(
        root, add_dirs=(str(root / "added"),), env={"CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD": "1"}
    )
    assert [item.text for item in found.instructions] == ["file", "key", "added"]
    assert len(sources(root, add_dirs=(str(root / "added"),)).instructions) == 2


def test_an_approval_lets_imports_leave_the_project(tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/CLAUDE.md": "@../out.md", "out.md": "out"})
    state = {"projects": {str(root / "p"): {"hasClaudeMdExternalIncludesApproved": True}}}
    tree({"home/.claude.json": json.dumps(state)})
    assert [item.text for item in sources(root).instructions] == ["@../out.md", "out"]


def test_what_a_lazy_rule_imports_is_lazy_too(tree: Tree) -> None:
    root = tree(
        {
            "p/.git/": "",
            "p/.claude/rules/r.md": "---\npaths: [src/*]\nodd: 1\n---\n@../more.md @../more.md",
            "p/.claude/more.md": "m",
            "p/sub/CLAUDE.md": "@../.claude/more.md",
        }
    )
    rule, lazy, memory, loaded = sources(root, "p/sub").instructions
    assert (rule.unknown, lazy.lazy, lazy.imported_by) == ({"odd": 1}, True, rule.name)
    assert rule.imports[0].span.line == 5
    assert (memory.imports[0].skipped, loaded.lazy, loaded.name) == (None, False, lazy.name)

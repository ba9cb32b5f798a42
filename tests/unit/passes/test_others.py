"""Projects of other agents: read, kept apart, shown, explained, checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import NotFoundError
from checkrein.model.project import Project
from checkrein.passes import explain
from checkrein.passes.findings import check
from checkrein.passes.load import load
from checkrein.passes.rows import rows

Tree = Callable[[Mapping[str, str]], Path]

SECRET = "ghp_" + "k7Wq2ZtR9vLm4XsB8nHc1YpD6fGjA3eU5oTi"
CODEX = {
    "AGENTS.md": "Run the tests.\n",
    ".codex/config.toml": 'model = "m"\n\n[mcp_servers.tracker]\ncommand = "t"\n\n'
    f'[mcp_servers.tracker.env]\nAPI_TOKEN = "{SECRET}"\n',
    ".codex/agents/tester.toml": 'name = "tester"\n'
    f'developer_instructions = """\nTest.\nUse {SECRET}.\n"""\n',
    ".codex/hooks.json": json.dumps(
        {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "./guard.sh"}]}]}}, indent=1
    ),
}
COPILOT = {
    ".github/copilot-instructions.md": "Short names.\n",
    ".github/instructions/ts.instructions.md": "---\napplyTo: '**/*.ts'\n---\nUse types.\n",
    ".github/agents/guide.agent.md": "---\nname: 'Guide: a label'\ndescription: d\nmodel: [a]\n---\nHelp\n",
}
CURSOR = {".cursor/rules/ts.mdc": "---\nglobs: *.ts,**/*.tsx\nalwaysApply: false\n---\nUse types.\n"}
OPENCODE = {"opencode.json": '{"permission": {\n  "bash": {"rm *": "deny"},\n  "edit": "allow"}}'}
CLAUDE = {"CLAUDE.md": "Be brief.\n", ".claude/settings.json": '{"permissions": {"deny": ["Read(.env*)"]}}'}
EVERYTHING = {**CODEX, **COPILOT, **CURSOR, **OPENCODE, "GEMINI.md": "Hello.\n"}


@pytest.fixture
def opened(tree: Tree) -> Callable[..., Project]:
    def make(*files: Mapping[str, str], path: str = "p", **options: Any) -> Project:
        root = tree({"p/.git/": "", **{f"p/{name}": text for one in files for name, text in one.items()}})
        return load(
            root / path, env={}, home=str(root / "home"), managed_dir=str(root / "managed"), **options
        )

    return make


Open = Callable[..., Project]


def test_each_dialect_is_read_by_itself(opened: Open) -> None:
    project = opened(EVERYTHING)
    assert list(project.others) == ["codex", "copilot", "cursor", "gemini", "opencode"]
    assert set(project.others["codex"].agents) == {"tester"}
    assert [hook.event for hook in project.others["codex"].hooks] == ["PreToolUse"]
    assert [item.paths for item in project.others["cursor"].instructions][1:] == [("*.ts", "**/*.tsx")]
    assert set(project.others["copilot"].agents) == {"guide"}


def test_nothing_of_it_is_part_of_what_a_session_takes(opened: Open, tree: Tree) -> None:
    alone = opened(CLAUDE)
    both = opened(CLAUDE, EVERYTHING)
    for field in ("skills", "commands", "agents", "servers", "hooks", "rules", "instructions", "settings"):
        assert getattr(both, field) == getattr(alone, field), field
    assert {item.kind for item in both.sources.instructions} == {"memory", "agents_md"}
    assert both.sources.hooks == both.sources.servers == ()


def test_a_session_does_not_even_look(opened: Open) -> None:
    assert opened(EVERYTHING, detect=False).others == {}
    assert opened(EVERYTHING, setting_sources=("user",)).others == {}


def test_without_files_of_ours_the_session_is_empty_all_the_same(opened: Open) -> None:
    project = opened(EVERYTHING)
    kinds = (project.rules, project.hooks, project.servers, project.instructions, project.agents)
    assert not any(kinds)


def test_agents_md_alone(opened: Open) -> None:
    project = opened({"AGENTS.md": "See [docs](docs/a.md).\n"})
    assert list(project.others) == ["agents_md"]
    assert [(found.code, found.origin.line) for found in check(project)] == [("DIA002", 1)]


def test_agents_md_beside_claude_md_is_not_a_dialect(opened: Open) -> None:
    project = opened(CLAUDE, {"AGENTS.md": "x\n"})
    assert project.others == {}
    assert "MEM003" in {found.code for found in check(project)}


def test_agents_md_of_the_directories_down_to_the_working_directory(opened: Open) -> None:
    files = {"a/AGENTS.md": "a", "a/b/AGENTS.md": "b", "c/AGENTS.md": "c", ".codex/config.toml": ""}
    project = opened({"AGENTS.md": "top", **files}, path="p/a/b")
    assert [item.text for item in project.others["codex"].instructions] == ["top", "a", "b"]


def test_a_link_is_followed_inside_the_project_only(opened: Open, tree: Tree) -> None:
    root = tree({"p/.git/": "", "p/docs/rules.md": "inside", "secret.md": "outside", "p/.cursor/rules/": ""})
    (root / "p/GEMINI.md").symlink_to("docs/rules.md")
    (root / "p/.cursor/rules/x.mdc").symlink_to(root / "secret.md")
    project = opened({})
    assert [item.text for item in project.others["gemini"].instructions] == ["inside"]
    cursor = project.others["cursor"]
    assert cursor.instructions == ()
    assert [found.code for found in cursor.sources.diagnostics] == ["FILE009"]


def test_what_deploy_wrote_is_shown_and_not_checked_again(opened: Open) -> None:
    text = "See [a](a.md).\n"
    manifest = {"files": {"GEMINI.md": {"sha256": sha256(text.encode()).hexdigest(), "targets": ["gemini"]}}}
    files = {"GEMINI.md": text, ".checkrein/deploy.json": json.dumps(manifest)}
    project = opened(CLAUDE, files)
    assert list(project.others) == ["gemini"]
    assert check(project) == []
    edited = opened(CLAUDE, {**files, "GEMINI.md": text + "More.\n"})
    assert [found.code for found in check(edited)] == ["DIA002"]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"files": []}', '{"files": {"../x": 1, "GEMINI.md": null}}', "{"]
)
def test_a_broken_manifest_hides_nothing(opened: Open, text: str) -> None:
    project = opened({"GEMINI.md": "See [a](a.md).\n", ".checkrein/deploy.json": text})
    assert [found.code for found in check(project)] == ["DIA002"]


def test_the_home_is_not_a_project_of_other_agents(tree: Tree) -> None:
    root = tree({"home/.codex/config.toml": "", "home/AGENTS.md": "mine"})
    assert load(root / "home", env={}, home=str(root / "home")).others == {}


def test_findings_stand_at_their_file_and_line(opened: Open) -> None:
    found = {(one.code, Path(one.origin.file).name, one.origin.line) for one in check(opened(EVERYTHING))}
    assert found == {
        ("MCP009", "config.toml", 6),
        ("MEM010", "tester.toml", 4),
        ("DIA001", "tester.toml", 1),
        ("HOOK009", "hooks.json", 8),
    }


@pytest.mark.parametrize("text", ["", "\0", "[", "a = 1\n[a]\n", "x = '''\n", "[[a]]\n[a.b]\n", "é = 1"])
def test_broken_files_are_findings(opened: Open, text: str) -> None:
    places = (".codex/config.toml", ".codex/agents/a.toml", ".gemini/commands/a.toml", "opencode.json")
    places += (".cursor/mcp.json", ".cursor/hooks.json", ".cursor/agents/a.md", ".github/agents/a.agent.md")
    project = opened(dict.fromkeys(places, text))
    for found in check(project):
        assert found.origin.file.startswith(project.place.root)


def test_show_names_the_dialect(opened: Open) -> None:
    project = opened(CLAUDE, CURSOR, CODEX)
    by_dialect = {(row.kind, row.dialect) for row in rows(project)}
    assert ("instruction", None) in by_dialect
    assert ("instruction", "cursor") in by_dialect
    assert ("server", "codex") in by_dialect
    assert ("server", None) not in by_dialect


@pytest.mark.parametrize(
    ("thing", "kind", "line"),
    [
        ("tracker", "name", 3),
        ("tester", "name", None),
        ("mcp_servers.tracker", "key", 3),
        (".codex/config.toml", "path", 3),
        ("permissions.deny", "key", 2),
        ("permission.bash", "key", 2),
    ],
)
def test_why_finds_things_of_other_agents(opened: Open, thing: str, kind: str, line: int | None) -> None:
    project = opened(CODEX, OPENCODE)
    assert explain.thing_kind(project, thing) == kind
    told = {"name": explain.explain_name, "key": explain.explain_key, "path": explain.explain_path}
    (one,) = told[kind](project, thing)
    assert one.origin is not None
    assert one.origin.line == line
    assert "a session of Checkrein does not" in one.notes[0]


def test_a_file_that_another_agent_reads_is_not_taken_for_ours(opened: Open) -> None:
    for file in (".codex/config.toml", ".codex/agents/tester.toml", "AGENTS.md", ".cursor/rules/ts.mdc"):
        project = opened(EVERYTHING, path=f"p/{file}")
        assert project.instructions == (), file
        assert "codex" in project.others


def test_what_no_file_says_is_still_not_found(opened: Open) -> None:
    with pytest.raises(NotFoundError):
        explain.explain_key(opened(CODEX), "permissions.deny")

"""A project full of links to the user's key: no command shows it, sends it or writes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from checkrein.cli.main import run

KEY = "KEY-OF-THE-USER"
SPEC = f"---\nname: k\ndescription: {KEY}. Use when asked.\nalwaysApply: true\n---\n# {KEY}\n\nDo {KEY}.\n"
FILES = (
    "CLAUDE.md",
    "CLAUDE.local.md",
    "AGENTS.md",
    "GEMINI.md",
    "checkrein.toml",
    "main.py",
    ".mcp.json",
    ".claude/settings.json",
    ".claude/settings.local.json",
    ".claude/CLAUDE.md",
    ".claude/skills/file/SKILL.md",
    ".claude/skills/plugin/.claude-plugin/plugin.json",
    ".claude/commands/c.md",
    ".claude/agents/a.md",
    ".claude/rules/r.md",
    ".claude/output-styles/o.md",
    ".claude-plugin/marketplace.json",
    ".cursor/rules/r.mdc",
    ".github/copilot-instructions.md",
    ".codex/config.toml",
    ".specify/extensions/e/extension.yml",
    "src/CLAUDE.md",
)
FOLDERS = (
    ".claude/skills/folder",
    ".claude/commands/folder",
    ".claude/agents/folder",
    ".claude/rules/folder",
    ".agents/skills",
    ".gemini",
    ".github/prompts",
)


@pytest.fixture
def user_home(_own_home: Path) -> Path:
    return _own_home


@pytest.fixture
def hostile(project: Path, user_home: Path) -> Path:
    key = user_home / ".ssh" / "id_rsa"
    folder = user_home / "folder"
    for place in (key, folder / "SKILL.md", folder / "k" / "SKILL.md", folder / "k.md", folder / "k.mdc"):
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(SPEC)
    for name, target in (*((name, key) for name in FILES), *((name, folder) for name in FOLDERS)):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).symlink_to(target)
    lib = project / ".claude/skills/own"
    lib.mkdir(parents=True)
    (lib / "SKILL.md").write_text("---\nname: own\ndescription: Own. Use when asked.\n---\nSee `notes.md`.\n")
    (lib / "notes.md").symlink_to(key)
    (lib / "references").symlink_to(folder)
    return project


COMMANDS = (
    "show",
    "show --json",
    "show --detect",
    "check",
    "check --json",
    "check --format github",
    "check --write-baseline",
    "why skill:own",
    "config",
    "trust --json",
    "deploy --to all --dry-run",
    "deploy --to all --diff",
    "deploy --to all",
    "import --from cursor",
    "import --from gemini --force",
    "import --from copilot --force",
    "show .claude/skills/file",
    "show .claude/skills/folder",
    "check .claude/commands/c.md",
    "compile .claude/skills/file",
    "compile .claude/skills/folder/SKILL.md",
    "compile .claude/skills/own",
    "compile .",
)


def test_no_command_shows_or_writes_the_key(hostile: Path, monkeypatch: pytest.MonkeyPatch, capfd) -> None:
    monkeypatch.chdir(hostile)
    for command in COMMANDS:
        run(command.split())
        shown = capfd.readouterr()
        assert KEY not in shown.out + shown.err, command
    for folder, _, names in os.walk(hostile):
        for name in names:
            path = Path(folder, name)
            assert path.is_symlink() or KEY.encode() not in path.read_bytes(), path


def test_each_link_has_a_finding(hostile: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.chdir(hostile)
    assert run(["check", "--json"]) == 1
    findings = json.loads(capsys.readouterr().out)["data"]["findings"]
    found = {one["origin"]["file"] for one in findings if one["code"] == "FILE009"}
    wanted = (
        "CLAUDE.md",
        ".mcp.json",
        ".claude/settings.json",
        ".claude/skills/file/SKILL.md",
        ".claude/skills/folder",
        ".claude/commands/c.md",
        ".claude/rules/r.md",
        ".claude/agents/folder",
        ".agents/skills",
    )
    assert {str(hostile / name) for name in wanted} <= found
    told = [one for one in findings if one["code"] == "FILE009"]
    assert all(one["hint"] and one["origin"]["span"]["line"] == 1 for one in told)


def test_the_users_own_links_work(project: Path, user_home: Path, tmp_path: Path, capsys) -> None:
    for name in ("skills/mine", "rules"):
        (tmp_path / "dotfiles" / name).mkdir(parents=True)
    (tmp_path / "dotfiles/skills/mine/SKILL.md").write_text(SPEC)
    (tmp_path / "dotfiles/CLAUDE.md").write_text("Mine.")
    (user_home / ".claude").mkdir()
    (user_home / ".claude/skills").symlink_to(tmp_path / "dotfiles/skills")
    (user_home / ".claude/CLAUDE.md").symlink_to(tmp_path / "dotfiles/CLAUDE.md")
    assert run(["show", str(project), "--json"]) == 0
    shown = capsys.readouterr().out
    assert KEY in shown
    assert "FILE009" not in shown
    assert run(["show", str(user_home / ".claude/skills/mine"), "--json"]) == 0


def test_links_inside_the_project_and_to_added_directories_work(project: Path, tmp_path: Path) -> None:
    from checkrein.passes.load import load

    (project / "docs").mkdir()
    (project / "docs/AGENTS.md").write_text("Inside.")
    (project / "CLAUDE.md").symlink_to("docs/AGENTS.md")
    (tmp_path / "shared/s").mkdir(parents=True)
    (tmp_path / "shared/s/SKILL.md").write_text(SPEC)
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to(tmp_path / "shared")
    loaded = load(project)
    assert [item.text for item in loaded.instructions if item.kind == "memory"] == ["Inside."]
    assert not loaded.skills
    assert "s" in load(project, add_dirs=[str(tmp_path / "shared")]).skills


def test_a_home_that_is_a_repository_is_not_the_project(user_home: Path, capsys) -> None:
    """Without `.git` of its own, a project below such a home has no right to its files."""
    (user_home / ".git").mkdir()
    (user_home / ".ssh").mkdir()
    (user_home / ".ssh/id_rsa").write_text(SPEC)
    folder = user_home / "downloads/p/.claude/commands"
    folder.mkdir(parents=True)
    (folder / "c.md").symlink_to(user_home / ".ssh/id_rsa")
    (user_home / "downloads/q").mkdir()
    (user_home / "downloads/q/CLAUDE.md").symlink_to("../../.ssh/id_rsa")
    for name in ("p", "q"):
        run(["show", str(user_home / "downloads" / name), "--json"])
        assert KEY not in capsys.readouterr().out


@pytest.mark.parametrize(
    "config", ['[check]\nbaseline = "../out.json"\n', '[check]\nbaseline = "l/out.json"\n']
)
def test_the_baseline_of_a_project_stays_inside(
    project: Path, tmp_path: Path, config: str, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    monkeypatch.chdir(project)
    (tmp_path / "away").mkdir()
    (project / "l").symlink_to(tmp_path / "away")
    (project / "checkrein.toml").write_text(config)
    assert run(["check", "--write-baseline"]) == 2
    assert "outside the project" in capsys.readouterr().err
    assert list((tmp_path / "away").iterdir()) == []
    assert run(["check", "--write-baseline", "--baseline", str(tmp_path / "away/b.json")]) in (0, 1)
    assert (tmp_path / "away/b.json").exists()


def test_a_model_request_has_nothing_of_it(hostile: Path, tmp_path: Path) -> None:
    from checkrein.testing import ScriptedServer

    with ScriptedServer([{"text": "done"}]) as server:
        env = os.environ | {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "checkrein",
                "-p",
                "hi",
                "--model",
                "anthropic:x",
                "--output-format",
                "json",
            ],
            cwd=hostile,
            env=env,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert server.requests
        assert KEY not in repr(server.requests)
    assert "leaves the project" in done.stdout


def test_skills_behind_a_link_inside_the_project_are_deployed_whole(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    (project / "lib/s/refs").mkdir(parents=True)
    (project / "lib/s/SKILL.md").write_text("---\nname: s\ndescription: S. Use when asked.\n---\nDo.\n")
    (project / "lib/s/refs/n.md").write_text("NOTE")
    (project / ".claude").mkdir()
    (project / ".claude/skills").symlink_to("../lib")
    assert run(["deploy", "--to", "codex"]) == 0
    assert (project / ".agents/skills/s/refs/n.md").read_text() == "NOTE"


def test_a_marketplace_of_a_shared_file_is_inside(project: Path, tmp_path: Path) -> None:
    from checkrein.passes.load import load

    for place in (project / "shop", tmp_path / "shop"):
        (place / ".claude-plugin").mkdir(parents=True)
        (place / "p/skills/s").mkdir(parents=True)
        (place / "p/skills/s/SKILL.md").write_text(SPEC)
        catalog = {"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "p", "source": "./p"}]}
        (place / ".claude-plugin/marketplace.json").write_text(json.dumps(catalog))
    (project / ".claude").mkdir()
    for place, found in ((project / "shop", ["p:k"]), (tmp_path / "shop", [])):
        source = {"source": {"source": "directory", "path": str(place)}}
        settings = {"enabledPlugins": {"p@m": True}, "extraKnownMarketplaces": {"m": source}}
        (project / ".claude/settings.json").write_text(json.dumps(settings))
        assert list(load(project).skills) == found

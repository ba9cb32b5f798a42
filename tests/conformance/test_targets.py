"""What we write is what the agents read: spec-kit's own paths, and the real programs where they are present.

The programs are looked for in `CHECKREIN_AGENTS_BIN`, else on PATH. They run offline, without credentials,
with a home directory of their own.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.origin import Origin
from checkrein.deploy.targets import writer
from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options
from checkrein.dialects.spec_kit.read import read as read_extension
from checkrein.facts.agents import find_target, targets
from checkrein.model.items import Agent, Command, Instruction, Server, Skill
from checkrein.model.project import Sources

DATA = Path(__file__).parent / "data" / "spec_kit" / "commands.json"
RECORDED: dict[str, dict[str, str]] = json.loads(DATA.read_text("utf-8"))["commands"]
PROSE = "(the user will provide the argument in this conversation)"

EXTENSION = """\
schema_version: "1.0"
extension: {id: revenge, name: Revenge, version: 1.0.0, description: Extract, author: someone}
provides:
  commands:
    - name: speckit.revenge.extract
      file: commands/extract.md
"""
EXTRACT = """\
---
description: Run the extraction pipeline
---
Orchestrate extraction for $ARGUMENTS...
See scripts/bash/x.sh and templates/a.md, {ARGS} for __AGENT__.
"""


def test_every_spec_kit_agent_has_a_row() -> None:
    assert {key for key, row in targets().items() if row.spec_kit} == {*RECORDED, "none"}


@pytest.mark.parametrize("key", sorted(RECORDED))
def test_paths_and_bodies_are_those_of_spec_kit(key: str, tmp_path: Path) -> None:
    (tmp_path / "commands").mkdir()
    (tmp_path / "scripts").mkdir()
    (tmp_path / "extension.yml").write_text(EXTENSION)
    (tmp_path / "commands" / "extract.md").write_text(EXTRACT)
    options = Options(skills_layout=True, home=True, command_dir=".myagent/commands")
    written = write_for(key, read_extension(str(tmp_path)), options)
    files = {file.path: file.text for file in written.files}
    recorded = RECORDED[key]
    assert recorded["path"] in files
    whole = targets()[key].body.whole if targets()[key].skill_dir is None else "$ARGUMENTS"
    body = recorded["body"].replace(PROSE, whole).removeprefix("# Revenge Extract Skill\n\n")
    text = files[recorded["path"]].replace("\\n", "\n")
    assert body in text


# The real programs.


def program(name: str) -> str:
    places = os.environ.get("CHECKREIN_AGENTS_BIN")
    found = shutil.which(name, path=places) if places else shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed (set CHECKREIN_AGENTS_BIN to its directory)")
    return found


Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    home = tmp_path / "home"
    home.mkdir()

    def start(name: str, *args: str, text: str = "") -> str:
        command = program(name)
        env = {
            "HOME": str(home),
            "PATH": os.environ.get("PATH", ""),
            "NO_COLOR": "1",
            "CI": "1",
            "HTTPS_PROXY": "http://127.0.0.1:9",
            "HTTP_PROXY": "http://127.0.0.1:9",
            "DISABLE_AUTOUPDATER": "1",
            "GEMINI_TELEMETRY_ENABLED": "0",
        }
        done = subprocess.run(
            [command, *args],
            cwd=tmp_path / "p",
            env=env,
            capture_output=True,
            text=True,
            timeout=120,
            input=text,
        )
        return done.stdout + done.stderr if name in ("claude", "gemini") else done.stdout

    return start


def origin(path: str) -> Origin:
    return Origin(f"/source/{path}", "project")


def everything() -> Sources:
    """Texts that break careless YAML: colons, quotes, a leading bracket, other scripts."""
    return Sources(
        instructions=(
            Instruction(
                name="CLAUDE.md", origin=origin("CLAUDE.md"), kind="memory", text="# House rules\nUse pnpm.\n"
            ),
        ),
        skills=(
            Skill(
                name="review",
                directory="/source/review",
                origin=origin("review/SKILL.md"),
                description="Review: the diff, \"quoted\" # and 'all' [日本語]",
                argument_hint="[branch]",
                body="Review $ARGUMENTS.\n",
            ),
            Skill(
                name="yes",
                directory="/source/yes",
                origin=origin("yes/SKILL.md"),
                description="- starts like a list: no",
                body="Say yes.\n",
            ),
        ),
        commands=(
            Command(
                name="git:commit",
                origin=origin("commit.md"),
                description="Commit",
                body="Commit $ARGUMENTS\n",
            ),
        ),
        agents=(
            Agent(
                name="checker",
                origin=origin("checker.md"),
                description="Checks: everything",
                tools=("Read", "Grep"),
                body="You check.\n",
            ),
        ),
        servers=(Server(name="docs", origin=origin(".mcp.json"), command="true", env={"TOKEN": "${TOKEN}"}),),
    )


@pytest.fixture
def deployed(tmp_path: Path) -> Callable[[str], Path]:
    def deploy(key: str) -> Path:
        target = find_target(key)
        assert target is not None
        root = tmp_path / "p"
        root.mkdir()
        for file in writer(target)(everything(), Options()).files:
            path = root / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(file.content)
        (root / ".git").mkdir()
        (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
        (root / ".git/objects").mkdir()
        (root / ".git/refs").mkdir()
        return root

    return deploy


def test_claude_validates_skills_and_agents(deployed: Callable[[str], Path], run: Run) -> None:
    program("claude")
    root = deployed("claude")
    shutil.copytree(root / ".claude/skills", root / "plugin/skills")
    shutil.copytree(root / ".claude/agents", root / "plugin/agents")
    manifest = root / "plugin/.claude-plugin/plugin.json"
    manifest.parent.mkdir()
    manifest.write_text('{"name": "ours", "version": "1.0.0", "description": "x", "author": {"name": "x"}}')
    assert "Validation passed" in run("claude", "plugin", "validate", "plugin")
    broken = root / "plugin/skills/review/SKILL.md"
    broken.write_text("---\ndescription: [a\n---\n")
    assert "Validation passed" not in run("claude", "plugin", "validate", "plugin"), (
        "the check must be able to fail"
    )


def test_claude_lists_commands_and_agents(deployed: Callable[[str], Path], run: Run) -> None:
    """The answer to an `initialize` request, which needs no credentials and no network."""
    program("claude")
    deployed("claude")
    request = {
        "type": "control_request",
        "request_id": "1",
        "request": {"subtype": "initialize", "hooks": {}},
    }
    arguments = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    out = run("claude", *arguments, text=json.dumps(request) + "\n")
    answers = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    answer = next(one for one in answers if one["type"] == "control_response")["response"]["response"]
    ours = next(one for one in answer["commands"] if one["name"] == "review")
    assert "日本語" in ours["description"]
    assert ours["argumentHint"] == "[branch]"
    assert "git-commit" in {command["name"] for command in answer["commands"]}
    assert "checker" in {agent["name"] for agent in answer["agents"]}


def test_codex_sees_instructions_skills_and_agents(
    deployed: Callable[[str], Path], run: Run, tmp_path: Path
) -> None:
    program("codex")
    root = deployed("codex")
    config = tmp_path / "home/.codex/config.toml"
    config.parent.mkdir()
    config.write_text(f'[projects."{root}"]\ntrust_level = "trusted"\n')
    prompt = run("codex", "debug", "prompt-input", "hi")
    document: list[dict[str, Any]] = json.loads(prompt)
    text = json.dumps(document, ensure_ascii=False)
    assert "Use pnpm." in text
    assert "日本語" in text
    assert "- yes: - starts like a list: no" in text
    assert "- git-commit: Commit" in text
    assert "checker: {" in text
    assert "docs" in run("codex", "mcp", "list")


def test_gemini_discovers_skills(deployed: Callable[[str], Path], run: Run, tmp_path: Path) -> None:
    program("gemini")
    root = deployed("gemini")
    trusted = tmp_path / "home/.gemini/trustedFolders.json"
    trusted.parent.mkdir()
    trusted.write_text(json.dumps({str(root): "TRUST_FOLDER"}))
    listed = run("gemini", "skills", "list")
    assert "review [Enabled]" in listed
    assert "日本語" in listed
    assert "yes [Enabled]" in listed


def test_opencode_loads_skills_commands_and_agents(deployed: Callable[[str], Path], run: Run) -> None:
    program("opencode")
    deployed("opencode")
    skills = {entry["name"]: entry for entry in json.loads(run("opencode", "debug", "skill"))}
    assert "日本語" in skills["review"]["description"]
    assert skills["yes"]["description"] == "- starts like a list: no"
    config = json.loads(run("opencode", "debug", "config"))
    assert config["command"]["git.commit"]["description"] == "Commit"
    assert config["agent"]["checker"]["permission"] == {"*": "deny", "read": "allow", "grep": "allow"}
    assert config["mcp"]["docs"]["command"] == ["true"]


def test_copilot_lists_skills(deployed: Callable[[str], Path], run: Run) -> None:
    program("copilot")
    deployed("copilot")
    skills = {entry["name"]: entry for entry in json.loads(run("copilot", "skill", "list", "--json"))}
    assert "日本語" in skills["review"]["description"]
    assert skills["yes"]["enabled"] is True


def test_skills_ref_accepts_our_skills(deployed: Callable[[str], Path]) -> None:
    reference = pytest.importorskip("skills_ref", reason="skills-ref is not installed")
    root = deployed("agent-skills")
    for directory in sorted((root / ".agents/skills").iterdir()):
        assert reference.validate(directory) == []

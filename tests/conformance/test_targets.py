"""What we write is what the agents read: spec-kit's own paths, and the real programs where they are present.

The programs are looked for in `CHECKREIN_AGENTS_BIN`, else on PATH. They run offline, without credentials,
with a home directory of their own.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from checkrein.base.origin import Origin
from checkrein.cli.main import run as checkrein
from checkrein.deploy.targets import writer
from checkrein.dialects.generic.write import write_for
from checkrein.dialects.generic.written import Options
from checkrein.dialects.spec_kit.read import read as read_extension
from checkrein.facts.agents import find_target, targets
from checkrein.model.items import Agent, Command, Instruction, Server, Skill
from checkrein.model.project import Sources
from support.counted import COUNTED

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


def installed(name: str) -> str | None:
    places = os.environ.get("CHECKREIN_AGENTS_BIN")
    return shutil.which(name, path=places) if places else shutil.which(name)


def program(name: str) -> str:
    found = installed(name)
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
            "GEMINI_API_KEY": "none",
            "COPILOT_OFFLINE": "true",
            "COPILOT_PROVIDER_BASE_URL": "http://127.0.0.1:9/v1",
            "COPILOT_MODEL": "none",
        }
        try:
            done = subprocess.run(
                [command, *args],
                cwd=tmp_path / "p",
                env=env,
                capture_output=True,
                text=True,
                timeout=30 if "--prompt" in args else 120,
                input=text,
            )
        except subprocess.TimeoutExpired as late:
            if "--prompt" not in args or late.stdout is None:
                raise
            return late.stdout.decode("utf-8", "replace")  # it answered, and now looks for a model
        both = name in ("claude", "gemini") or "--agent" in args
        return done.stdout + done.stderr if both else done.stdout

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


# Counts: 80 skills, 31 agents, 8 commands, 2 servers and 12 rules.


RULES = {
    "deny": ["Bash(rm -rf *)", "Bash(sudo *)", "Bash(git push --force *)", "Read(./.env)",
             "WebFetch(domain:evil.example)", "mcp__docs__erase"],
    "ask": ["Bash(git push *)", "Bash(npm publish *)"],
    "allow": ["Bash(npm test *)", "Bash(git status *)", "Bash(git diff *)", "Read"],
}  # fmt: skip
WITHHELD = 3


class Listed(NamedTuple):
    """What an agent lists. Skills are those that the model may choose."""

    skills: int
    agents: int
    commands: int
    servers: int
    rules: int


EXPECTED = {
    "claude": Listed(80, 31, 8, 2, 12),
    "codex": Listed(80 - WITHHELD, 31, 8, 2, 9),
    "gemini": Listed(80, 31, 8, 2, 12),
    "opencode": Listed(80, 31, 8, 2, 11),
    "copilot": Listed(80, 31, 8, 2, 1),
    "cursor": Listed(80, 31, 8, 2, 10),
}
"""Rules that have no form, by the agents' documentation: Codex takes commands and tools of servers, Copilot
hosts; opencode has no hosts, Cursor nothing that asks."""


@pytest.fixture
def large(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "p"
    for name in ("HEAD", "objects/x", "refs/x"):
        (root / ".git" / name).parent.mkdir(parents=True, exist_ok=True)
    (root / ".git/HEAD").write_text("ref: refs/heads/main\n")
    files = {
        "CLAUDE.md": "Use pnpm.\n",
        ".claude/settings.json": json.dumps({"permissions": RULES}),
        ".mcp.json": json.dumps(
            {
                "mcpServers": {
                    "docs": {"command": "true"},
                    "web": {"type": "http", "url": "http://127.0.0.1:9"},
                }
            }
        ),
    }
    for number in range(80):
        withheld = "disable-model-invocation: true\n" if number < WITHHELD else ""
        files[f".claude/skills/skill-{number:02}/SKILL.md"] = (
            f"---\nname: skill-{number:02}\ndescription: Does the task {number}\n{withheld}---\nDo it.\n"
        )
    for number in range(31):
        files[f".claude/agents/agent-{number:02}.md"] = (
            f"---\nname: agent-{number:02}\ndescription: Handles {number}\ntools: Read, Grep\n---\nYou do.\n"
        )
    for number in range(8):
        files[f".claude/commands/cmd-{number}.md"] = (
            f"---\ndescription: Command {number}\n---\nGo $ARGUMENTS\n"
        )
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CHECKREIN_HOME", str(tmp_path / "checkrein"))
    return root


def names(text: str, kind: str) -> int:
    """How many different items of this kind a text names."""
    return len(set(re.findall(rf"\b({kind}-\d+)\b", text)))


def offered(text: str) -> int:
    return names(text, "skill")


def by_claude(run: Run, root: Path, home: Path) -> Listed:
    request = {
        "type": "control_request",
        "request_id": "1",
        "request": {"subtype": "initialize", "hooks": {}},
    }
    arguments = ("-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
    out = run("claude", *arguments, text=json.dumps(request) + "\n")
    answers = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    answer = next(one for one in answers if one["type"] == "control_response")["response"]["response"]
    commands = " ".join(one["name"] for one in answer["commands"])
    agents = " ".join(one["name"] for one in answer["agents"])
    servers = re.findall(r"(?m)^(docs|web): ", run("claude", "mcp", "list"))
    return by_rules("claude", root)._replace(
        skills=offered(commands), agents=names(agents, "agent"), commands=names(commands, "cmd"),
        servers=len(servers)
    )  # fmt: skip


def by_codex(run: Run, root: Path, home: Path) -> Listed:
    config = home / ".codex/config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f'[projects."{root}"]\ntrust_level = "trusted"\n')
    prompt = json.dumps(json.loads(run("codex", "debug", "prompt-input", "hi"))).replace("\\n", " ")
    servers = json.loads(run("codex", "mcp", "list", "--json"))
    policy = str(root / ".codex/rules/checkrein.rules")
    held = 0
    for verdict, decision in (("deny", "forbidden"), ("ask", "prompt"), ("allow", "allow")):
        for text in RULES[verdict]:
            words = text.removeprefix("Bash(").removesuffix(" *)").split()
            said = run("codex", "execpolicy", "check", "-r", policy, *words) if "Bash(" in text else "{}"
            held += json.loads(said or "{}").get("decision") == decision
    config_text = (root / ".codex/config.toml").read_text()
    return Listed(
        offered(prompt), names(prompt, "agent"), names(prompt, "cmd"), len(servers),
        held + config_text.count("erase")
    )  # fmt: skip


def by_gemini(run: Run, root: Path, home: Path) -> Listed:
    trusted = home / ".gemini/trustedFolders.json"
    trusted.parent.mkdir(exist_ok=True)
    trusted.write_text(json.dumps({str(root): "TRUST_FOLDER"}))
    skills = run("gemini", "skills", "list")
    policies = run("gemini", "--prompt", "/policies list")
    assert "Policy file error" not in policies
    ours = [line for line in policies.splitlines() if "checkrein.toml" in line]
    tools = [line for line in ours if "`grep_search`" not in line and "`glob`" not in line]
    return by_rules("gemini", root)._replace(
        skills=skills.count("[Enabled]"),
        commands=names(run("gemini", "--prompt", "/commands list"), "cmd"),
        servers=len(re.findall(r"(?m)^\W*(docs|web): ", run("gemini", "mcp", "list"))),
        rules=len(tools),
    )


def by_opencode(run: Run, root: Path, home: Path) -> Listed:
    skills = " ".join(entry["name"] for entry in json.loads(run("opencode", "debug", "skill")))
    config = json.loads(run("opencode", "debug", "config"))
    return Listed(
        offered(skills), names(" ".join(config["agent"]), "agent"), names(" ".join(config["command"]), "cmd"),
        len(config["mcp"]), _opencode_rules(config["permission"])
    )  # fmt: skip


def _opencode_rules(permission: dict[str, Any]) -> int:
    """Patterns with a verdict; the first `*` of a tool is ours, and a path is written in four ways."""
    found = [key for held in permission.values() for key in (held if isinstance(held, dict) else ("",))]
    read = permission["read"]
    return len(found) - (permission["bash"]["*"] == "ask") - sum("/" in pattern for pattern in read)


def by_copilot(run: Run, root: Path, home: Path) -> Listed:
    config = home / ".copilot/config.json"
    config.parent.mkdir(exist_ok=True)
    config.write_text(json.dumps({"trustedFolders": [str(root)]}))
    skills = [one["name"] for one in json.loads(run("copilot", "skill", "list", "--json"))]
    servers = json.loads(run("copilot", "mcp", "list", "--json"))["mcpServers"]
    agents = run("copilot", "--agent", "nobody", "-p", "hi")
    return by_rules("copilot", root)._replace(
        skills=offered(" ".join(skills)), agents=names(agents, "agent"), commands=names(agents, "cmd"),
        servers=len(servers)
    )  # fmt: skip


def by_rules(agent: str, root: Path) -> Listed:
    """What the agent's documentation says that it reads, counted in the tree."""

    def found(pattern: str) -> str:
        return " ".join(str(path.relative_to(root)) for path in root.glob(pattern))

    def read(path: str) -> Any:
        return json.loads((root / path).read_text())

    if agent == "claude":
        lists = read(".claude/settings.json")["permissions"].values()
        servers = read(".mcp.json")["mcpServers"]
        return Listed(
            offered(found(".claude/skills/*/SKILL.md")), names(found(".claude/agents/*.md"), "agent"),
            names(found(".claude/commands/*.md"), "cmd"), len(servers), sum(map(len, lists))
        )  # fmt: skip
    if agent == "codex":
        skills = found(".agents/skills/*/SKILL.md")
        policies = [path.read_text() for path in root.glob(".agents/skills/*/agents/openai.yaml")]
        withheld = sum("allow_implicit_invocation: false" in text for text in policies)
        config = tomllib.loads((root / ".codex/config.toml").read_text())
        rules = (root / ".codex/rules/checkrein.rules").read_text().count("prefix_rule(")
        tools = sum(len(one.get("disabled_tools", ())) for one in config["mcp_servers"].values())
        return Listed(
            offered(skills) - withheld, names(found(".codex/agents/*.toml"), "agent"), names(skills, "cmd"),
            len(config["mcp_servers"]), rules + tools
        )  # fmt: skip
    if agent == "gemini":
        settings = read(".gemini/settings.json")
        assert ".gemini/policies" in settings["policyPaths"]
        rules = tomllib.loads((root / ".gemini/policies/checkrein.toml").read_text())["rule"]
        return Listed(
            offered(found(".gemini/skills/*/SKILL.md")), names(found(".gemini/agents/*.md"), "agent"),
            names(found(".gemini/commands/*.toml"), "cmd"), len(settings["mcpServers"]), len(rules)
        )  # fmt: skip
    if agent == "opencode":
        config = read("opencode.json")
        return Listed(
            offered(found(".opencode/skills/*/SKILL.md")), names(found(".opencode/agents/*.md"), "agent"),
            names(found(".opencode/commands/*.md"), "cmd"), len(config["mcp"]),
            _opencode_rules(config["permission"])
        )  # fmt: skip
    if agent == "cursor":
        permissions = read(".cursor/cli.json")["permissions"]
        entries = permissions["allow"] + permissions["deny"]
        double = sum(entry.endswith(" *)") or "/" in entry for entry in entries)
        skills = found(".cursor/skills/*/SKILL.md")
        return Listed(
            offered(skills), names(found(".cursor/agents/*.md"), "agent"), names(skills, "cmd"),
            len(read(".cursor/mcp.json")["mcpServers"]), sum(map(len, permissions.values())) - double
        )  # fmt: skip
    assert agent == "copilot"
    files = found(".github/agents/*.agent.md")
    settings = read(".github/copilot/settings.json")
    return Listed(
        offered(found(".github/skills/*/SKILL.md")), names(files, "agent"), names(files, "cmd"),
        len(read(".mcp.json")["mcpServers"]), len({url.split("//*.")[-1].split("//")[-1]
                                                   for url in settings["deniedUrls"]})
    )  # fmt: skip


PROGRAMS = {
    "claude": by_claude,
    "codex": by_codex,
    "gemini": by_gemini,
    "opencode": by_opencode,
    "copilot": by_copilot,
}


@pytest.mark.timeout(400)
@pytest.mark.parametrize("agent", sorted(EXPECTED))
def test_an_agent_lists_what_was_deployed(
    large: Path,
    agent: str,
    run: Run,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    record_property: Callable[[str, object], None],
) -> None:
    """By the real program where it is installed, else by its documented rules; the last lines say which."""
    monkeypatch.chdir(large)
    assert checkrein(["deploy", "--to", agent]) == 0
    is_there = agent in PROGRAMS and installed(agent) is not None
    record_property(COUNTED, f"{agent}: {'the program' if is_there else 'its documented rules'}")
    assert by_rules(agent, large) == EXPECTED[agent]
    if is_there:
        assert PROGRAMS[agent](run, large, tmp_path / "home") == EXPECTED[agent]


def test_a_missing_item_is_noticed(large: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(large)
    assert checkrein(["deploy", "--to", "codex"]) == 0
    shutil.rmtree(large / ".agents/skills/skill-10")
    assert by_rules("codex", large) != EXPECTED["codex"]

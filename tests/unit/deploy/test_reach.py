"""`checkrein deploy` and `convert`: secrets, hooks, servers, texts and plugins reach the agents."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from checkrein.cli.main import run
from support.files import lay

TOKEN = "Bearer lin_api_abcdefghijklmnopqrstuvwxyz0123"


def command(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = run([*argv, "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    return status, document.get("data") or document["error"]


def front(path: Path) -> dict[str, Any]:
    values: dict[str, Any] = yaml.safe_load(path.read_text().split("---\n")[1])
    return values


# Secrets


SERVERS = {
    "mcpServers": {
        "linear": {"type": "http", "url": "https://l.example/mcp", "headers": {"Authorization": TOKEN}},
        "sentry": {
            "type": "http",
            "url": "https://s.example/mcp",
            "headers": {"Authorization": TOKEN + "4", "X-Api-Key": "0123456789abcdef"},
        },
        "one": {"command": "one", "env": {"API_TOKEN": "first-secret"}},
        "two": {"command": "two", "env": {"API_TOKEN": "second-secret"}},
        "three": {"command": "three", "env": {"API_TOKEN": "first-secret"}},
    }
}


def test_each_secret_has_a_variable_and_the_scheme_stays(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lay(at, {".mcp.json": json.dumps(SERVERS)})
    _, data = command(capsys, "deploy", "--to", "cursor,codex")
    there = json.loads((at / ".cursor/mcp.json").read_text())["mcpServers"]
    assert there["linear"]["headers"] == {"Authorization": "Bearer ${env:LINEAR_AUTHORIZATION}"}
    assert there["sentry"]["headers"] == {
        "Authorization": "Bearer ${env:SENTRY_AUTHORIZATION}",
        "X-Api-Key": "${env:SENTRY_X_API_KEY}",
    }
    assert there["one"]["env"] == there["three"]["env"] == {"API_TOKEN": "${env:API_TOKEN}"}
    assert there["two"]["env"] == {"API_TOKEN": "${env:TWO_API_TOKEN}"}
    codex = tomllib.loads((at / ".codex/config.toml").read_text())["mcp_servers"]
    assert codex["linear"]["bearer_token_env_var"] == "LINEAR_AUTHORIZATION"
    assert data["variables"] == {
        "API_TOKEN": "env of server `one`",
        "LINEAR_AUTHORIZATION": "headers of server `linear`",
        "SENTRY_AUTHORIZATION": "headers of server `sentry`",
        "SENTRY_X_API_KEY": "headers of server `sentry`",
        "TWO_API_TOKEN": "env of server `two`",
    }
    assert run(["deploy", "--to", "cursor", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "  LINEAR_AUTHORIZATION  headers of server `linear`" in out
    assert "lin_api" not in out


# Hooks


@pytest.mark.parametrize(
    ("agent", "file", "directory"),
    [
        ("codex", ".codex/hooks.json", "$(git rev-parse --show-toplevel 2>/dev/null || pwd)"),
        ("copilot", ".github/hooks/checkrein.json", "."),
        ("gemini", ".gemini/settings.json", "$GEMINI_PROJECT_DIR"),
        ("cursor", ".cursor/hooks.json", "$CURSOR_PROJECT_DIR"),
        ("qwen", ".qwen/settings.json", "$QWEN_PROJECT_DIR"),
    ],
)
def test_hook_commands_name_a_directory_that_is_set(
    at: Path, capsys: pytest.CaptureFixture[str], agent: str, file: str, directory: str
) -> None:
    handlers = [
        {"type": "command", "command": '"$CLAUDE_PROJECT_DIR"/.claude/hooks/a.sh'},
        {"type": "command", "command": "${CLAUDE_PROJECT_DIR}/b.sh --env $CLAUDE_ENV_FILE"},
        {"type": "command", "command": "sh", "args": ["${CLAUDE_PROJECT_DIR}/c d.sh", "$x"]},
        {"type": "command", "command": "${CLAUDE_PROJECT_DIR:-$(pwd)}/d.sh ${CLAUDE_PROJECT_DIR:-${PWD}}"},
    ]
    settings = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}}
    lay(at, {".claude/settings.json": json.dumps(settings)})
    _, data = command(capsys, "deploy", "--to", agent)
    text = (at / file).read_text()
    assert "CLAUDE_PROJECT_DIR" not in text
    written = json.loads(text)["hooks"]
    [entries] = written.values()
    found = [handler for entry in entries for handler in entry.get("hooks", [entry])]
    commands = [handler.get("command") or handler.get("bash") for handler in found]
    assert commands == [
        f'"{directory}"/.claude/hooks/a.sh',
        f"{directory}/b.sh --env $CLAUDE_ENV_FILE",
        f"sh \"{directory}/c d.sh\" '$x'",
        f"{directory}/d.sh {directory}",
    ]
    assert any("names $CLAUDE_ENV_FILE" in loss["message"] for loss in data.get("losses", []))


def test_a_variable_inside_other_code_is_told(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = "python3 -c \"import os; os.chdir(os.environ['CLAUDE_PROJECT_DIR'])\""
    settings = {
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": code}]}]}
    }
    lay(at, {".claude/settings.json": json.dumps(settings)})
    _, data = command(capsys, "deploy", "--to", "codex")
    assert any("names $CLAUDE_PROJECT_DIR" in loss["message"] for loss in data["losses"])


# Servers, skills, agents


def test_servers_name_a_directory_that_is_set(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["--root", "${CLAUDE_PROJECT_DIR:-.}"]
    server = {"command": "${CLAUDE_PROJECT_DIR}/bin/docs", "args": args, "env": {"A": "${A}"}}
    lay(at, {".mcp.json": json.dumps({"mcpServers": {"docs": server}})})
    _, data = command(capsys, "deploy", "--to", "codex,gemini,cursor,copilot,opencode")
    codex = tomllib.loads((at / ".codex/config.toml").read_text())["mcp_servers"]["docs"]
    gemini = json.loads((at / ".gemini/settings.json").read_text())["mcpServers"]["docs"]
    editor = json.loads((at / ".vscode/mcp.json").read_text())["servers"]["docs"]
    for entry in (codex, gemini, editor):
        assert (entry["command"], entry["args"]) == ("./bin/docs", ["--root", "."])
    opencode = json.loads((at / "opencode.json").read_text())["mcp"]["docs"]
    assert opencode["command"] == ["./bin/docs", "--root", "."]
    told = [loss["message"] for loss in data["losses"] if "replaces ${CLAUDE_PROJECT_DIR}" in loss["message"]]
    assert {one.partition(":")[0] for one in told} == {
        "codex",
        "copilot",
        "cursor-agent",
        "gemini",
        "opencode",
    }


def test_copilot_finds_the_servers(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line reads .mcp.json itself, else .github/mcp.json; the editor has its own file."""
    lay(at, {".mcp.json": '{"mcpServers": {"docs": {"command": "docs", "env": {"A": "${A}"}}}}'})
    assert command(capsys, "deploy", "--to", "copilot")[0] == 0
    assert not (at / ".github/mcp.json").exists()
    assert "docs" in json.loads((at / ".vscode/mcp.json").read_text())["servers"]
    command(capsys, "deploy", "--undo")
    (at / ".mcp.json").rename(at / "given.mcp.json")
    status, data = command(capsys, "convert", "given.mcp.json", "--to", "copilot", "--kind", "servers")
    files = {file["path"]: json.loads(file["content"]) for file in data["files"]}
    assert status == 0
    assert files[".github/mcp.json"]["mcpServers"]["docs"]["env"] == {"A": "${A}"}
    assert files[".vscode/mcp.json"]["servers"]["docs"]["env"] == {"A": "${env:A}"}


def test_goose_recipes_declare_their_extensions(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    servers = {
        "docs": {"command": "docs", "args": ["-x"], "env": {"DOCS_TOKEN": "secret-of-docs", "MODE": "a"}},
        "web": {"type": "http", "url": "https://w.example", "headers": {"Authorization": TOKEN}},
    }
    lay(
        at,
        {".mcp.json": json.dumps({"mcpServers": servers}), ".claude/commands/go.md": "Go $ARGUMENTS\n"},
    )
    _, data = command(capsys, "deploy", "--to", "goose")
    recipe = yaml.safe_load((at / ".goose/recipes/go.yaml").read_text())
    assert recipe["extensions"] == [
        {"type": "builtin", "name": "developer"},
        {
            "type": "stdio",
            "name": "docs",
            "cmd": "docs",
            "args": ["-x"],
            "envs": {"MODE": "a"},
            "env_keys": ["DOCS_TOKEN"],
        },
        {
            "type": "streamable_http",
            "name": "web",
            "uri": "https://w.example",
            "headers": {"Authorization": "Bearer ${WEB_AUTHORIZATION}"},
            "env_keys": ["WEB_AUTHORIZATION"],
        },
    ]
    assert not [loss for loss in data.get("losses", []) if loss["code"] == "DEP001"]
    assert set(data["variables"]) == {"DOCS_TOKEN", "WEB_AUTHORIZATION"}


def test_codex_keeps_a_skill_from_the_model(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    withheld = "---\ndescription: d\ndisable-model-invocation: true\n---\nx\n"
    lay(
        at,
        {
            ".claude/skills/mine/SKILL.md": withheld,
            ".claude/skills/mine/agents/openai.yaml": "interface:\n  display_name: Mine\npolicy: {a: 1}\n",
            ".claude/commands/started.md": withheld,
            ".claude/skills/open/SKILL.md": "---\ndescription: d\n---\nx\n",
        },
    )
    _, data = command(capsys, "deploy", "--to", "codex")
    policy = yaml.safe_load((at / ".agents/skills/mine/agents/openai.yaml").read_text())
    assert policy == {
        "interface": {"display_name": "Mine"},
        "policy": {"a": 1, "allow_implicit_invocation": False},
    }
    started = yaml.safe_load((at / ".agents/skills/started/agents/openai.yaml").read_text())
    assert started == {"policy": {"allow_implicit_invocation": False}}
    assert not (at / ".agents/skills/open/agents").exists()
    assert not [loss for loss in data.get("losses", []) if "disable-model-invocation" in loss["message"]]


def test_a_model_of_the_file_is_kept(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(
        at,
        {
            ".claude/commands/a.md": "---\ndescription: d\nmodel: opus\n---\nx\n",
            ".claude/commands/b.md": "---\ndescription: d\nmodel: gpt-5.6-sol\n---\nx\n",
            ".claude/agents/c.md": "---\nname: c\ndescription: d\nmodel: gpt-5.6-sol\n---\nx\n",
        },
    )
    _, data = command(capsys, "deploy", "--to", "copilot,codex")
    assert front(at / ".github/agents/a.agent.md")["model"] == "Claude Opus 4.5"
    assert front(at / ".github/agents/b.agent.md")["model"] == "gpt-5.6-sol"
    assert front(at / ".agents/skills/b/SKILL.md")["model"] == "gpt-5.6-sol"
    assert tomllib.loads((at / ".codex/agents/c.toml").read_text())["model"] == "gpt-5.6-sol"
    lost = [loss["message"] for loss in data.get("losses", []) if loss["code"] == "DEP002"]
    assert lost == ["codex: `model` of command `a` has no counterpart in OpenAI Codex"]


EXTENSION = """\
schema_version: "1.0"
extension: {id: ext, name: Ext, version: 1.0.0, description: d, author: me}
requires: {speckit_version: ">=0.1"}
provides:
  commands:
    - {name: speckit.ext.go, file: commands/go.md}
"""


@pytest.mark.parametrize("own", ["tools: WebFetch\n", "allowed-tools: WebFetch\n", "tools: [WebFetch, Read]\n"
                                 "allowed-tools: WebFetch Bash\n"])  # fmt: skip
def test_the_files_own_tools_bind_in_an_agent(at: Path, capsys: pytest.CaptureFixture[str], own: str) -> None:
    text = f"---\ndescription: d\n{own}behavior:\n  execution: agent\n  tools: write\n---\nGo\n"
    lay(at, {"extension.yml": EXTENSION, "commands/go.md": text})
    _, data = command(capsys, "deploy", "--to", "claude,copilot")
    assert front(at / ".claude/agents/speckit-ext-go.md")["tools"] == "WebFetch"
    assert front(at / ".github/agents/speckit.ext.go.agent.md")["tools"] == ["web"]
    named = " ".join(loss["message"] for loss in data.get("losses", []))
    assert "metadata" not in named, "spec-kit's reader filled it in, nobody wrote it"
    assert "compatibility" not in named


# Instructions


def test_a_text_is_written_once(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Copilot reads AGENTS.md and CLAUDE.md itself, Gemini CLI expands imports, Codex has AGENTS.md."""
    lay(
        at,
        {
            "AGENTS.md": "Agents text.\n",
            "CLAUDE.md": "@AGENTS.md\n@docs/style.md\nClaude text.\n",
            "docs/style.md": "Style text.\n",
        },
    )
    _, data = command(capsys, "deploy", "--to", "copilot,gemini,codex,qwen")
    assert (at / ".github/copilot-instructions.md").read_text() == "Style text.\n"
    assert (at / "GEMINI.md").read_text() == "@AGENTS.md\n@docs/style.md\nClaude text.\n"
    qwen = (at / "QWEN.md").read_text()
    assert [qwen.count(text) for text in ("Agents text.", "Claude text.", "Style text.")] == [1, 1, 1]
    assert (at / "AGENTS.md").read_text() == "Agents text.\n"
    lost = {loss["message"].split("`")[1] for loss in data.get("losses", []) if loss["code"] == "DEP001"}
    assert lost == {"CLAUDE.md", "docs/style.md"}, "AGENTS.md is the project's own, and Codex reads only that"


def test_imports_start_from_the_file_that_holds_them(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Gemini CLI expands an import from the folder of GEMINI.md, which is not the folder of the source."""
    lay(
        at,
        {
            ".claude/CLAUDE.md": "Dot text.\n@../docs/c.md\n@extra/d.md, `@extra/d.md.bak`\n",
            ".claude/extra/d.md": "D text.\n",
            ".claude/rules/all.md": "Rule. @../../docs/c.md\n",
            "docs/c.md": "C text.\n",
            "sub/.claude/CLAUDE.md": "Sub. @../near.md\n",
            "sub/near.md": "N text.\n",
        },
    )
    command(capsys, "deploy", "--to", "gemini")
    text = (at / "GEMINI.md").read_text()
    assert text.splitlines()[:3] == ["Dot text.", "@docs/c.md", "@.claude/extra/d.md, `@extra/d.md.bak`"]
    assert "Rule. @docs/c.md" in text


# Plugins


PLUGIN = {
    ".claude-plugin/plugin.json": json.dumps(
        {
            "name": "plug",
            "mcpServers": {"srv": {"command": "node", "args": ["${CLAUDE_PLUGIN_ROOT}/server.js"]}},
        }
    ),
    "skills/one/SKILL.md": "---\ndescription: d\n---\nRun ${CLAUDE_PLUGIN_ROOT}/scripts/x.sh\n",
    "skills/one/notes.md": "n\n",
    "agents/ag.md": "---\nname: ag\ndescription: d\n---\nx\n",
    "commands/go.md": "---\ndescription: d\n---\nGo\n",
    "hooks/hooks.json": json.dumps(
        {
            "hooks": {
                "PreToolUse": [
                    {"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/scripts/x.sh"}]}
                ]
            }
        }
    ),
}


def written(at: Path) -> set[str]:
    return {
        str(path.relative_to(at))
        for start in (".agents", ".codex")
        for path in (at / start).rglob("*")
        if path.is_file()
    }


FILES = {
    ".agents/skills/plug-one/SKILL.md",
    ".agents/skills/plug-one/notes.md",
    ".agents/skills/plug-go/SKILL.md",
    ".codex/agents/plug-ag.toml",
    ".codex/config.toml",
    ".codex/hooks.json",
}


def test_deploy_inside_a_plugin(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(at, PLUGIN)
    assert command(capsys, "deploy", "--to", "codex")[0] == 0
    assert written(at) == FILES
    assert "Run ./scripts/x.sh" in (at / ".agents/skills/plug-one/SKILL.md").read_text()
    assert tomllib.loads((at / ".codex/config.toml").read_text())["mcp_servers"]["plug-srv"]["args"] == [
        "./server.js"
    ]
    assert "CLAUDE_" not in (at / ".codex/hooks.json").read_text()
    assert command(capsys, "deploy", "--to", "codex", "--check")[0] == 0


def test_deploy_of_a_plugin(at: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    lay(
        at,
        {"CLAUDE.md": "Not asked for.\n", **{f"plugins/plug/{path}": text for path, text in PLUGIN.items()}},
    )
    status, data = command(capsys, "deploy", "--to", "codex", "--plugin", "plugins/plug")
    assert status == 0
    assert written(at) == FILES
    assert not (at / "AGENTS.md").exists()
    assert "Run plugins/plug/scripts/x.sh" in (at / ".agents/skills/plug-one/SKILL.md").read_text()
    assert "DEP017" not in {loss["code"] for loss in data.get("losses", [])}
    shutil.move(at / "plugins/plug", tmp_path / "elsewhere")
    _, data = command(capsys, "deploy", "--to", "codex", "--plugin", str(tmp_path / "elsewhere"))
    assert "DEP017" in {loss["code"] for loss in data.get("losses", [])}
    status, error = command(capsys, "deploy", "--to", "codex", "--plugin", "nope")
    assert (status, error["kind"]) == (1, "plugin_not_found")


# The rest


def test_undo_does_not_load_the_project(
    at: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(at, {"CLAUDE.md": "x\n"})
    command(capsys, "deploy", "--to", "codex")
    monkeypatch.setattr("checkrein.passes.load.load", lambda *_, **__: pytest.fail("the project was loaded"))
    assert command(capsys, "deploy", "--undo")[0] == 0
    assert not (at / "AGENTS.md").exists()


def test_undo_of_a_broken_project(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """JSON with comments is merged, and is what it was, to the byte, when nothing else can be read."""
    own = (
        b'\xef\xbb\xbf{\r\n  // mine\r\n  /* keep */ "mcpServers": {\r\n'
        b'    "own": {"command": "x"}, // here\r\n  },\r\n}\r\n'
    )
    lay(at, {".mcp.json": '{"mcpServers": {"docs": {"command": "docs"}}}', ".gemini/settings.json": ""})
    (at / ".gemini/settings.json").write_bytes(own)
    assert command(capsys, "deploy", "--to", "gemini")[0] == 0
    merged = (at / ".gemini/settings.json").read_text("utf-8-sig")
    assert all(
        part in merged for part in ("// mine", "/* keep */", '"own": {"command": "x"}, // here', '"docs"')
    )
    lay(at, {"checkrein.toml": "broken = [", ".mcp.json": "{{", ".claude/settings.json": "nothing"})
    assert run(["deploy", "--undo"]) == 0
    assert (at / ".gemini/settings.json").read_bytes() == own


def test_convert_honours_the_configuration(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (
        "---\ndescription: d\nbehavior:\n  capability: fast\n  tools: none\n  invocation: explicit\n---\nx\n"
    )
    lay(at, {".claude/commands/go.md": text, "checkrein.toml": '[deploy]\nprofile = "pr2103"\n'})
    _, data = command(capsys, "convert", ".claude/commands/go.md", "--to", "copilot")
    values = yaml.safe_load(data["files"][0]["content"].split("---\n")[1])
    assert values["model"] == "Claude Haiku 4.5"
    assert values["tools"] == []
    assert values["disable-model-invocation"] is True
    _, data = command(capsys, "convert", ".claude/commands/go.md", "--to", "copilot", "--profile", "seed")
    assert "model" not in data["files"][0]["content"]
    (at / "checkrein.toml").write_text('[deploy.models.codex]\nfast = "gpt-5-mini"\n')
    _, data = command(capsys, "convert", ".claude/commands/go.md", "--to", "codex")
    assert "model: gpt-5-mini" in data["files"][0]["content"]


INVALID = {
    "execution": ["teleport", 3],
    "capability": ["huge", 3],
    "effort": ["extreme", 7],
    "invocation": ["maybe", True],
    "visibility": ["nobody", 0],
    "color": ["mauve", 1],
    "tools": [False, {"a": 1}],
}


@pytest.mark.parametrize("place", [".claude/commands", ".specify/extensions/ext/commands"])
def test_check_and_show_read_extensions(at: Path, capsys: pytest.CaptureFixture[str], place: str) -> None:
    """Every invalid value is named, in a project's own commands and in an installed extension alike."""
    if place.startswith(".specify"):
        lay(at, {".specify/extensions/ext/extension.yml": EXTENSION})
    for field, values in INVALID.items():
        for value in values:
            text = f"---\ndescription: d\nbehavior: {json.dumps({field: value})}\n---\nGo\n"
            lay(at, {f"{place}/go.md": text})
            _, data = command(capsys, "check", "--select", "BEH")
            codes = [finding["code"] for finding in data["findings"]]
            assert codes, (field, value)
            assert codes[0].startswith("BEH0"), (field, value)
    _, data = command(capsys, "show")
    assert "go" in json.dumps(data)


def test_without_markers_the_root_is_the_working_directory(
    at: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here = tmp_path / "home/notes/deep"
    lay(tmp_path / "home", {".claude/settings.json": "{}", "notes/deep/CLAUDE.md": "x\n"})
    monkeypatch.chdir(here)
    status, data = command(capsys, "deploy", "--to", "codex")
    assert (status, data["root"]) == (0, str(here))
    assert (here / "AGENTS.md").exists()
    assert not (tmp_path / "home/AGENTS.md").exists()


def test_nothing_to_do_says_what_was_found(
    at: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lay(tmp_path / "home", {".claude/skills/mine/SKILL.md": "---\ndescription: d\n---\nx\n"})
    lay(at, {".cursor/rules/a.mdc": "---\nalwaysApply: true\n---\nx\n"})
    assert run(["deploy", "--to", "codex"]) == 0
    out = capsys.readouterr().out
    assert f"Nothing to do: {at} has no items of the project's own." in out
    assert "scope user: 1 skill, not asked for (--scope user)" in out
    assert "files of cursor: 1 instruction; `checkrein import --from cursor`" in out
    lay(at, {".claude/settings.json": '{"permissions": {"deny": ["Read(./x)"]}}'})
    assert run(["deploy", "--to", "goose"]) == 0
    assert f"1 rule, 1 setting found in {at}; goose can take none of it." in capsys.readouterr().out
    assert run(["deploy", "--to", "claude"]) == 0
    assert "claude reads it where it is." in capsys.readouterr().out


def test_an_address_keeps_no_secret_of_its_parameters(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = "https://w.example/mcp?api_key=k3yv4lue9999&team=core"
    servers = {"mcpServers": {"web": {"type": "http", "url": url}}}
    lay(at, {".mcp.json": json.dumps(servers), ".claude/commands/go.md": "Go.\n"})
    _, data = command(capsys, "deploy", "--to", "gemini,codex,goose,cursor-agent")
    assert data["variables"] == {"WEB_SECRET": "url of server `web`"}
    written = [path.read_text() for path in at.rglob("*") if path.is_file() and path.name != ".mcp.json"]
    assert not any("k3yv4lue9999" in text for text in written)
    recipe = yaml.safe_load((at / ".goose/recipes/go.yaml").read_text())
    assert recipe["extensions"][1]["uri"] == "https://w.example/mcp?api_key=${WEB_SECRET}&team=core"
    assert recipe["extensions"][1]["env_keys"] == ["WEB_SECRET"]


def test_templates_in_a_text_are_told_for_goose(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lay(at, {".claude/commands/go.md": "Go $ARGUMENTS with {{name}}.\n"})
    _, data = command(capsys, "deploy", "--to", "goose,gemini")
    (told,) = (one for one in data["losses"] if "template" in one["message"])
    assert told["message"].startswith("goose: ")
    assert "{{name}} is part of a template there" in told["message"]


def test_the_page_names_the_project(at: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rules = {"permissions": {"deny": ["Read(./x)"], "ask": ["WebSearch"], "allow": ["Bash(ls *)"]}}
    lay(at, {".claude/settings.json": json.dumps(rules), ".mcp.json": json.dumps(SERVERS)})
    page = tmp_path / "page.html"
    assert run(["deploy", "--to", "codex,goose", "--report", "--html", str(page)]) == 0
    text = page.read_text()
    assert "<title>project: what each agent keeps</title>" in text
    assert "position: sticky; left: 0" in text
    for feature in ("rule.deny", "rule.ask", "rule.allow"):
        assert f"<code>{feature}</code>" in text
    assert "LINEAR_AUTHORIZATION" in text
    assert text.index("Guards that do not hold") < text.index("What was approximated or lost")
    assert str(at) not in text
    assert "lin_api" not in text


def test_the_legend_is_true(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A field of an item that is lost as a whole is lost too, and not `nothing to write there`."""
    lay(at, {".claude/agents/a.md": "---\nname: a\ndescription: d\nmodel: opus\ncolor: red\n---\nx\n"})
    _, data = command(capsys, "deploy", "--to", "claude,goose", "--report")
    rows = data["report"]["rows"]
    assert rows["agent"]["goose"]["lost"] == 1
    assert rows["agent.color"]["goose"]["lost"] == 1
    assert rows["agent.color"]["claude"]["kept"] == 1

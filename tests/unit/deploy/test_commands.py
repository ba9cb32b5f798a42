"""`checkrein deploy`, `checkrein convert`, `checkrein import`, from argv to exit status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from support.projects import ONE_OF_EVERYTHING

pytestmark = pytest.mark.project(ONE_OF_EVERYTHING)


def answer(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, dict[str, Any]]:
    capsys.readouterr()
    status = run([*argv, "--json"])
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert document["exit_code"] == status
    return status, document.get("data") or document["error"]


def test_deploy_then_check_then_undo(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, "deploy", "--to", "codex,gemini", "--check")[0] == 1
    status, data = answer(capsys, "deploy", "--to", "codex,gemini")
    assert (status, data["applied"], data["targets"]) == (0, True, ["codex", "gemini"])
    assert (at / ".codex/config.toml").exists()
    assert answer(capsys, "deploy", "--to", "codex,gemini", "--check")[0] == 0
    status, data = answer(capsys, "deploy", "--undo", "--to", "codex")
    assert status == 0
    assert not (at / ".codex").exists()
    assert (at / "GEMINI.md").exists()
    assert answer(capsys, "deploy", "--undo")[1]["counts"]["delete"] > 0
    assert not (at / ".checkrein/deploy.json").exists()


@pytest.mark.parametrize("flag", ["--dry-run", "--diff", "--check", "--report"])
def test_looking_writes_nothing(at: Path, capsys: pytest.CaptureFixture[str], flag: str) -> None:
    before = sorted(at.rglob("*"))
    answer(capsys, "deploy", "--to", "codex", flag)
    assert sorted(at.rglob("*")) == before


def test_the_diff_holds_no_secret(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, data = answer(capsys, "deploy", "--to", "all", "--diff")
    assert "+++ b/.codex/config.toml" in data["diff"]
    assert "ghp_" not in json.dumps(data)


def test_losses_name_file_and_line(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["deploy", "--to", "codex"])
    out = capsys.readouterr().out
    assert ".claude/agents/checker.md:5: warning DEP002 codex: `model` of agent `checker`" in out
    assert ".claude/settings.json" in out


def test_report_as_text_json_and_page(at: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    _, data = answer(capsys, "deploy", "--to", "codex,opencode", "--report", "--html", str(page))
    rows = data["report"]["rows"]
    assert {name for name in rows if name.startswith("rule")} == {"rule.allow", "rule.deny"}
    assert rows["rule.deny"]["codex"] == {"kept": 0, "approximated": 1, "lost": 0}
    assert rows["rule.allow"]["opencode"] == {"kept": 0, "approximated": 1, "lost": 0}
    assert '<th scope="col">opencode</th>' in page.read_text()
    assert run(["deploy", "--to", "codex,opencode", "--report"]) == 0
    assert "● kept" in capsys.readouterr().out


def test_an_unknown_agent_is_a_usage_error(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, error = answer(capsys, "deploy", "--to", "codx")
    assert (status, error["kind"]) == (2, "agent_unknown")
    assert "'codex'" in error["message"]
    assert answer(capsys, "deploy")[0] == 2
    assert answer(capsys, "deploy", "--to", "codex", "--scope", "managed")[0] == 2


def test_list_prints_every_agent(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, data = answer(capsys, "deploy", "--list")
    assert len(data["agents"]) >= 44
    run(["deploy", "--list"])
    assert ".github/agents" in capsys.readouterr().out


def test_models_come_from_the_configuration(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (at / "checkrein.toml").write_text('[deploy.models.codex]\nfast = "gpt-5-mini"\n')
    command = at / ".claude/commands/quick.md"
    command.write_text("---\ndescription: Quick\nbehavior:\n  capability: fast\n---\nQuick.\n")
    assert answer(capsys, "deploy", "--to", "codex")[0] == 0
    assert "model: gpt-5-mini" in (at / ".agents/skills/quick/SKILL.md").read_text()


def test_a_wrong_profile_in_the_configuration_is_refused(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (at / "checkrein.toml").write_text('[deploy]\nprofile = "bogus"\n')
    assert answer(capsys, "deploy", "--to", "codex")[0] == 2


def test_an_error_in_the_vocabulary_stops_everything(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (at / ".claude/commands/bad.md").write_text("---\ndescription: x\nbehavior:\n  effort: huge\n---\nx\n")
    status, data = answer(capsys, "deploy", "--to", "codex")
    assert status == 1
    assert not data.get("applied", False)
    assert [loss["code"] for loss in data["losses"] if loss["severity"] == "error"] == ["BEH003"]
    assert not (at / ".codex").exists()


def test_a_file_in_the_way_is_an_exit_of_one(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (at / "GEMINI.md").write_text("mine\n")
    status, data = answer(capsys, "deploy", "--to", "gemini")
    assert (status, data["counts"]["foreign"]) == (1, 1)
    assert answer(capsys, "deploy", "--to", "gemini", "--force")[0] == 0


def test_behavior_in_place_is_said(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = at / ".claude/skills/review/SKILL.md"
    path.write_text("---\nname: review\ndescription: d\nbehavior:\n  effort: low\n---\nx\n")
    _, data = answer(capsys, "deploy", "--to", "claude")
    assert "DEP006" in {loss["code"] for loss in data["losses"]}


def test_an_extension_is_deployed_and_its_output_is_no_source(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (at / "commands").mkdir()
    (at / "extension.yml").write_text(
        'schema_version: "1.0"\nextension: {id: ext, name: Ext, version: 1.0.0}\n'
        "provides:\n  commands:\n    - name: speckit.ext.go\n      file: commands/go.md\n"
    )
    (at / "commands/go.md").write_text(
        "---\ndescription: Go\nbehavior:\n  execution: isolated\n  effort: low\n---\nGo for __AGENT__.\n"
    )
    assert answer(capsys, "deploy", "--to", "claude,codex,gemini")[0] == 0
    skill = (at / ".claude/skills/speckit-ext-go/SKILL.md").read_text()
    assert "context: fork" in skill
    assert "Go for claude." in skill
    assert "effort: low" in (at / ".agents/skills/speckit-ext-go/SKILL.md").read_text()
    status, data = answer(capsys, "deploy", "--to", "claude,codex,gemini")
    assert (status, "create" in data["counts"], "update" in data["counts"]) == (0, False, False)


def test_user_scope_is_only_deployed_when_named(
    at: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = tmp_path / "home/.claude/skills/mine/SKILL.md"
    own.parent.mkdir(parents=True)
    own.write_text("---\nname: mine\ndescription: Mine\n---\nMine.\n")
    answer(capsys, "deploy", "--to", "codex")
    assert not (at / ".agents/skills/mine").exists()


def test_instructions_above_the_project_stay_out(
    at: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "CLAUDE.md").write_text("Not yours.\n")
    _, data = answer(capsys, "deploy", "--to", "codex")
    assert "Not yours." not in (at / "AGENTS.md").read_text()
    assert "DEP011" in {loss["code"] for loss in data["losses"]}


def test_imports_and_nested_instructions(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer(capsys, "deploy", "--to", "codex,gemini")
    assert "Short sentences." in (at / "AGENTS.md").read_text()
    assert not (at / "docs/AGENTS.md").exists()
    assert (at / "web/AGENTS.md").read_text() == "Only web.\n"
    assert "Short sentences." not in (at / "GEMINI.md").read_text(), (
        "Gemini CLI expands @docs/style.md itself"
    )


def test_convert_prints_or_writes(at: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    status, data = answer(capsys, "convert", ".claude/agents/checker.md", "--to", "codex")
    assert (status, data["kind"]) == (0, "agent")
    assert data["files"][0]["path"] == ".codex/agents/checker.toml"
    out = tmp_path / "out"
    out.mkdir()
    answer(capsys, "convert", ".claude/agents/checker.md", "--to", "gemini", "-o", str(out))
    assert (out / ".gemini/agents/checker.md").exists()
    assert not (out / ".checkrein").exists()


@pytest.mark.parametrize(
    ("file", "text", "source", "to", "path", "needle"),
    [
        (
            "x.prompt.md",
            "---\ndescription: d\n---\nDo it\n",
            "copilot",
            "gemini",
            ".gemini/commands/x.toml",
            "Do it",
        ),
        (
            "x.mdc",
            "---\nglobs: '*.ts'\n---\nR\n",
            "cursor",
            "copilot",
            ".github/instructions/x.instructions.md",
            "*.ts",
        ),
        (
            "x.toml",
            'prompt = "go {{args}}"\n',
            "gemini",
            "opencode",
            ".opencode/commands/x.md",
            "go $ARGUMENTS",
        ),
        (
            "opencode.json",
            '{"mcp": {"a": {"type": "local", "command": ["b", "c"]}}}',
            "opencode",
            "claude",
            ".mcp.json",
            '"args"',
        ),
        ("GEMINI.md", "Hello\n", "gemini", "codex", "AGENTS.md", "Hello"),
        (
            "hooks.json",
            '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}',
            "codex",
            "gemini",
            ".gemini/settings.json",
            "AfterAgent",
        ),
        (
            "config.toml",
            '[mcp_servers.a]\ncommand = "b"\nenv_vars = ["T"]\n',
            "codex",
            "opencode",
            "opencode.json",
            "{env:T}",
        ),
        (
            "y.agent.md",
            "---\ndescription: d\ntools: [read]\n---\nY\n",
            "copilot",
            "claude",
            ".claude/agents/y.md",
            "tools: Read",
        ),
    ],
)
def test_convert_between_agents(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    file: str,
    text: str,
    source: str,
    to: str,
    path: str,
    needle: str,
) -> None:
    (tmp_path / file).write_text(text)
    status, data = answer(capsys, "convert", str(tmp_path / file), "--from", source, "--to", to)
    files = {one["path"]: one["content"] for one in data["files"]}
    assert status == 0
    assert needle in files[path]


def test_convert_says_what_it_can_not(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert (
        answer(capsys, "convert", str(tmp_path / "none.md"), "--to", "codex")[1]["kind"] == "file_unreadable"
    )
    (tmp_path / "a.md").write_text("x\n")
    assert answer(capsys, "convert", str(tmp_path / "a.md"), "--from", "nobody", "--to", "codex")[0] == 2
    assert (
        answer(
            capsys, "convert", str(tmp_path / "a.md"), "--from", "codex", "--to", "claude", "--kind", "rule"
        )[0]
        == 2
    )


@pytest.mark.parametrize("agent", ["copilot", "codex", "gemini", "opencode", "cursor"])
def test_import_brings_a_project_back(
    at: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, agent: str
) -> None:
    """Deployed, taken away from its sources, and imported again."""
    import shutil

    assert answer(capsys, "deploy", "--to", agent)[0] == 0
    other = tmp_path / "other"
    shutil.copytree(
        at, other, ignore=shutil.ignore_patterns(".claude", ".mcp.json", "CLAUDE.md", ".checkrein")
    )
    status, data = answer(capsys, "import", "--from", agent, "-C", str(other))
    assert status == 0
    assert data["counts"]["skills"] >= 1
    assert data["counts"]["agents"] == 1
    assert (other / ".claude/skills/review/SKILL.md").exists()
    assert (other / ".claude/skills/review/scripts/x.sh").stat().st_mode & 0o100
    there = (other / "CLAUDE.md").read_text()
    expected = "Short sentences." if agent == "copilot" else "Use pnpm."
    assert expected in there, "Copilot reads CLAUDE.md itself, and gets only what that imports"
    assert "gh-mcp" in (other / ".mcp.json").read_text()
    assert not (other / ".checkrein").exists()
    again = answer(capsys, "import", "--from", agent, "-C", str(other))[1]
    assert {step["action"] for step in again["steps"]} == {"unchanged"}


def test_import_keeps_what_only_the_other_agent_knows(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    agent = tmp_path / ".codex/agents/a.toml"
    agent.parent.mkdir(parents=True)
    agent.write_text('name = "a"\ndescription = "d"\ndeveloper_instructions = "x"\nmodel = "gpt-5"\n')
    answer(capsys, "import", "--from", "codex", "-C", str(tmp_path))
    written = (tmp_path / ".claude/agents/a.md").read_text()
    assert "agents:\n  codex:\n    model: gpt-5\n" in written
    agent.unlink()
    answer(capsys, "deploy", "--to", "codex", "-C", str(tmp_path))
    assert 'model = "gpt-5"' in agent.read_text()


def test_import_of_nothing_is_an_exit_of_one(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert answer(capsys, "import", "--from", "cursor", "-C", str(tmp_path))[0] == 1
    assert answer(capsys, "import", "--from", "claude", "-C", str(tmp_path))[0] == 2

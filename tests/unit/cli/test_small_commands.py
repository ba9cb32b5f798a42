"""`config`, `schema`, `completion`, `show --detect`: what a user sees."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checkrein.cli.main import run

needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")


pytestmark = pytest.mark.project(
    {
        ".claude/skills/one/SKILL.md": (
            "---\nname: one\ndescription: One. Use when asked for one.\ncontext: fork\n---\nDo.\n"
        ),
        "checkrein.toml": '[check]\nignore = ["AS"]\nigonre = []\n[model]\nbase_url = "http://x"\n',
        "sub/": None,
    },
    git=False,
    inside="sub",
)


def test_config_is_the_projects_from_below_it_too(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["config"]) == 0
    shown = capsys.readouterr()
    words = " ".join(shown.out.split())
    assert 'check.ignore ["AS"] (../checkrein.toml:2)' in words
    assert "model.base_url not set (default)" in words
    assert "`check.igonre` is not a configuration key. Did you mean 'check.ignore'?" in shown.err
    assert "`model.base_url` can't be set here" in shown.err


def test_config_never_shows_a_key(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CHECKREIN_MODEL__API_KEY", "hunter2")
    for argv in (["config"], ["config", "--json"]):
        assert run(argv) == 0
        shown = capsys.readouterr()
        assert "hunter2" not in shown.out + shown.err
        assert "‹redacted›" in shown.out


def test_secrets_count_only_when_nobody_else_can_read_them(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secrets = project / ".checkrein" / "secrets.toml"
    secrets.parent.mkdir()
    secrets.write_text('[model]\napi_key = "hunter2"\n')
    secrets.chmod(0o644)
    assert run(["config", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert "CFG005" in {warning["code"] for warning in document["warnings"]}
    secrets.chmod(0o600)
    assert run(["config", "--json"]) == 0
    values = {value["name"]: value for value in json.loads(capsys.readouterr().out)["data"]["values"]}
    assert values["model.api_key"]["layer"] == "secrets"
    assert values["model.api_key"]["value"] == "‹redacted›"


def test_config_of_a_project_that_is_not_there(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run(["config", str(tmp_path / "none"), "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "project_not_found"


def test_the_detection_lists_signals_by_dialect(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["show", "--detect", "-C", str(project)]) == 0
    text = capsys.readouterr().out
    assert text.startswith("dialect claude_code: ")
    assert "DET-" in text
    assert "made of" not in text


def test_a_schema_that_is_none_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "modle"]) == 1
    assert "Did you mean 'model'?" in capsys.readouterr().err
    assert run(["schema", "command/check"]) == 0
    assert json.loads(capsys.readouterr().out)["x-errors"]


def complete(*words: str, directory: Path) -> list[str]:
    """What bash offers for the last word."""
    checkrein = directory / "checkrein"
    checkrein.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m checkrein "$@"\n')
    checkrein.chmod(0o755)
    quoted = " ".join(f"'{word}'" for word in words)
    script = f"""
        PATH="{directory}:$PATH"
        eval "$(checkrein completion bash)"
        COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
        _checkrein_completion checkrein
        printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True, cwd=directory)
    return done.stdout.split()


@needs_bash
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("checkrein", "ch"), ["check"]),
        (("checkrein", "check", "--form"), ["--format"]),
        (("checkrein", "check", "--format", ""), ["text", "json", "sarif", "github", "gitlab"]),
        (("checkrein", "completion", "z"), ["zsh"]),
        (("checkrein", "skill", ""), ["test"]),
    ],
    ids=" ".join,
)
def test_bash_completes_what_is_declared(words: tuple[str, ...], offered: list[str], tmp_path: Path) -> None:
    assert complete(*words, directory=tmp_path) == offered


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_shell_has_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", shell]) == 0
    assert "_CHECKREIN_COMPLETE" in capsys.readouterr().out

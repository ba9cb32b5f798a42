"""A project that was not trusted runs nothing in a session; trusted or with a consent it does."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli import trust as trust_command
from checkrein.testing import ScriptedServer

Run = Callable[..., dict[str, Any]]
CALL = {"name": "Bash", "input": {"command": "echo hi", "description": "d"}, "id": "toolu_1"}


EVERY = ["PostToolUse", "PreToolUse", "SessionEnd", "SessionStart", "Stop", "UserPromptSubmit"]
HOOKS = {event: [{"hooks": [{"type": "command", "command": f"touch ../ran-{event}"}]}] for event in EVERY}
pytestmark = pytest.mark.project(
    {".claude/settings.json": {"hooks": HOOKS, "permissions": {"allow": ["Bash(touch *)"]}}}
)


@pytest.fixture
def run(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Run:
    (tmp_path / "home").mkdir()
    path = os.environ.get("PATH", os.defpath)
    for name in list(os.environ):
        monkeypatch.delenv(name)
    monkeypatch.setenv("PATH", path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CHECKREIN_HOME", str(tmp_path / "checkrein"))
    monkeypatch.setenv("ANTHROPIC_API_KEY", "none")
    monkeypatch.chdir(project)

    def run(*args: str) -> dict[str, Any]:
        from checkrein.__main__ import main

        with ScriptedServer([{"tool_calls": [CALL]}, {"text": "DONE"}]) as server:
            monkeypatch.setenv("ANTHROPIC_BASE_URL", server.url)
            argv = [
                "checkrein",
                "-p",
                "go",
                "--output-format",
                "json",
                "--model",
                "anthropic:claude-sonnet-4-5",
            ]
            monkeypatch.setattr("sys.argv", [*argv, *args])
            main()
        return dict(json.loads(capfd.readouterr().out))

    return run


def ran(tmp_path: Path) -> list[str]:
    return sorted(path.name.removeprefix("ran-") for path in tmp_path.glob("ran-*"))


def trust(project: Path) -> None:
    trust_command.run(str(project), revoke=False, list_=False, yes=True, env=())


def test_untrusted_nothing_runs_and_the_call_is_a_question(run: Run, tmp_path: Path) -> None:
    result = run()
    assert ran(tmp_path) == []
    assert [denial["tool_name"] for denial in result["permission_denials"]] == ["Bash"]


def test_trusted_everything_runs(run: Run, project: Path, tmp_path: Path) -> None:
    trust(project)
    assert run()["permission_denials"] == []
    assert ran(tmp_path) == EVERY


@pytest.mark.parametrize("consent", [("--trust",), ("--setting-sources", "project")])
def test_a_consent_counts_for_one_run(consent: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    run(*consent)
    assert ran(tmp_path) == EVERY
    for path in tmp_path.glob("ran-*"):
        path.unlink()
    run()
    assert ran(tmp_path) == []


def test_a_change_after_trust_takes_it_away(run: Run, project: Path, tmp_path: Path) -> None:
    trust(project)
    settings = json.loads((project / ".claude" / "settings.json").read_text())
    settings["permissions"]["allow"].append("Bash")
    (project / ".claude" / "settings.json").write_text(json.dumps(settings))
    run()
    assert ran(tmp_path) == []

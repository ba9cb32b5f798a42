"""`checkrein worker`: what the configuration says holds unless an option says otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.home import checkrein_home
from checkrein.cli.main import run
from checkrein.llm.cancel import Cancel
from checkrein.runtime.worker import configured_terms
from checkrein.runtime.worker.backend import Assignment, FakeBackend, Heart
from checkrein.runtime.worker.session_report import Report, Tokens
from support.files import lay

FILES = {".claude/skills/plan/SKILL.md": "---\nname: plan\ndescription: plans\n---\nPlan.\n"}
DONE = Report(submission={"summary": "ok"}, channel="channel_a", tokens=Tokens(output=10))


def use(monkeypatch: pytest.MonkeyPatch, report: Any) -> list[str]:
    """Play a report. Returns the names of the backends that were wanted."""
    wanted: list[str] = []

    def named(name: str) -> FakeBackend:
        wanted.append(name)
        return FakeBackend(report)

    monkeypatch.setattr(configured_terms, "backend_named", named)
    return wanted


@pytest.mark.project({**FILES, "checkrein.toml": '[run_skill]\ntimeout = 0.05\nbackend = "claude"\n'})
@pytest.mark.parametrize(
    ("words", "subtype", "backend"),
    [
        ((), "timeout", "claude"),
        (("--timeout", "60", "--idle", "0.05", "--backend", "checkrein"), "idle_stall", "checkrein"),
    ],
)
def test_limits_and_backend(
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    subtype: str,
    backend: str,
) -> None:
    def stuck(assignment: Assignment, cancel: Cancel, beat: Heart) -> Report:
        cancel.wait(30)
        return Report(subtype="interrupted")

    wanted = use(monkeypatch, stuck)
    assert run(["worker", "plan", "-C", str(project), "--json", *words]) == 1
    assert json.loads(capsys.readouterr().out)["data"]["subtype"] == subtype
    assert wanted == [backend]


@pytest.mark.project(FILES)
def test_the_quota_guard_refuses_a_worker(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    use(monkeypatch, DONE)
    lay(checkrein_home(), {"config.toml": "[quota_guard]\nmax_tokens = 10\n"})
    words = ["worker", "plan", "-C", str(project), "--json"]
    assert run(words) == 0
    capsys.readouterr()
    assert run(words) == 1
    assert "quota_reached" in capsys.readouterr().out
    lay(checkrein_home(), {"config.toml": "[quota_guard]\nmax_tokens = 10\nenabled = false\n"})
    assert run(words) == 0


@pytest.mark.project(FILES)
@pytest.mark.parametrize(
    "words", [("--timeout", "0"), ("--timeout", "-1"), ("--stale", "-1"), ("--idle", "-1")]
)
def test_wrong_limits(project: Path, words: tuple[str, ...]) -> None:
    assert run(["worker", "plan", "-C", str(project), *words]) == 2

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from checkrein.cli import doctor
from checkrein.cli.doctor import Payload, run
from checkrein.runtime.process.sandbox import SandboxStatus


def look(project: Path) -> Payload:
    data = run(str(project)).data
    assert isinstance(data, Payload)
    return data


def lines(payload: Payload) -> dict[str, doctor.Line]:
    return {line.name: line for line in payload.lines}


def test_what_is_found(tmp_path: Path) -> None:
    found = lines(look(tmp_path))
    assert found["bash"].state == "ok"
    assert "bash" in found["bash"].found
    assert found["ripgrep"].state == "ok"
    assert found["Checkrein home"].state == "ok"


def test_a_credential_is_named_and_never_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert lines(look(tmp_path))["model"].state == "missing"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-very-secret-value")
    outcome = run(str(tmp_path), offline=True)
    assert outcome.data.models["anthropic"] == "ANTHROPIC_API_KEY"
    assert outcome.text is not None
    shown = outcome.text() + msgspec.json.encode(outcome.data).decode()
    assert "very-secret" not in shown
    assert "ANTHROPIC_API_KEY" in shown


def test_a_missing_shell_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = run(str(tmp_path))
    assert outcome.status == 1
    assert lines(outcome.data)["bash"].state == "missing"
    assert outcome.text is not None
    assert "Install bash" in outcome.text()


def test_what_the_sandbox_enforces_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    weak = SandboxStatus(kind="landlock", enforced=("writes",), missing=("names",), fix="Install bubblewrap.")
    monkeypatch.setattr("checkrein.runtime.process.sandbox.detect", lambda: weak)
    outcome = run(str(tmp_path))
    assert outcome.data.sandbox.missing == ("names",)
    assert outcome.text is not None
    text = outcome.text()
    assert "+ writes" in text
    assert "- names" in text
    assert "Install bubblewrap." in text


def test_the_trust_of_the_project(tmp_path: Path) -> None:
    (tmp_path / "p" / ".claude").mkdir(parents=True)
    settings = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    (tmp_path / "p" / ".claude" / "settings.json").write_text(settings)
    found = lines(look(tmp_path / "p"))["trust"]
    assert found.state == "weak"
    assert found.fix is not None
    assert "checkrein trust" in found.fix


def test_a_project_adds_no_extension_from_any_directory_of_it(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = project / "lib" / "acme-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text("[checkrein.checks]\na = acme_of_the_project:CHECKS\n")
    (project / "src").mkdir()
    monkeypatch.syspath_prepend(str(project / "lib"))
    monkeypatch.chdir(project / "src")
    assert look(Path()).extensions == ()

"""`checkrein sessions show|export|delete`, and `checkrein init`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.runtime.store import SessionStore

Ask = Callable[..., Any]
EVIL = "<script>alert(1)</script> ![x](http://elsewhere/x.png) [go](javascript:alert(1)) \x1b[2J"


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    with SessionStore().create(".") as session:
        session.user("What is it?")
        session.assistant({"id": "msg_1", "content": [{"type": "text", "text": f"It is **big**. {EVIL}"}]})
        session.sync()
    return session.session_id


def test_show(session: str, ask: Ask) -> None:
    shown = ask("sessions", "show", session[:8])
    assert [one["role"] for one in shown["messages"]] == ["user", "assistant"]
    assert ask("sessions", "show", session, "--last", "1")["messages"][0]["text"].startswith("It is")
    assert ask("sessions", "show", "nothing-like-it", status=1)["kind"] == "session_not_found"


def test_shown_text_is_harmless(session: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sessions", "show", session]) == 0
    assert "\x1b[2J" not in capsys.readouterr().out


def test_export(session: str, ask: Ask, tmp_path: Path) -> None:
    page = Path(ask("sessions", "export", session, "-o", "s.html")["file"]).read_text()
    assert "<strong>big</strong>" in page
    assert "<script>alert" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert "default-src 'none'" in page
    assert ask("sessions", "export", session)["text"].startswith("# What is it?")
    lines = ask("sessions", "export", session, "--format", "jsonl")["text"].splitlines()
    assert {json.loads(line)["type"] for line in lines} >= {"user", "assistant"}
    assert ask("sessions", "export", session, "-o", "s.html", status=2)["kind"] == "file_exists"


def test_delete(session: str, ask: Ask) -> None:
    assert ask("sessions", "delete", session, status=1)["deleted"] == []
    assert ask("sessions", "delete", session, "--yes")["deleted"] == [session]
    assert ask("sessions", "show", session, status=1)["kind"] == "session_not_found"


@pytest.mark.usefixtures("inside")
def test_init_writes_what_the_repository_shows(tmp_path: Path, ask: Ask) -> None:
    (tmp_path / "package.json").write_text('{"scripts": {"test": "jest", "lint": "eslint ."}}')
    (tmp_path / "README.md").write_text("# Shop\n\nA shop for hats.\n")
    assert [row["state"] for row in ask("init", "--dry-run")["files"]] == ["would be written"] * 2
    assert not (tmp_path / "CLAUDE.md").exists()
    assert [row["state"] for row in ask("init", "--no-model")["files"]] == ["written"] * 2
    text = (tmp_path / "CLAUDE.md").read_text()
    assert "A shop for hats." in text
    assert "- test: `npm test` (package.json)" in text
    rules = json.loads((tmp_path / ".claude/settings.json").read_text())["permissions"]
    assert rules["allow"] == ["Bash(npm test *)", "Bash(npm run lint *)"]
    (tmp_path / "CLAUDE.md").write_text("mine")
    assert [row["state"] for row in ask("init", "--no-model")["files"]] == ["exists"] * 2
    assert (tmp_path / "CLAUDE.md").read_text() == "mine"

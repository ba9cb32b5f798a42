from __future__ import annotations

from pathlib import Path

import pytest

from checkrein.runtime.store import SessionStore


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Checkrein home of the test's own."""
    monkeypatch.setenv("CHECKREIN_HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CLAUDE_CODE_PROJECT_DIR_NAME", "CHECKREIN_CLOCK", "CHECKREIN_ID_SEED"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    path = tmp_path / "project"
    path.mkdir()
    return path


@pytest.fixture
def store() -> SessionStore:
    return SessionStore()

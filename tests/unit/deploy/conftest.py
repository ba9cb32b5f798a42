"""Deployments of a test's project."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.deploy.deploy import Deployment, prepare
from checkrein.deploy.targets import chosen_targets
from checkrein.dialects.generic.written import Options
from checkrein.passes.load import load

Prepare = Callable[..., Deployment]


@pytest.fixture
def ready(project: Path, tmp_path: Path) -> Prepare:
    def prepared(
        *names: str, prefer: str | None = None, force: bool = False, **options: object
    ) -> Deployment:
        loaded = load(project, env={"HOME": str(tmp_path / "home")}, managed_dir=str(tmp_path / "managed"))
        chosen = Options(**options)  # type: ignore[arg-type]  # fields vary by test
        return prepare(loaded, chosen_targets(names), chosen, prefer=prefer, force=force)

    return prepared


@pytest.fixture
def at(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The test's project as the working directory, with a home beside it."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("CHECKREIN_HOME", str(tmp_path / "checkrein"))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    monkeypatch.chdir(project)
    return project

"""What tests of several layers need."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.files import lay


@pytest.fixture
def spec(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The file of a skill. The mark `spec(text, name="demo")` says what is in it."""
    mark = request.node.get_closest_marker("spec")
    name = f"{mark.kwargs.get('name', 'demo')}/SKILL.md"
    return lay(tmp_path, {name: mark.args[0]}) / name


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test runs in its temporary directory."""
    monkeypatch.chdir(tmp_path)

"""What tests of several layers need."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
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


@pytest.fixture
def ask(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Runs a command with `--json`; gives its data, or its error. `status` is the exit status to hold to."""

    def run_json(*argv: str, status: int | None = None) -> Any:
        ended = run([*argv, "--json"])
        document = json.loads(capsys.readouterr().out)
        assert document["exit_code"] == ended
        assert status in (None, ended)
        return document.get("data") or document["error"]

    return run_json

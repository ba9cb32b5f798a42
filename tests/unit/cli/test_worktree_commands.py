"""`checkrein worktree list` and `clean`, as a user calls them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.cli.main import run
from checkrein.llm.cancel import Cancel
from checkrein.runtime.worktrees.alone import worktrees_of
from support.repositories import make_repository


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A repository with three worktrees: one is clean, one has a new file, one is in use."""
    root = make_repository(tmp_path / "repository")
    monkeypatch.chdir(root)
    env = {"PATH": "/usr/bin:/bin"}
    with worktrees_of(str(root), env) as trees:
        for name in ("clean", "dirty"):
            tree = trees.create(name, "a test", Cancel())
            (Path(tree.path) / "new").touch()
            assert trees.finish(tree, Cancel()) is not None
        (root / ".claude/worktrees/clean/new").unlink()
        trees.create("used", "a test", Cancel())
        yield root


def rows(capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    capsys.readouterr()
    assert run(["worktree", "list", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)["data"]
    return {row["name"]: row["state"] for row in data["worktrees"]}


def test_list_and_clean(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rows(capsys) == {"clean": "clean", "dirty": "dirty", "used": "in_use"}
    assert run(["worktree", "list"]) == 0
    shown = capsys.readouterr().out
    assert "1 changed file" in shown
    assert "a test works in it" in shown
    assert run(["worktree", "clean"]) == 0
    assert "clean stays: used less than 30 days ago." in capsys.readouterr().out
    assert run(["worktree", "clean", "--days", "0"]) == 0
    shown = capsys.readouterr().out
    assert "Removed clean." in shown
    assert "dirty stays: 1 changed file." in shown
    assert rows(capsys) == {"dirty": "dirty", "used": "in_use"}


def test_force_needs_consent_and_a_name_that_exists(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["worktree", "clean", "--force", "dirty"]) == 1
    assert "--yes" in capsys.readouterr().err
    assert run(["worktree", "clean", "--force", "none", "--yes"]) == 1
    assert rows(capsys)["dirty"] == "dirty"
    assert run(["worktree", "clean", "--force", "used", "--yes"]) == 1
    assert run(["worktree", "clean", "--force", "dirty", "--yes", "--json"]) == 0
    assert rows(capsys) == {"clean": "clean", "used": "in_use"}


def test_the_setting_says_what_is_old(made: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = made / ".claude/settings.json"
    settings.write_text('{"cleanupPeriodDays": 7}')
    assert run(["worktree", "clean"]) == 0
    assert "clean stays: used less than 7 days ago." in capsys.readouterr().out


def test_outside_of_a_repository(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["worktree", "list", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["kind"] == "worktree_no_repository"

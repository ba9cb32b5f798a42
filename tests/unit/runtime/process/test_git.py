"""Git calls of ours start nothing that a repository names."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.git import executable_config, is_ignored, quiet_env, run_git, safe_env
from checkrein.runtime.process.spawner import Spawner

ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
}


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, env=ENV, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q", "-b", "main")
    (root / ".gitattributes").write_text("*.foo diff=foo filter=foo\n")
    (root / "a.txt").write_text("a\n")
    (root / "b.foo").write_text("b\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    (root / "a.txt").write_text("a\nmore\n")
    (root / "b.foo").write_text("b\nmore\n")
    marks = tmp_path / "ran"
    marks.mkdir()
    for key, name in (
        ("core.fsmonitor", "fsmonitor"),
        ("diff.external", "external"),
        ("diff.foo.command", "command"),
        ("diff.foo.textconv", "textconv"),
        ("filter.foo.clean", "clean"),
        ("filter.foo.smudge", "smudge"),
        ("core.pager", "pager"),
    ):
        git(root, "config", key, f"touch {marks}/{name}; cat")
    hook = root / ".git" / "hooks" / "post-index-change"
    hook.write_text(f"#!/bin/sh\ntouch {marks}/hook\n")
    hook.chmod(0o755)
    return root


@pytest.fixture
def tools() -> Iterator[dict[str, Any]]:
    with Spawner(lambda origin: True) as spawner:
        yield {"env": ENV, "spawner": spawner, "cancel": Cancel()}


@pytest.mark.parametrize(
    "arguments", [("status", "--short"), ("diff",), ("log", "-p"), ("show",), ("diff", "--stat")]
)
def test_a_hostile_repository_runs_nothing(
    repository: Path, tools: dict[str, Any], arguments: tuple[str, ...]
) -> None:
    done = run_git(arguments, cwd=str(repository), **tools)
    assert done.exit_code == 0, done.stderr
    assert done.stdout
    assert list((repository.parent / "ran").iterdir()) == []


def test_the_same_repository_would_have(repository: Path) -> None:
    subprocess.run(["git", "diff"], cwd=repository, env=ENV, capture_output=True, check=False)
    assert {path.name for path in (repository.parent / "ran").iterdir()} >= {"external", "fsmonitor"}


def test_which_settings_start_programs(repository: Path, tools: dict[str, Any]) -> None:
    found = executable_config(cwd=str(repository), **tools)
    assert set(found) >= {"core.fsmonitor", "diff.external", "diff.foo.textconv", "filter.foo.clean"}
    assert "core.bare" not in found


def test_a_plain_repository_starts_none(tmp_path: Path, tools: dict[str, Any]) -> None:
    git(tmp_path, "init", "-q")
    assert executable_config(cwd=str(tmp_path), **tools) == ()


def test_the_environment_of_the_caller_does_not_count() -> None:
    env = safe_env({"GIT_EXTERNAL_DIFF": "x", "GIT_DIR": "y", "GIT_SSH_COMMAND": "z", "PATH": "/bin"})
    assert not {"GIT_EXTERNAL_DIFF", "GIT_DIR", "GIT_SSH_COMMAND"} & set(env)
    count = int(env["GIT_CONFIG_COUNT"])
    settings = {env[f"GIT_CONFIG_KEY_{n}"]: env[f"GIT_CONFIG_VALUE_{n}"] for n in range(count)}
    assert settings["core.fsmonitor"] == "false"
    assert settings["core.hooksPath"] == "/dev/null"


def test_what_git_ignores(tmp_path: Path, tools: dict[str, Any]) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".gitignore").write_text("local.json\ntracked.json\n")
    names = ("local.json", "tracked.json", "open.json")
    for name in names:
        (tmp_path / name).write_text("{}")
    git(tmp_path, "add", "-f", "tracked.json")
    found = {
        n: is_ignored(n, cwd=str(tmp_path), **tools) for n in ("local.json", "tracked.json", "open.json")
    }
    assert found == {"local.json": True, "tracked.json": False, "open.json": False}


def test_outside_a_repository(tmp_path: Path, tools: dict[str, Any]) -> None:
    assert run_git(("status",), cwd=str(tmp_path), **tools).exit_code != 0
    assert executable_config(cwd=str(tmp_path), **tools) == ()


def test_another_working_tree_is_not_read(repository: Path, tools: dict[str, Any], tmp_path: Path) -> None:
    """`core.worktree` may point anywhere; a git command without approval stays in its own directory."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("OUTSIDE\n")
    git(repository, "config", "core.worktree", str(outside))
    env = quiet_env(ENV, str(repository), tools["spawner"], tools["cancel"])
    done = subprocess.run(
        ["git", "diff"], cwd=repository, env=env, capture_output=True, text=True, check=True
    )
    assert "OUTSIDE" not in done.stdout
    assert "more" in done.stdout

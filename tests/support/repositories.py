"""Git repositories of a test."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

GIT_ENV = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_AUTHOR_NAME": "a",
    "GIT_AUTHOR_EMAIL": "a@b",
    "GIT_COMMITTER_NAME": "a",
    "GIT_COMMITTER_EMAIL": "a@b",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(root: Path | str, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, env=GIT_ENV, check=True, capture_output=True)
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def make_repository(root: Path, branch: str = "main") -> Path:
    """A repository with one commit: `a.txt` and `sub/b.txt`."""
    (root / "sub").mkdir(parents=True)
    git(root, "init", "-q", "-b", branch)
    git(root, "config", "user.name", "a")
    git(root, "config", "user.email", "a@b")
    (root / "a.txt").write_text("a\n")
    (root / "sub" / "b.txt").write_text("b\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root

"""The team in `examples/team`: three worktrees at once, three merges; nothing that meets is overwritten."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from support.repositories import git

EXAMPLE = Path(__file__).parents[2] / "examples" / "team"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "team"
    shutil.copytree(EXAMPLE, root)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "team")
    git(root, "config", "user.email", "team@example.com")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


def play(root: Path, script: str, *words: str) -> list[dict[str, Any]]:
    """The frames of a run with the team."""
    argv = [sys.executable, "-m", "checkrein", "-p", "Fix the failing tests", "--agent", "coordinator"]
    argv += ["--trust", "--model", f"scripted:{script}", "--output-format", "stream-json", "--verbose"]
    env = {**os.environ, "PATH": f"{os.path.dirname(sys.executable)}:{os.environ['PATH']}"}
    done = subprocess.run(
        [*argv, *words],
        cwd=root,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def heard() -> str:
    """Everything in the transcripts."""
    home = Path(os.environ["CHECKREIN_HOME"])
    return "\n".join(path.read_text() for path in home.rglob("*.jsonl"))


def passes(root: Path) -> bool:
    argv = [sys.executable, "-B", "-m", "unittest"]
    return subprocess.run(argv, cwd=root, capture_output=True, check=False).returncode == 0


def test_three_teammates_fix_three_tests(shop: Path) -> None:
    assert not passes(shop)
    frames = play(shop, "session.jsonl")
    assert frames[-1]["result"].startswith("Three teammates fixed one test each")
    text = json.dumps(frames)
    for name in ("price", "stock", "label"):
        assert f"[worktree-{name}] locked" in text, "all three exist when the list is made"
        assert f"Fix shop/{name}.py" in git(shop, "log", "--oneline")
    assert passes(shop)
    assert git(shop, "status", "--porcelain") == ""
    assert git(shop, "worktree", "list").count("\n") == 0
    assert git(shop, "branch", "--format", "%(refname:short)") == "main"
    assert "Conflicts to expect" not in heard()


def test_work_that_meets_is_told_and_not_overwritten(shop: Path) -> None:
    frames = play(shop, "conflict.jsonl")
    assert "nothing is overwritten" in frames[-1]["result"]
    assert "shop/price.py: changed by ann and by bob" in heard()
    assert "- cents * percent_off // 100" in (shop / "shop/price.py").read_text()
    assert git(shop, "status", "--porcelain") == ""
    assert git(shop, "branch", "--format", "%(refname:short)").split() == ["main", "worktree-bob"]
    assert "percent_off * cents // 100" in git(shop, "show", "worktree-bob:shop/price.py")


def test_a_run_with_a_prompt_waits_until_all_rest(shop: Path) -> None:
    """The lead ends its turn at once; the last words of its teammates start turns of their own."""
    lead, mates = {"system": "You lead a team"}, ("ann", "bob")
    work = {"description": "d", "prompt": "work", "team_name": "t"}
    calls = [{"name": "Agent", "input": {**work, "name": name}} for name in mates]
    turns: list[dict[str, Any]] = [
        {"when": {**lead, "text": "Fix the failing"}, "tool_calls": calls},
        {"when": {**lead, "text": "bob said hello"}, "text": "the end", "repeat": 0},
        {"when": lead, "text": "waiting", "repeat": 0},
        {
            "when": {"first_text": "You are ann", "text": "work"},
            "delay": 0.5,
            "tool_calls": [{"name": "SendMessage", "input": {"to": "bob", "message": "say hello"}}],
        },
        {"when": {"first_text": "You are ann"}, "text": "asked"},
        {"when": {"first_text": "You are bob", "text": "say hello"}, "delay": 0.5, "text": "bob said hello"},
        {"when": {"first_text": "You are bob"}, "text": "ready", "repeat": 0},
    ]
    script = shop.parent / "script.jsonl"
    script.write_text("\n".join(map(json.dumps, turns)))
    results = [frame for frame in play(shop, str(script)) if frame["type"] == "result"]
    assert results[-1]["result"] == "the end"

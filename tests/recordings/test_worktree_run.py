"""`checkrein run --worktree`: a session in a worktree of its own, from the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

from support.files import lay
from support.lines import Ran, checkrein
from support.repositories import git

WRITE = {"tool_calls": [{"name": "Write", "input": {"file_path": "new.txt", "content": "x\n"}}]}
PWD = {"tool_calls": [{"name": "Bash", "input": {"command": "pwd"}}]}
DONE = {"text": "done"}


def run(checkout: Path, *words: str, turns: tuple[object, ...] = (DONE,)) -> Ran:
    script = checkout.parent / "script.jsonl"
    script.write_text("\n".join(json.dumps(turn) for turn in turns))
    flags = ("--output-format", "stream-json", "--permission-mode", "acceptEdits")
    env = {**os.environ, "CHECKREIN_HOME": str(checkout.parent / "home")}
    return checkrein(checkout, "-p", "go", *flags, "--model", f"scripted:{script}", *words, env=env)


def cwd(ran: Ran) -> str:
    return str(ran.of("system", "init")[0]["cwd"])


def test_work_stays_and_is_named_and_resume_goes_back(checkout: Path) -> None:
    first = run(checkout, "--worktree", "fix", turns=(WRITE, DONE))
    tree = checkout / ".claude/worktrees/fix"
    assert first.status == 0, first.err
    assert cwd(first) == str(tree)
    assert (tree / "new.txt").exists()
    assert not (checkout / "new.txt").exists()
    assert f"The worktree {tree} on the branch worktree-fix stays: 1 changed file." in first.err
    assert git(checkout, "status", "--porcelain") == ""
    id = first.of("result")[0]["session_id"]
    again = run(checkout, "--resume", id)
    assert again.status == 0, again.err
    assert cwd(again) == str(tree)
    (tree / "new.txt").unlink()
    last = run(checkout, "--resume", id)
    assert cwd(last) == str(tree)
    assert not tree.exists()
    gone = run(checkout, "--resume", id)
    assert "is gone; it goes on here" in gone.err
    assert cwd(gone) == str(checkout)


def test_a_clean_one_goes(checkout: Path) -> None:
    ran = run(checkout / "sub", "-w", turns=(PWD, DONE))
    assert ran.status == 0, ran.err
    assert cwd(ran).startswith(str(checkout / ".claude/worktrees/work-"))
    assert cwd(ran).endswith("/sub")
    assert os.listdir(checkout / ".claude/worktrees") == []
    assert git(checkout, "branch", "--list", "worktree-*") == ""


def test_what_can_not_be(checkout: Path, tmp_path: Path) -> None:
    assert run(checkout, "--worktree", "../x").status == 2
    assert run(checkout, "--worktree", "x", "--continue").status == 2
    (tmp_path / "plain").mkdir()
    ran = run(tmp_path / "plain", "--worktree")
    assert ran.status == 1
    assert "not in a git repository" in ran.err
    assert ran.of("result")[0]["is_error"]


def test_a_hook_replaces_git(checkout: Path, tmp_path: Path) -> None:
    made, seen = tmp_path / "made", tmp_path / "seen"
    lay(
        checkout,
        {
            ".claude/settings.json": {
                "hooks": {
                    "WorktreeCreate": [
                        {
                            "hooks": [
                                {
                                    "type": "command",
                                    "command": f"cat >> {seen}; mkdir -p {made}; echo log; echo {made}",
                                }
                            ]
                        }
                    ],
                    "WorktreeRemove": [
                        {"hooks": [{"type": "command", "command": f"cat >> {seen}; rm -r {made}"}]}
                    ],
                }
            }
        },
    )
    ran = run(checkout, "--worktree", "fix", "--trust")
    assert ran.status == 0, ran.err
    assert cwd(ran) == str(made)
    create, remove = (json.loads(f"{{{part}") for part in seen.read_text().split("{")[1:])
    assert (create["hook_event_name"], create["name"]) == ("WorktreeCreate", "fix")
    assert (remove["hook_event_name"], remove["worktree_path"]) == ("WorktreeRemove", str(made))
    assert not made.exists()
    assert not (checkout / ".claude/worktrees").exists()


def test_the_hook_of_an_untrusted_project_does_not_run(checkout: Path, tmp_path: Path) -> None:
    hook = {"hooks": [{"type": "command", "command": f"touch {tmp_path}/ran; echo {tmp_path}"}]}
    lay(checkout, {".claude/settings.json": {"hooks": {"WorktreeCreate": [hook]}}})
    ran = run(checkout, "--worktree", "fix")
    assert cwd(ran) == str(checkout / ".claude/worktrees/fix")
    assert not (tmp_path / "ran").exists()


def test_a_hook_that_fails_makes_no_session(checkout: Path) -> None:
    hook = {"hooks": [{"type": "command", "command": "echo no room >&2; exit 1"}]}
    lay(checkout, {".claude/settings.json": {"hooks": {"WorktreeCreate": [hook]}}})
    ran = run(checkout, "--worktree", "fix", "--trust")
    assert ran.status == 1
    assert "no room" in ran.err

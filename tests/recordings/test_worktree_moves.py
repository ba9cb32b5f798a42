"""EnterWorktree and ExitWorktree in whole sessions."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.model.items import Instruction
from checkrein.passes.load import load
from checkrein.runtime.session.events import ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import Call, ScriptedModel, Turn
from support.files import lay
from support.repositories import git, make_repository

DONE = Turn(text="done")
Go = Callable[..., tuple[Session, list[ToolFinished]]]


def does(tool: str, **input: Any) -> Turn:
    return Turn(tool_calls=(Call(tool, input),))


def enter(**input: str) -> Turn:
    return does("EnterWorktree", **input)


PWD = does("Bash", command="pwd")
WRITE = does("Write", file_path="new.txt", content="x")


@pytest.fixture
def go(checkout: Path) -> Go:
    def run(*turns: Turn, cwd: Path | None = None, **more: Any) -> tuple[Session, list[ToolFinished]]:
        options = Options(**{"mode": "acceptEdits", "allowed": ("EnterWorktree",), **more})
        with Session(cwd or checkout, model=ScriptedModel((*turns, DONE)), options=options) as session:
            events = list(session.run("go"))
        return session, [one for one in events if isinstance(one, ToolFinished)]

    return run


def texts(done: list[ToolFinished]) -> list[str]:
    return [str(one.content) for one in done]


def test_in_and_out_again(checkout: Path, go: Go) -> None:
    tree = checkout / ".claude/worktrees/fix"
    _, done = go(enter(name="fix"), PWD, WRITE, does("ExitWorktree", action="keep"), PWD)
    assert [one.is_error for one in done] == [False] * 5, texts(done)
    assert str(tree) in texts(done)[1]
    assert (tree / "new.txt").exists()
    assert not (checkout / "new.txt").exists()
    assert texts(done)[4].strip() == str(checkout)
    _, done = go(enter(path=str(tree)), PWD, does("ExitWorktree", action="remove", discard_changes=True))
    assert [one.is_error for one in done] == [False, False, True]
    assert "did not make" in texts(done)[2]
    assert (tree / "new.txt").exists()


def test_work_is_given_up_only_by_name(checkout: Path, go: Go) -> None:
    tree = checkout / ".claude/worktrees/fix"
    remove = does("ExitWorktree", action="remove")
    discard = does("ExitWorktree", action="remove", discard_changes=True)
    _, done = go(enter(name="fix"), WRITE, remove, PWD, discard, PWD)
    assert [one.is_error for one in done] == [False, False, True, False, False, False]
    assert "1 changed file" in texts(done)[2]
    assert texts(done)[3].strip() == str(tree)
    assert not tree.exists()
    assert git(checkout, "branch", "--list", "worktree-*") == ""


def test_a_clean_one_goes_at_the_end_and_work_stays(checkout: Path, go: Go) -> None:
    go(enter(name="empty"))
    session, _ = go(enter(name="full"), WRITE)
    assert os.listdir(checkout / ".claude/worktrees") == ["full"]
    _, done = go(PWD, resume=session.id)
    assert texts(done)[0].strip() == str(checkout / ".claude/worktrees/full")
    (checkout / ".claude/worktrees/full/new.txt").unlink()
    go(PWD, resume=session.id)
    assert os.listdir(checkout / ".claude/worktrees") == []
    again, done = go(PWD, resume=session.id)
    assert texts(done)[0].strip() == str(checkout)
    assert "can't be used any more" in str(again.conversation.state.messages)


def test_only_this_repository_and_only_with_approval(checkout: Path, tmp_path: Path, go: Go) -> None:
    other = make_repository(tmp_path / "other")
    for path in (str(other), "/", "..", str(checkout), str(checkout / "sub")):
        _, done = go(enter(path=path), PWD)
        assert done[0].is_error, path
        assert texts(done)[1].strip() == str(checkout)
    _, done = go(enter(name="../x"), enter(name="a", path="b"), enter(name="a"), enter(name="b"))
    assert [one.is_error for one in done] == [True, True, False, True]
    _, done = go(enter(name="c"), allowed=())
    assert done[0].is_error
    assert not (checkout / ".claude/worktrees/c").exists()
    _, done = go(does("ExitWorktree", action="keep"))
    assert done[0].is_error


def test_from_a_subdirectory(checkout: Path, go: Go) -> None:
    _, done = go(enter(name="fix"), PWD, WRITE, does("Read", file_path="b.txt"), cwd=checkout / "sub")
    assert [one.is_error for one in done] == [False] * 4, texts(done)
    assert texts(done)[1].strip() == str(checkout / ".claude/worktrees/fix/sub")
    assert (checkout / ".claude/worktrees/fix/sub/new.txt").exists()


def test_a_worktree_has_its_instructions_once(checkout: Path, go: Go) -> None:
    lay(checkout, {"CLAUDE.md": "main\n", "sub/CLAUDE.md": "sub\n", "../CLAUDE.md": "above\n"})
    git(checkout, "add", "-A")
    git(checkout, "commit", "-qm", "instructions")
    go(enter(name="fix"), WRITE)
    tree = checkout / ".claude/worktrees/fix"

    def read(items: tuple[Instruction, ...]) -> list[str]:
        return [item.name for item in items if not item.lazy]

    project = load(str(tree / "sub"), detect=False)
    above = str(checkout.parent / "CLAUDE.md")
    assert read(project.instructions) == [above, str(tree / "CLAUDE.md"), str(tree / "sub/CLAUDE.md")]

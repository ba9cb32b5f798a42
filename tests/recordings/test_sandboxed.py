"""A session with the sandbox on: the kernel holds what the rules say, also for programs inside a command."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.runtime.process.sandbox import detect
from checkrein.runtime.session.control import Answer, Question
from checkrein.testing import Call, Turn

STATUS = detect()
pytestmark = pytest.mark.skipif(STATUS.kind == "none", reason=f"no sandbox here: {'; '.join(STATUS.missing)}")


def python(code: str) -> Call:
    return Call("Bash", {"command": f"python3 -c '{code}'"})


@pytest.fixture
def outside() -> Iterator[Path]:
    """A place that is neither in the project nor in the directory for temporary files."""
    path = Path(f"/var/tmp/checkrein-sandbox-{os.getpid()}.txt")
    yield path
    path.unlink(missing_ok=True)


def test_a_permitted_program_can_neither_read_write_nor_connect(
    play, write, project: Path, outside: Path
) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["Read(.env)"]}, "sandbox": {"enabled": True}})
    write(".env", "SECRET=1")
    calls = [
        python('print(open(".env").read())'),
        python(f'open("{outside}", "w").write("x")'),
        python('import socket; socket.create_connection(("127.0.0.1", 9), 2)'),
        python('open("inside.txt", "w").write("x"); print("fine")'),
    ]
    run = play(*[Turn(tool_calls=(call,)) for call in calls], Turn(text="done"), allowed=("Bash(python3 *)",))
    reading, writing, connecting, inside = run.tools
    assert "SECRET" not in str(reading.content)
    assert reading.is_error
    assert writing.is_error
    assert not outside.exists()
    assert connecting.is_error
    assert "fine" in inside.content
    assert (project / "inside.txt").exists()


class Agreeing:
    """Says yes to everything, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Question] = []

    def ask(self, question: Question, _: object) -> Answer:
        self.asked.append(question)
        return Answer(verdict="allow")


def test_a_command_leaves_the_sandbox_only_by_an_answer(play, write, outside: Path) -> None:
    write(".claude/settings.json", {"sandbox": {"enabled": True}})
    input = {"command": f"touch {outside}", "dangerouslyDisableSandbox": True}
    turns = (Turn(tool_calls=(Call("Bash", input),)), Turn(text="done"))
    refused = play(*turns, allowed=("Bash",))
    assert "outside the sandbox" in str(refused.tools[0].content)
    assert not outside.exists()
    asker = Agreeing()
    agreed = play(*turns, allowed=("Bash",), asker=asker)
    assert [question.reason for question in asker.asked] == ["it would run outside the sandbox"]
    assert not agreed.tools[0].is_error
    assert outside.exists()

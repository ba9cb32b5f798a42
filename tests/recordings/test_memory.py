"""A memory that is read and written by sessions, one after the other and at the same time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from checkrein.llm.port import Text
from checkrein.testing import Call, Turn

Write = Callable[[str, object], Path]


def write(path: Path, content: str) -> Turn:
    return Turn(tool_calls=(Call("Write", {"file_path": str(path), "content": content}),))


def memory_of(play) -> Path:
    run = play(Turn(text="ok"))
    said = [b.text for b in run.model.requests[0].messages[0].content if isinstance(b, Text)]
    line = next(text for text in said if "You have a memory" in text).splitlines()[1]
    return Path(line.split(" in ")[1].split(". It outlives")[0])


def test_it_is_written_without_asking_and_read_by_the_next_session(play) -> None:
    memory = memory_of(play)
    topic = "---\ntype: project\n---\nUse -n 2.\n"
    run = play(
        write(memory / "MEMORY.md", "- tests.md: how to test\n"), write(memory / "tests.md", topic), Turn()
    )
    assert [tool.is_error for tool in run.tools] == [False, False]
    assert "modified: 20" in (memory / "tests.md").read_text()
    assert (memory.stat().st_mode & 0o777) == 0o700
    read = Turn(tool_calls=(Call("Read", {"file_path": str(memory / "tests.md")}),))
    edit = Call(
        "Edit",
        {"file_path": str(memory / "tests.md"), "old_string": "-n 2", "new_string": "-n 4"},
    )
    later = play(read, Turn(tool_calls=(edit, edit)), Turn(text="ok"))
    opening = "\n".join(b.text for b in later.model.requests[0].messages[0].content if isinstance(b, Text))
    assert "how to test" in opening
    assert "Use -n 2" not in opening
    assert [tool.is_error for tool in later.tools] == [False, False, True]
    assert "-n 4" in (memory / "tests.md").read_text()


def test_too_large_an_index_is_written_and_complained_about(play) -> None:
    memory = memory_of(play)
    index = memory / "MEMORY.md"
    run = play(
        write(index, "- x\n" * 190), write(index, "- x\n" * 201), write(index, "- x\n"), Turn(text="ok")
    )
    near, over, fine = run.tools
    assert not near.is_error
    assert "nearly full" in near.content
    assert over.is_error
    assert "201 lines" in over.content
    assert not fine.is_error
    assert index.read_text() == "- x\n"


def test_rules_that_deny_hold_there_too(play) -> None:
    memory = memory_of(play)
    run = play(write(memory / "MEMORY.md", "x"), Turn(text="ok"), disallowed=(f"Edit(/{memory}/**)",))
    assert run.tools[0].refused
    outside = play(write(memory.parent / "other.md", "x"), Turn(text="ok"))
    assert outside.tools[0].refused


def test_a_link_in_the_memory_leads_nowhere(play, tmp_path: Path) -> None:
    memory = memory_of(play)
    memory.mkdir(parents=True)
    (tmp_path / "target").write_text("keep")
    (memory / "link.md").symlink_to(tmp_path / "target")
    run = play(write(memory / "link.md", "changed"), Turn(text="ok"))
    assert run.tools[0].is_error
    assert (tmp_path / "target").read_text() == "keep"


def test_switched_off(play, write: Write, monkeypatch) -> None:
    memory = memory_of(play)
    monkeypatch.setenv("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1")
    run = play(Turn(tool_calls=(Call("Write", {"file_path": str(memory / "a.md"), "content": "x"}),)), Turn())
    assert run.tools[0].refused
    said = "\n".join(b.text for b in run.model.requests[0].messages[0].content if isinstance(b, Text))
    assert "You have a memory" not in said


def test_it_is_read_again_after_a_compaction(play) -> None:
    memory = memory_of(play)
    full = Turn(
        tool_calls=(Call("Write", {"file_path": str(memory / "MEMORY.md"), "content": "- REMEMBER\n"}),),
        usage={"input": 190_000},
    )
    run = play(full, Turn(text="S"), Turn(text="done"))
    said = [
        "\n".join(b.text for b in request.messages[0].content if isinstance(b, Text))
        for request in run.model.requests
    ]
    assert ["REMEMBER" in text for text in said] == [False, False, True]


CHILD = """
import sys
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import Call, ScriptedModel, Turn

project, index, name = sys.argv[1:]
turns = []
for number in range(5):
    turns.append(Turn(tool_calls=(Call("Read", {"file_path": index}),)))
    edit = {"file_path": index, "old_string": "END", "new_string": f"- {name} {number}\\nEND"}
    turns.append(Turn(tool_calls=(Call("Edit", edit),)))
with Session(project, model=ScriptedModel([*turns, Turn(text="ok")]), options=Options(persist=False)) as s:
    failed = [e for e in s.run("go") if getattr(e, "is_error", False)]
sys.exit(len(failed))
"""


def test_several_processes_lose_nothing(play, project: Path) -> None:
    memory = memory_of(play)
    memory.mkdir(parents=True)
    index = memory / "MEMORY.md"
    index.write_text("END\n")
    argv = [sys.executable, "-c", CHILD, str(project), str(index)]
    children = [subprocess.Popen([*argv, name], env=os.environ) for name in ("a", "b", "c")]
    failed = sum(child.wait(60) for child in children)
    lines = index.read_text().splitlines()
    assert lines[-1] == "END"
    assert len(lines) - 1 == 15 - failed
    assert len(set(lines)) == len(lines)
    assert failed == 0

"""The end of a screen: the terminal is as it was before, whatever ended it; and two that want one session."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest

from support.terminals import ENTER, ESC, Terminal, ctrl, opened, scripted

SLOW = {"text": "word " * 2000, "chunk": 5, "pace": 0.01}


def restored(terminal: Terminal) -> bool:
    """Whether the line works as before, and the cursor and pastes are as usual."""
    last = [bytes(terminal.raw).rfind(code) for code in (b"\x1b[?2004l", b"\x1b[?2004h")]
    shown = [bytes(terminal.raw).rfind(code) for code in (b"\x1b[?25h", b"\x1b[?25l")]
    return terminal.settings == terminal.before and last[0] > last[1] and shown[0] > shown[1]


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)], ids=["SIGTERM", "SIGHUP"]
)
def test_a_signal_in_mid_stream(project: Path, tmp_path: Path, number: int, status: int) -> None:
    with opened(project, tmp_path, [SLOW]) as terminal:
        terminal.send("go", ENTER).wait("word word")
        terminal.process.send_signal(number)
        assert terminal.ended() == status
        assert restored(terminal)


def test_a_kill_is_noticed_by_the_watcher(project: Path, tmp_path: Path) -> None:
    with opened(project, tmp_path, [SLOW]) as terminal:
        terminal.send("go", ENTER).wait("word word")
        os.kill(terminal.process.pid, signal.SIGKILL)
        terminal.ended()
        terminal.wait(restored)


def test_a_crash(project: Path, tmp_path: Path) -> None:
    """What breaks in the session's thread or in the loop leaves a message and a terminal that works."""
    broken = {"PYTHONPATH": str(tmp_path), "CHECKREIN_TEST_CRASH": "1"}
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, threading\n"
        "def late():\n"
        "    from checkrein.cli.screen.status_rows import StatusRows\n"
        "    StatusRows._context = lambda *given: 1 / 0\n"
        "threading.Timer(1.0, late).start()\n"
    )
    with opened(project, tmp_path, [SLOW], **broken) as terminal:
        terminal.send("go", ENTER)
        assert terminal.ended() == 1
        terminal.wait("ZeroDivisionError")
        assert restored(terminal)


def test_leaving_and_going_on(project: Path, tmp_path: Path) -> None:
    turns = [{"text": "first reply"}, {"text": "the second", "expect": {"messages": 3}}]
    with opened(project, tmp_path, turns) as terminal:
        terminal.send("remember this", ENTER).wait("first reply").turns(1)
        # the same session in a second terminal is refused, and the way out is named
        with Terminal(project, "--continue", "--model", scripted(tmp_path, turns)) as second:
            assert second.ended() == 1
            second.wait("is open in process").wait("--fork-session")
            assert restored(second)
        terminal.send("second prompt", ENTER).wait("the second").turns(2)
        terminal.send(ctrl("d"))
        assert terminal.ended() == 0
        terminal.wait("checkrein --resume")
        assert restored(terminal)


def test_to_the_shell_and_back(project: Path, tmp_path: Path) -> None:
    model = scripted(tmp_path, [{"text": "hello"}])
    with Terminal(project, program=("bash", "--norc", "-i"), PS1="shell$ ") as terminal:
        terminal.wait("shell$").send(f"{sys.executable} -m checkrein --model {model}\n")
        terminal.wait("Ctrl-D leaves").send("draft").wait("> draft")
        terminal.send(ctrl("z")).wait("Stopped").wait(lambda t: t.lines[t.cursor[0]].startswith("shell$"))
        terminal.send("echo usual-$((1+1))\n").wait("usual-2")
        terminal.send("fg\n").wait(lambda t: t.lines[t.cursor[0]] == "> draft")
        terminal.send(ENTER).wait("hello").turns(1).send(ctrl("d")).wait("--resume")


def test_interrupts(project: Path, tmp_path: Path) -> None:
    turns = [
        SLOW,
        {"tool_calls": [{"name": "Bash", "input": {"command": "echo begun; sleep 30"}}]},
        {"text": "after"},
        SLOW | {"text": "other " * 2000},
        {"text": "last"},
    ]
    with opened(project, tmp_path, turns, "--permission-mode", "bypassPermissions") as terminal:
        terminal.send("stream", ENTER).wait("word word").send(ESC).wait("Interrupted")
        terminal.send("tool", ENTER).wait(lambda t: "begun" in t.text.partition("> tool")[2])
        terminal.send(ctrl("c")).wait(lambda t: t.text.count("  Interrupted\n") == 2)
        terminal.send("more", ENTER).wait("after").turns(3)
        # a message that waits comes back to the prompt
        terminal.send("again", ENTER).wait("other other")
        terminal.send("wait for me", ENTER).wait("⧗ wait for me")
        terminal.send(ESC).wait(lambda t: t.lines[t.cursor[0]] == "> wait for me")
        terminal.send(ENTER).wait("last")

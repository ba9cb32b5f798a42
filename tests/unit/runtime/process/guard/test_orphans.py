"""A session is gone without a word: nothing of it goes on."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

from checkrein.runtime.process.child import MARK
from checkrein.runtime.process.guard.client import Warden
from checkrein.runtime.process.guard.descent import processes

from .conftest import Ground
from .test_nursery import waiting


def is_gone(pid: int, within: float) -> bool:
    limit = time.monotonic() + within
    while any(one.pid == pid and not one.is_dead for one in processes()):
        if time.monotonic() > limit:
            return False
        time.sleep(0.02)
    return True


def begun(ground: Ground, argv: str) -> None:
    command = ground.command(f"echo $$ > pid; {argv}", spill=ground.folder / "out")
    ground.spawner.start(command)


def pid_of(ground: Ground) -> int:
    limit = time.monotonic() + 20
    while time.monotonic() < limit:
        text = Path(ground.folder, "pid").read_text() if Path(ground.folder, "pid").exists() else ""
        if text.endswith("\n"):
            return int(text)
        time.sleep(0.02)
    raise AssertionError("the command did not start")


def lose(warden: Warden) -> None:
    """As the kernel does when the session's process is killed."""
    warden._orders.shutdown(socket.SHUT_RDWR)


def test_the_end_waits_for_no_child_that_is_not_born(ground: Ground) -> None:
    ground.run("true")
    maker = waiting(ground)[0]
    os.kill(maker, signal.SIGSTOP)
    ground.run("true")
    ground.run("true")
    begun(ground, "sleep 60")
    command = pid_of(ground)
    lose(ground.spawner._custody.warden())
    assert is_gone(command, within=1.5)
    assert is_gone(maker, within=1.5)


def test_one_that_appears_late_is_ended(ground: Ground) -> None:
    ground.run("true")
    warden = ground.spawner._custody.warden()
    mark = ground.spawner._mark
    lose(warden)
    time.sleep(0.4)
    with subprocess.Popen(["sleep", "60"], env={MARK: mark, "PATH": os.environ["PATH"]}) as late:
        assert late.wait(20) == -signal.SIGKILL
    assert is_gone(warden.pid, within=20)


def test_an_end_with_a_word_is_quick(ground: Ground) -> None:
    ground.run("true")
    began = time.monotonic()
    ground.spawner.close()
    assert time.monotonic() - began < 2

"""Who makes the children that wait for orders may die: commands start all the same."""

from __future__ import annotations

import os
import signal
import time

import pytest

from checkrein.runtime.process.guard.descent import processes

from .conftest import Ground


def waiting(ground: Ground) -> list[int]:
    """The process that makes the children, then the children that are ready."""
    warden = ground.spawner._custody.warden().pid
    limit = time.monotonic() + 10
    while time.monotonic() < limit:
        found = sorted(one.pid for one in processes() if one.parent == warden and not one.is_dead)
        if len(found) >= 3:
            return found
        time.sleep(0.02)
    raise AssertionError("the warden has no children")


@pytest.mark.parametrize("which", [slice(0, 1), slice(1, None), slice(0, None)])
def test_commands_start_when_somebody_killed_them(ground: Ground, which: slice) -> None:
    victim = ground.victim()
    ground.run("true")
    killed = waiting(ground)[which]
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    while any(one.pid in killed and not one.is_dead for one in processes()):
        time.sleep(0.01)
    for _ in range(4):
        done = ground.run("echo here; rm victim")
        assert (done.stdout, len(done.refused)) == (b"here\n", 1)
    assert victim.exists()


def test_no_command_signals_the_one_that_makes_them(ground: Ground) -> None:
    ground.run("true")
    maker = waiting(ground)[0]
    done = ground.run(f"kill -9 {maker} || kill -9 -{maker} || echo refused")
    assert done.stdout == b"refused\n"
    assert waiting(ground)[0] == maker


def test_a_run_hears_that_it_never_started(ground: Ground) -> None:
    made = ground.folder / "made"
    made.write_bytes(b"\x7fELF nothing")
    made.chmod(0o755)
    done = ground.run((str(made),))
    assert (done.started, done.exit_code) == (False, 127)
    assert b"Exec format error" in done.stderr

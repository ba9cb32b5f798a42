"""The guard as a command meets it: what starts, what does not, and what is told."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from checkrein.llm.cancel import Cancel
from checkrein.policy.starts import Answer, Started, Watch, Watched
from checkrein.runtime.process.command import Command
from checkrein.runtime.process.guard.descent import marked
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.spawner import Spawner

from .conftest import ENV, ORIGIN, Ground


def warden_of(ground: Ground) -> int:
    return ground.spawner._custody.warden().pid


def gone(pid: int, within: float = 10.0) -> bool:
    limit = time.monotonic() + within
    while time.monotonic() < limit:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_a_denied_program_gets_eacces_and_the_rest_goes_on(ground: Ground) -> None:
    victim = ground.victim()
    done = ground.run("echo before; rm victim; echo $?; ls")
    assert done.stdout == b"before\n126\nvictim\n"
    assert b"Permission denied" in done.stderr
    assert victim.exists()
    [refusal] = done.refused
    assert (refusal.program, refusal.argv) == (os.path.realpath("/bin/rm"), ("rm", "victim"))
    assert (refusal.rule, refusal.origin, refusal.ended) == ("Bash(rm *)", ORIGIN, False)
    assert ground.heard == [refusal]
    [asked] = ground.asked
    assert asked.cwd == str(ground.folder)
    assert "rm" in asked.names


def test_what_no_rule_is_about_is_no_question(ground: Ground) -> None:
    assert ground.run("/bin/true; ls; cat /dev/null; env true").exit_code == 0
    assert ground.asked == []


def test_a_rule_needs_its_words(ground: Ground) -> None:
    guard = ground.guard(Watched("git", ("push",)), Watched("git", ("--force", "x")))
    ground.run("git status; git --version; git push origin", guard)
    assert [asked.argv for asked in ground.asked] == [("git", "push", "origin")]


def test_an_allowed_question_runs(ground: Ground) -> None:
    ground.answer = lambda started: Answer(True)
    victim = ground.victim()
    done = ground.run("rm victim")
    assert (done.exit_code, done.refused, victim.exists()) == (0, (), False)


def test_every_start_can_be_a_question(ground: Ground) -> None:
    ground.answer = lambda started: Answer(True)
    ground.run("/bin/true; env true", ground.guard(every=True))
    assert [asked.argv for asked in ground.asked] == [("/bin/true",), ("env", "true"), ("true",)]


def test_only_these_programs(ground: Ground) -> None:
    victim = ground.victim()
    done = ground.run("cat victim; ls >/dev/null || rm victim; echo $?", ground.guard(only=("cat",)))
    assert done.stdout == b"still here126\n"
    assert victim.exists()
    assert ["/ls" in one.program or "/rm" in one.program for one in done.refused] == [True, True]
    assert "cat" in done.refused[0].reason
    assert ground.asked == []


def test_a_held_start_holds_no_other_and_no_clock(ground: Ground) -> None:
    told = threading.Event()

    def answer(started: Started) -> Answer:
        told.wait(10)
        return Answer(True)

    ground.answer = answer
    ground.victim()
    threading.Timer(1.5, told.set).start()
    done = ground.run("rm victim & for i in 1 2 3; do /bin/true; done; echo meanwhile; wait", timeout=1.0)
    assert (done.timed_out, done.exit_code) == (False, 0)
    assert done.stdout == b"meanwhile\n"


def test_a_cancelled_command_withdraws_its_question(ground: Ground) -> None:
    cancel, seen = Cancel(), threading.Event()

    class Slow:
        def judge(self, started: Started, inner: Cancel) -> Answer:
            seen.set()
            while not inner.wait(5):
                pass
            return Answer(True)

    from checkrein.runtime.process.guard.guard import Guard

    victim = ground.victim()
    guard = Guard(watch=ground.guard().watch, judge=Slow())
    threading.Thread(target=lambda: (seen.wait(10), cancel.cancel())).start()
    done = ground.spawner.run(ground.command("rm victim", guard), cancel)
    assert done.cancelled
    assert victim.exists()


def test_a_judge_that_fails_allows_nothing(ground: Ground) -> None:
    def fail(started: Started) -> Answer:
        raise RuntimeError("broken")

    ground.answer = fail
    victim = ground.victim()
    assert "broken" in ground.run("rm victim").refused[0].reason
    assert victim.exists()


def test_background_and_open_processes_are_guarded(ground: Ground) -> None:
    victim = ground.victim()
    running = ground.spawner.start(ground.command("rm victim; exit 3", spill=str(ground.folder / "out")))
    assert running.wait(10) == 3
    assert len(running.refused) == 1
    live = ground.spawner.open(ground.command("read x; rm victim; echo $?"))
    live.write(b"go\n")
    assert live.read_line(10) == b"126\n"
    assert live.close() == 0
    assert len(live.refused) == 1
    assert victim.exists()


def test_children_of_a_command_that_is_over_still_ask(ground: Ground) -> None:
    victim = ground.victim()
    done = ground.run("(sleep 0.5; rm victim; ls victim > after) >/dev/null 2>&1 & echo over")
    assert done.stdout == b"over\n"
    limit = time.monotonic() + 10
    while not (ground.folder / "after").exists() and time.monotonic() < limit:
        time.sleep(0.05)
    assert victim.exists()
    assert [one.argv for one in ground.heard] == [("rm", "victim")]


@pytest.mark.parametrize(
    "way",
    [
        "setsid sh -c 'sleep 1000.{mark} & exec sleep 1000.{mark}' >/dev/null 2>&1 &",
        "(setsid nohup sleep 1000.{mark} >/dev/null 2>&1 &) &",
        "env -i /usr/bin/setsid -f /bin/sleep 1000.{mark} >/dev/null 2>&1",
    ],
)
def test_close_ends_what_went_away(ground: Ground, way: str) -> None:
    mark = int.from_bytes(os.urandom(4), "big")
    ground.run(way.format(mark=mark))
    found: list[str] = []
    limit = time.monotonic() + 10
    while not found and time.monotonic() < limit:
        found = subprocess.run(
            ["pgrep", "-f", f"^/?[a-z/]*sleep 1000.{mark}"], capture_output=True, text=True
        ).stdout.split()
    assert found
    ground.spawner.close()
    assert all(gone(int(pid), 3) for pid in found)


def test_the_session_that_dies_takes_everything_along(tmp_path: Path) -> None:
    mark = int.from_bytes(os.urandom(4), "big")
    code = f"""
import os, threading
from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.policy.starts import *
from checkrein.runtime.process.guard.guard import Guard
from checkrein.runtime.process.spawner import *
class J:
    def judge(self, started, cancel): return Answer(False)
spawner = Spawner(lambda origin: True)
command = Command(argv="env -i /usr/bin/setsid -f /bin/sleep 1000.{mark}; /bin/sleep 1000.{mark}", cwd="/",
    origin=Origin("<bundled>", "bundled"), purpose="a test", env=dict(os.environ),
    guard=Guard(watch=Watch(programs=(Watched("rm"),)), judge=J()))
threading.Thread(target=spawner.run, args=(command, Cancel()), daemon=True).start()
import time
time.sleep(1000)
"""
    parent = subprocess.Popen([sys.executable, "-c", code])
    found: list[str] = []
    limit = time.monotonic() + 20
    while len(found) < 2 and time.monotonic() < limit:
        found = subprocess.run(
            ["pgrep", "-f", f"^/bin/sleep 1000.{mark}"], capture_output=True, text=True
        ).stdout.split()
    assert len(found) == 2
    parent.kill()
    parent.wait()
    assert all(gone(int(pid)) for pid in found)


def test_a_warden_that_dies_takes_everything_along(ground: Ground) -> None:
    victim = ground.victim()
    pid = warden_of(ground)
    threading.Timer(0.5, os.kill, (pid, signal.SIGKILL)).start()
    done = ground.run(
        "trap '' TERM HUP; (while :; do rm victim; echo x >> log; done) 2>/dev/null & sleep 20; rm victim"
    )
    assert done.exit_code == 137
    assert "warden" in done.refused[-1].reason
    assert victim.exists()
    assert ground.run("echo again").stdout == b"again\n", "the next command gets a new warden"
    limit = time.monotonic() + 5
    while marked(ground.spawner._mark) and time.monotonic() < limit:
        time.sleep(0.05)
    assert marked(ground.spawner._mark) == set()


def test_what_cannot_start_says_why(ground: Ground) -> None:
    missing = ground.run(("no-such-program-at-all",))
    assert (missing.exit_code, missing.started) == (127, False)
    (ground.folder / "plain").write_text("no program")
    (ground.folder / "plain").chmod(0o755)
    assert not ground.run(("./plain",)).started
    assert not ground.run("true", cwd=str(ground.folder / "none")).started
    assert ground.run("echo fine").stdout == b"fine\n"


def test_nothing_leaks(ground: Ground) -> None:
    ground.run("true")
    time.sleep(0.2)  # it makes the next child
    before = len(os.listdir("/proc/self/fd"))
    theirs = f"/proc/{warden_of(ground)}/fd"
    inner = len(os.listdir(theirs))
    for _ in range(10):
        ground.run("echo x; echo y >&2; rm victim", stdin=b"z")
        ground.run(("no-such-program",))
    time.sleep(0.1)
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(os.listdir(theirs)) <= inner + 1


INTERNAL = 0b11 << 31
"""The signals 32 and 33 belong to the C library, whose `posix_spawn` leaves one of them ignored."""


def test_streams_signals_and_descriptors_are_as_without_a_guard(ground: Ground) -> None:
    reading, writing = os.pipe()
    done = ground.run(
        f"cat; echo there >&{writing}; yes | head -1; ls /proc/self/fd | wc -l",
        stdin=b"in\n",
        pass_fds=(writing,),
    )
    os.close(writing)
    assert done.stdout == b"in\ny\n5\n"
    assert os.read(reading, 100) == b"there\n"
    os.close(reading)
    assert ground.run("kill -9 $$").exit_code == 137
    assert ground.run("sleep 5", timeout=0.1).exit_code == 143
    status = ground.run("cat /proc/self/status").stdout
    found = [int(one, 16) for one in re.findall(rb"(?:SigBlk|SigIgn):\s(\w+)", status)]
    assert [one & ~INTERNAL for one in found] == [0, 0]


def test_large_orders_and_questions(ground: Ground) -> None:
    env = ENV | {"BIG": "x" * 100_000}
    assert ground.run(("sh", "-c", "echo ${#BIG}", "y" * 100_000), env=env).stdout == b"100000\n"
    ground.run("rm $(seq 20000)")
    assert ground.asked[-1].argv == ("rm", *map(str, range(1, 20001)))


def test_many_commands_at_once(ground: Ground) -> None:
    from concurrent.futures import ThreadPoolExecutor

    line = "for i in 1 2 3; do /bin/true; done; rm victim 2>/dev/null; echo $?"
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda _: ground.run(line), range(24)))
    assert {one.stdout for one in results} == {b"126\n"}
    assert all(len(one.refused) == 1 for one in results)


def test_many_commands_start_at_once(spawner: Spawner, tmp_path: Path) -> None:
    """A child that has not started yet holds the pipes of its neighbours."""
    from concurrent.futures import ThreadPoolExecutor

    def echo(number: int) -> bytes:
        command = Command(
            argv=f"echo {number}",
            cwd=str(tmp_path),
            origin=ORIGIN,
            purpose="a test",
            env={"PATH": "/usr/bin:/bin"},
            timeout=20.0,
            guard=Guard(watch=Watch(), judge=Everything()),
        )
        return spawner.run(command, Cancel()).stdout

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(echo, range(64)))
    assert said == [f"{number}\n".encode() for number in range(64)]


class Everything:
    def judge(self, started: Started, cancel: Cancel) -> Answer:
        return Answer(True)


def test_the_warden_starts_without_what_is_slow_to_import() -> None:
    """A command waits for it."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import checkrein.runtime.process.guard.warden; "
    code += "print(*{'enum', 're', 'collections', 'socket', 'msgspec'} & {*sys.modules})"
    root = str(Path(sys.modules["checkrein"].__path__[0]).parent)
    argv = [sys.executable, "-I", "-S", "-c", code, root]
    assert subprocess.run(argv, capture_output=True, text=True, check=True).stdout == "\n"

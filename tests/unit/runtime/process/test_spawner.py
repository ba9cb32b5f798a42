"""Processes: what comes out of them, and that none is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from checkrein.base.errors import PolicyError
from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.spawner import Command, Completed, Spawner

ORIGIN = Origin("<bundled>", "bundled")
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}


def command(argv: str | tuple[str, ...], **more: object) -> Command:
    settings: dict[str, object] = {"cwd": "/", "origin": ORIGIN, "purpose": "a test", "env": ENV}
    return Command(argv=argv, **(settings | more))  # type: ignore[arg-type]


def run(spawner: Spawner, argv: str | tuple[str, ...], **more: object) -> Completed:
    return spawner.run(command(argv, **more), Cancel())


def alive(pattern: str) -> bool:
    found = subprocess.run(["pgrep", "-f", pattern], capture_output=True, text=True)
    return bool(found.stdout.strip())


def gone(pattern: str, within: float = 20.0) -> bool:
    limit = time.monotonic() + within
    while alive(pattern) and time.monotonic() < limit:
        time.sleep(0.02)
    return not alive(pattern)


def unique(seconds: int = 1000) -> str:
    """A sleep that no other test has."""
    return f"sleep {seconds}.{int.from_bytes(os.urandom(4), 'big')}"


def test_output_and_status(spawner: Spawner) -> None:
    done = run(spawner, "echo out; echo err >&2; exit 3")
    assert (done.exit_code, done.stdout, done.stderr) == (3, b"out\n", b"err\n")


def test_merged_output_keeps_its_order(spawner: Spawner) -> None:
    done = run(spawner, "echo 1; echo 2 >&2; echo 3 > /dev/stderr; echo 4", merge_stderr=True)
    assert done.stdout == b"1\n2\n3\n4\n"


def test_a_program_without_a_shell(spawner: Spawner) -> None:
    assert run(spawner, ("printf", "%s", "$HOME;")).stdout == b"$HOME;"


def test_a_signal_is_told_as_shells_tell_it(spawner: Spawner) -> None:
    assert run(spawner, "kill -9 $$").exit_code == 137


def test_what_cannot_start_says_why(spawner: Spawner, tmp_path: Path) -> None:
    missing = run(spawner, ("no-such-program-at-all",))
    assert (missing.exit_code, missing.started) == (127, False)
    assert b"no-such-program-at-all" in missing.stderr
    elsewhere = run(spawner, "true", cwd=str(tmp_path / "none"))
    assert b"does not exist" in elsewhere.stderr


def test_large_input_and_output_pass_through(spawner: Spawner) -> None:
    data = os.urandom(2 << 20)
    done = run(spawner, ("cat",), stdin=data, limit=4 << 20)
    assert done.stdout == data


def test_a_child_that_does_not_read_its_input(spawner: Spawner) -> None:
    assert run(spawner, "exit 5", stdin=b"x" * 300_000).exit_code == 5


def test_output_beyond_the_limit_is_in_the_file(spawner: Spawner, tmp_path: Path) -> None:
    spill = tmp_path / "out"
    done = run(spawner, "head -c 3000000 /dev/zero; echo end", limit=1000, spill=str(spill))
    assert (len(done.stdout), done.size, done.spill) == (1000, 3_000_004, str(spill))
    assert done.truncated
    assert done.tail.endswith(b"end\n")
    assert spill.stat().st_size == 3_000_004
    assert spill.stat().st_mode & 0o077 == 0


def test_short_output_makes_no_file(spawner: Spawner, tmp_path: Path) -> None:
    done = run(spawner, "echo x", spill=str(tmp_path / "out"))
    assert done.spill is None
    assert list(tmp_path.iterdir()) == []


def test_the_spill_file_never_replaces_one(spawner: Spawner, tmp_path: Path) -> None:
    link = tmp_path / "out"
    link.symlink_to(tmp_path / "elsewhere")
    done = run(spawner, "head -c 5000 /dev/zero", limit=10, spill=str(link))
    assert (done.spill, done.size, len(done.stdout)) == (None, 5000, 10)
    assert not (tmp_path / "elsewhere").exists()


def test_time_is_limited_for_the_whole_group(spawner: Spawner) -> None:
    inner = unique()
    began = time.monotonic()
    done = run(spawner, f"echo before; {inner} & {inner}", timeout=0.2, merge_stderr=True)
    assert (done.timed_out, done.exit_code, done.stdout) == (True, 143, b"before\n")
    assert time.monotonic() - began < 15
    assert gone(inner)


def test_who_ignores_the_request_is_killed(spawner: Spawner) -> None:
    inner = unique()
    done = run(spawner, f"trap '' TERM; {inner}; {inner}; {inner}", timeout=0.1)
    assert (done.timed_out, done.exit_code) == (True, 137)
    assert gone(inner)


def test_a_polite_child_may_clean_up(spawner: Spawner, tmp_path: Path) -> None:
    done = run(spawner, f"trap 'touch {tmp_path}/cleaned; exit 9' TERM; sleep 5 & wait", timeout=0.1)
    assert done.exit_code == 9
    assert (tmp_path / "cleaned").exists()


def test_cancellation_ends_it(spawner: Spawner) -> None:
    inner, cancel = unique(), Cancel()
    threading.Timer(0.15, cancel.cancel).start()
    began = time.monotonic()
    done = spawner.run(command(inner), cancel)
    assert done.cancelled
    assert time.monotonic() - began < 15
    assert gone(inner)


def test_a_cancelled_request_starts_and_ends_at_once(spawner: Spawner) -> None:
    cancel = Cancel()
    cancel.cancel()
    began = time.monotonic()
    assert spawner.run(command(unique()), cancel).cancelled
    assert time.monotonic() - began < 15


def test_what_a_command_leaves_behind_does_not_hold_it(spawner: Spawner) -> None:
    inner = unique()
    began = time.monotonic()
    done = run(spawner, f"{inner} & echo started", merge_stderr=True)
    assert done.stdout == b"started\n"
    assert time.monotonic() - began < 15
    assert alive(inner)
    spawner.close()
    assert gone(inner)


def test_late_output_of_a_substitution_is_taken(spawner: Spawner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "checkrein.runtime.process.spawner._LINGER", 5.0
    )  # a busy machine needs longer than we wait
    assert run(spawner, "echo late > >(sleep 0.02; cat)").stdout == b"late\n"


def test_what_left_its_group_ends_with_the_session(spawner: Spawner) -> None:
    inner = unique()
    run(spawner, f"setsid {inner} >/dev/null 2>&1 &")
    limit = time.monotonic() + 20
    while not alive(inner) and time.monotonic() < limit:
        time.sleep(0.01)
    assert alive(inner)
    spawner.close()
    assert gone(inner)


def test_background_output_can_be_read_meanwhile(spawner: Spawner, tmp_path: Path) -> None:
    spill = tmp_path / "out"
    running = spawner.start(command("echo a; sleep 0.2; echo b; exit 4", spill=str(spill)))
    limit = time.monotonic() + 20
    while spill.read_bytes() != b"a\n" and time.monotonic() < limit:
        time.sleep(0.01)
    assert running.exit_code is None
    assert running.wait(5) == 4
    assert spill.read_bytes() == b"a\nb\n"


def test_background_is_killed_with_its_group(spawner: Spawner, tmp_path: Path) -> None:
    inner = unique()
    running = spawner.start(command(f"{inner} & {inner}", spill=str(tmp_path / "out")))
    assert running.kill() == 143
    assert running.killed
    assert gone(inner)


def test_background_obeys_its_time_limit(spawner: Spawner, tmp_path: Path) -> None:
    running = spawner.start(command(unique(), spill=str(tmp_path / "out"), timeout=0.2))
    assert running.wait(5) == 143


def test_background_ends_with_the_session(spawner: Spawner, tmp_path: Path) -> None:
    inner = unique()
    spawner.start(command(inner, spill=str(tmp_path / "out")))
    spawner.close()
    assert gone(inner)


def test_a_command_can_go_on_after_its_time(spawner: Spawner, tmp_path: Path) -> None:
    spill = tmp_path / "out"
    asked = command("echo a; sleep 0.5; echo b", timeout=0.2, spill=str(spill), merge_stderr=True)
    done = spawner.run(asked, Cancel(), keep=True)
    assert (done.timed_out, done.stdout) == (True, b"a\n")
    assert done.running is not None
    assert done.running.wait(5) == 0
    assert spill.read_bytes() == b"a\nb\n"


def test_ten_run_at_once(spawner: Spawner, tmp_path: Path) -> None:
    line = "touch $$; while [ $(ls | wc -l) -lt 10 ]; do sleep 0.02; done; echo met"

    def meet(number: int) -> bytes:
        return run(spawner, line, cwd=str(tmp_path), timeout=30).stdout

    with ThreadPoolExecutor(10) as pool:
        assert list(pool.map(meet, range(10))) == [b"met\n"] * 10


def test_an_untrusted_origin_starts_nothing(tmp_path: Path) -> None:
    with Spawner(lambda origin: origin.scope != "project") as spawner:
        file = str(tmp_path / ".claude" / "settings.json")
        asked = command(f"touch {tmp_path}/ran", origin=Origin(file, "project"))
        with pytest.raises(PolicyError) as refused:
            spawner.run(asked, Cancel())
        with pytest.raises(PolicyError):
            spawner.start(command("true", origin=Origin(file, "project"), spill=str(tmp_path / "o")))
    assert refused.value.kind == "untrusted_origin"
    assert file in refused.value.message
    assert list(tmp_path.iterdir()) == []


def test_nothing_starts_after_the_end(spawner: Spawner) -> None:
    spawner.close()
    with pytest.raises(PolicyError, match="ended"):
        run(spawner, "true")


def test_descriptors_and_children_are_not_leaked(spawner: Spawner) -> None:
    run(spawner, "true")
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(10):
        run(spawner, "echo x; echo y >&2", stdin=b"z")
        run(spawner, ("no-such-program",))
    assert len(os.listdir("/proc/self/fd")) == before


def test_an_end_that_nobody_asked_for_leaves_nothing(tmp_path: Path) -> None:
    """SIGKILL for the parent: the guard ends its children, those that left their group too."""
    inner = unique()
    code = f"""
import os, threading
from checkrein.llm.cancel import Cancel
from checkrein.base.origin import Origin
from checkrein.runtime.process.spawner import *
spawner = Spawner(lambda origin: True)
command = Command(argv="setsid {inner} & {inner}", cwd="/", origin=Origin("<bundled>", "bundled"),
                  purpose="a test", env=dict(os.environ))
threading.Thread(target=spawner.run, args=(command, Cancel())).start()
print("ready", flush=True)
"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "ready\n"
    limit = time.monotonic() + 20
    while not alive(inner) and time.monotonic() < limit:
        time.sleep(0.02)
    assert alive(inner)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    parent.stdout.close()
    assert gone(inner, within=5)


def test_many_threads_can_use_one_spawner(spawner: Spawner) -> None:
    results: list[bytes] = []

    def work(number: int) -> None:
        for turn in range(5):
            results.append(run(spawner, f"echo {number}-{turn}").stdout)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted(f"{n}-{t}\n".encode() for n in range(6) for t in range(5))


def test_the_fake_starts_nothing(tmp_path: Path) -> None:
    from checkrein.runtime.process.fake import FakeSpawner

    fake = FakeSpawner(lambda asked: Completed(exit_code=2, stdout=asked.purpose.encode()))
    assert run(fake, f"touch {tmp_path}/ran").stdout == b"a test"
    assert [asked.argv for asked in fake.commands] == [f"touch {tmp_path}/ran"]
    assert run(FakeSpawner(), "false").exit_code == 0
    with pytest.raises(AssertionError):
        fake.start(command("true"))
    assert list(tmp_path.iterdir()) == []


def test_a_background_command_needs_a_place_for_its_output(spawner: Spawner) -> None:
    with pytest.raises(ValueError, match="file for its output"):
        spawner.start(command("true"))


class TestPreparedGuard:
    def prepared(
        self, spawner: Spawner, monkeypatch: pytest.MonkeyPatch, soon: float
    ) -> tuple[list[str], Callable[[], None]]:
        done: list[str] = []
        monkeypatch.setattr(f"{Spawner.__module__}._SOON", soon)
        monkeypatch.setattr(spawner._custody, "warden", lambda: done.append("warden"))
        return done, spawner.prepare_guard(lambda: done.append("more"))

    def test_it_comes_in_a_moment_with_the_rest(
        self, spawner: Spawner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done, _ = self.prepared(spawner, monkeypatch, 0.01)
        assert until(lambda: len(done) == 2)
        assert done == ["warden", "more"]

    def test_a_command_that_comes_now_does_not_wait(
        self, spawner: Spawner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        done, comes = self.prepared(spawner, monkeypatch, 60)
        comes()
        assert done == ["warden"]
        assert until(lambda: not any(one.name == "checkrein-prepare" for one in threading.enumerate()))
        assert done == ["warden"]


def until(holds: Callable[[], bool], within: float = 20.0) -> bool:
    end = time.monotonic() + within
    while not holds() and time.monotonic() < end:
        time.sleep(0.005)
    return holds()

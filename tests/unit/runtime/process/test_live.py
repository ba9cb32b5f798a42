"""Processes that are talked to while they run: round trips, ends, and nobody waits for ever."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from checkrein.base.errors import PolicyError
from checkrein.base.origin import Origin
from checkrein.llm.cancel import Cancel
from checkrein.runtime.process.fake import FakeSpawner
from checkrein.runtime.process.spawner import Command, Pipes, Spawner

ORIGIN = Origin("<bundled>", "bundled")
ENV = {"PATH": os.environ["PATH"]}
ECHO = "import sys\nfor line in sys.stdin.buffer:\n sys.stdout.buffer.write(line); sys.stdout.buffer.flush()"
LIMIT = 30.0


def python(code: str, **more: object) -> Command:
    settings: dict[str, object] = {"cwd": "/", "origin": ORIGIN, "purpose": "a server", "env": ENV}
    return Command(argv=(sys.executable, "-c", code), **(settings | more))  # type: ignore[arg-type]


def shell(text: str) -> Command:
    return Command(argv=text, cwd="/", origin=ORIGIN, purpose="a server", env=ENV)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def ended(pid: int, within: float = LIMIT) -> bool:
    limit = time.monotonic() + within
    while time.monotonic() < limit:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


def test_round_trips(spawner: Spawner) -> None:
    live = spawner.open(python(ECHO))
    for number in range(200):
        line = json.dumps({"id": number}).encode() + b"\n"
        live.write(line)
        assert live.read_line(LIMIT) == line
    assert live.exit_code is None
    assert live.close() == 0
    assert live.close() == 0


def test_a_large_message(spawner: Spawner) -> None:
    live = spawner.open(python(ECHO))
    line = b"x" * (10 << 20) + b"\n"
    with ThreadPoolExecutor(1) as pool:
        written = pool.submit(live.write, line)
        assert live.read_line(LIMIT) == line
        written.result(LIMIT)
    assert live.close() == 0


def test_writers_do_not_mix(spawner: Spawner) -> None:
    live = spawner.open(python(ECHO))
    lines = [bytes([65 + number]) * 100_000 + b"\n" for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        sent = [pool.submit(live.write, line) for line in lines]
        heard = {live.read_line(LIMIT) for _ in lines}
        for one in sent:
            one.result(LIMIT)
    assert heard == set(lines)
    live.close()


def test_one_that_dies(spawner: Spawner) -> None:
    live = spawner.open(shell("read -r line; echo \"$line\"; printf last; echo 'no more' >&2; exit 7"))
    live.write(b"a\n")
    assert [live.read_line(LIMIT) for _ in range(3)] == [b"a\n", b"last", b""]
    with pytest.raises(BrokenPipeError, match="a server"):
        live.write(b"x" * 10_000_000)
    assert live.close() == 7
    assert live.stderr == b"no more\n"


def test_one_that_is_killed(spawner: Spawner) -> None:
    live = spawner.open(shell("kill -9 $$"))
    assert live.read_line(LIMIT) == b""
    assert live.close() == 128 + signal.SIGKILL


def test_one_that_ignores_the_end_of_its_input(spawner: Spawner) -> None:
    live = spawner.open(shell("trap '' TERM; echo ready; while :; do sleep 0.1; done"))
    assert live.read_line(LIMIT) == b"ready\n"
    began = time.monotonic()
    assert live.close(grace=0.1) == 128 + signal.SIGKILL
    assert time.monotonic() - began < 10


def test_one_that_ends_politely(spawner: Spawner) -> None:
    live = spawner.open(shell("trap 'exit 3' TERM; echo ready; while :; do sleep 0.1; done"))
    live.read_line(LIMIT)
    assert live.close(grace=0.0) == 3


def test_one_that_floods_standard_error(spawner: Spawner) -> None:
    flood = "import sys\nsys.stderr.write('e' * 20_000_000 + 'THE END')\nsys.stderr.flush()\nprint('ok')"
    live = spawner.open(python(flood, limit=1000))
    assert live.read_line(LIMIT) == b"ok\n"
    live.close()
    assert live.stderr.endswith(b"THE END")
    assert len(live.stderr) < 100_000


@pytest.mark.parametrize("waiting", ["read", "write"])
def test_closing_from_another_thread(spawner: Spawner, waiting: str) -> None:
    live = spawner.open(shell("trap '' TERM; exec sleep 1000"))

    def work() -> object:
        if waiting == "read":
            return live.read_line()
        with pytest.raises(BrokenPipeError):
            live.write(b"x" * (1 << 20))
        return b""

    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(work)
        time.sleep(0.1)
        live.close(grace=0.0)
        assert waits.result(LIMIT) == b""


def test_a_grandchild_holds_the_pipe(spawner: Spawner) -> None:
    """One that left the group keeps standard output open: the reader comes back all the same."""
    live = spawner.open(shell("setsid sleep 1000 & echo $!; exit 0"))
    grandchild = int(live.read_line(LIMIT))
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(live.read_line)
        assert live.close() == 0
        assert waits.result(LIMIT) == b""
    spawner.close()
    assert ended(grandchild)


def test_reading_with_a_limit_of_time(spawner: Spawner) -> None:
    live = spawner.open(shell("printf half; read -r go; echo ' done'; read -r go"))
    with pytest.raises(TimeoutError):
        live.read_line(0.5)
    live.write(b"go\n")
    assert live.read_line(LIMIT) == b"half done\n"
    live.close()


def test_it_ends_with_its_session() -> None:
    spawner = Spawner(lambda origin: True)
    live = spawner.open(shell("trap '' TERM; sleep 1000 & echo $!; wait"))
    inner = int(live.read_line(LIMIT))
    with ThreadPoolExecutor(1) as pool:
        waits = pool.submit(live.read_line)
        spawner.close()
        assert waits.result(LIMIT) == b""
    assert live.exit_code is not None
    assert ended(inner)
    with pytest.raises(BrokenPipeError):
        live.write(b"x")
    with pytest.raises(PolicyError, match="session has ended"):
        spawner.open(shell("true"))


def test_no_orphan_when_the_session_is_killed() -> None:
    code = (
        "import os, sys\n"
        "from checkrein.base.origin import Origin\n"
        "from checkrein.runtime.process.spawner import Command, Spawner\n"
        "spawner = Spawner(lambda origin: True)\n"
        "live = spawner.open(Command(argv=\"trap '' TERM HUP; echo $$; while :; do sleep 0.1; done\", "
        "cwd='/', origin=Origin('<bundled>', 'bundled'), purpose='x', env=dict(os.environ)))\n"
        "print(live.read_line().decode(), flush=True)\n"
        "sys.stdin.read()\n"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert parent.stdout is not None
    server = int(parent.stdout.readline())
    parent.kill()
    parent.communicate()
    assert ended(server)


def test_an_untrusted_origin() -> None:
    with Spawner(lambda origin: False) as spawner, pytest.raises(PolicyError) as caught:
        spawner.open(shell("true"))
    assert caught.value.kind == "untrusted_origin"


def test_the_environment_is_what_was_given(spawner: Spawner) -> None:
    live = spawner.open(python("import os; print(sorted(os.environ))", env={"ONLY": "this"}))
    names = live.read_line(LIMIT).decode()
    assert "ONLY" in names
    assert "HOME" not in names
    live.close()


def test_a_program_that_is_not_there(spawner: Spawner) -> None:
    before = descriptors()
    with pytest.raises(FileNotFoundError):
        spawner.open(Command(argv=("/none",), cwd="/", origin=ORIGIN, purpose="x", env=ENV))
    assert descriptors() <= before + 2  # the guard


def test_no_descriptor_is_lost() -> None:
    with Spawner(lambda origin: True) as warm:
        warm.run(shell("true"), Cancel())
    before = descriptors()
    for _ in range(5):
        with Spawner(lambda origin: True) as spawner:
            closed, left = spawner.open(python(ECHO)), spawner.open(python(ECHO))
            closed.close()
            assert left.exit_code is None
    assert descriptors() == before


def test_many_close_at_once(spawner: Spawner) -> None:
    live = spawner.open(python(ECHO))
    threads = [threading.Thread(target=live.close) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LIMIT)
    assert live.exit_code == 0


def test_the_fake() -> None:
    fake = FakeSpawner(talk=lambda command: lambda line: (line.upper(), b"next\n"))
    pipes: Pipes = fake.open(shell("server"))
    pipes.write(b"he")
    pipes.write(b"llo\n")
    assert [pipes.read_line(), pipes.read_line()] == [b"HELLO\n", b"next\n"]
    with pytest.raises(TimeoutError):
        pipes.read_line(0.01)
    assert pipes.close() == 0
    assert pipes.read_line() == b""
    with pytest.raises(BrokenPipeError):
        pipes.write(b"x")
    assert [command.argv for command in fake.commands] == ["server"]

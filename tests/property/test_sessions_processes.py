"""Real processes: killed while they write, two on one session, many on one store."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checkrein.base.errors import SessionError
from checkrein.runtime.store import SessionStore
from checkrein.runtime.store.load import load

WRITER = """
import os, sys
from checkrein.runtime.store import SessionStore

store, cwd = SessionStore(sys.argv[1]), sys.argv[2]
ack = lambda what: os.write(1, what.encode() + b"\\n")
try:
    conversation, writer = store.resume("s", cwd)
except Exception:
    writer = store.create(cwd, session_id="s")
ack("ready")
for turn in range(10_000):
    ack(writer.user(f"prompt {turn}"))
    calls = [f"call-{os.getpid()}-{turn}-{at}" for at in range(3)]
    blocks = [{"type": "tool_use", "id": call, "name": "Bash", "input": {"turn": turn}} for call in calls]
    ack(writer.assistant({"id": f"msg-{os.getpid()}-{turn}", "content": blocks}))
    for at, call in enumerate(calls):
        writer.tool_started(call, "Bash")
        ack("started " + call)
        ack(writer.tool_result(call, "ü" * (400_000 if at == turn % 7 else 50)))
    if turn % 5 == 4:
        writer.sync()
"""


def spawn(script: str, *arguments: str | Path) -> subprocess.Popen[bytes]:
    """Unbuffered, for `communicate` does not see what `readline` has read ahead."""
    argv = [sys.executable, "-c", script, *map(str, arguments)]
    return subprocess.Popen(argv, bufsize=0, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def crash(root: Path, cwd: Path, rng: random.Random) -> list[str]:
    """Start a writer, kill it somewhere, return what it acknowledged."""
    child = spawn(WRITER, root, cwd)
    assert child.stdout is not None
    heard = [child.stdout.readline() for _ in range(rng.randint(1, 60))]
    time.sleep(rng.random() * 0.003)
    child.send_signal(signal.SIGKILL)
    rest, errors = child.communicate()
    assert child.returncode == -signal.SIGKILL, errors.decode()
    lines = (b"".join(heard) + rest).decode().split("\n")[:-1]  # an ack that was cut itself is none
    return [line for line in lines if line != "ready"]


def check_crashes(tmp_path: Path, count: int, seed: int) -> None:
    rng = random.Random(seed)
    root, cwd = tmp_path / "sessions", tmp_path / "project"
    cwd.mkdir()
    store = SessionStore(root)
    acknowledged: set[str] = set()
    started: set[str] = set()
    for _ in range(count):
        for line in crash(root, cwd, rng):
            (started if line.startswith("started ") else acknowledged).add(line.removeprefix("started "))
        path = store.find("s", cwd)
        conversation = load(path)
        kept = {uuid for sources in conversation.sources for uuid in sources}
        assert acknowledged <= kept
        answers = [
            block
            for message in conversation.messages
            for block in message["content"]
            if block["type"] == "tool_result"
        ]
        calls = [
            block["id"]
            for message in conversation.messages
            for block in message["content"]
            if block["type"] == "tool_use"
        ]
        assert [answer["tool_use_id"] for answer in answers] == calls
        unfinished = {a["tool_use_id"] for a in answers if a.get("is_error")}
        for call in conversation.interrupted:
            assert call.id in unfinished
            assert call.effect == "unknown" or call.id not in started
        if rng.random() < 0.1 and path.stat().st_size > 4_000_000:  # keep the campaign linear
            store.delete("s", cwd)
            acknowledged.clear()
            started.clear()


def test_nothing_acknowledged_is_lost_when_a_writer_is_killed(tmp_path: Path) -> None:
    check_crashes(tmp_path, 20, seed=4)


@pytest.mark.campaign
@pytest.mark.skipif(
    not os.environ.get("CHECKREIN_CAMPAIGN"), reason="set CHECKREIN_CAMPAIGN=1 for the long run"
)
def test_nothing_acknowledged_is_lost_in_200_crashes(tmp_path: Path) -> None:
    check_crashes(tmp_path, 200, seed=200)


def test_a_second_process_is_refused_while_the_first_writes_and_admitted_after(tmp_path: Path) -> None:
    child = spawn(WRITER, tmp_path / "sessions", tmp_path)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    child.stdout.readline()
    store = SessionStore(tmp_path / "sessions")
    try:
        with pytest.raises(SessionError) as refused:
            store.resume("s", tmp_path)
        assert refused.value.kind == "concurrent_modification"
        assert refused.value.retryable
        assert str(child.pid) in refused.value.message
        assert str(store.find("s", tmp_path)) in refused.value.message
        assert store.holder("s", tmp_path) == child.pid
        with pytest.raises(SessionError, match=str(child.pid)):
            store.delete("s", tmp_path)
        with pytest.raises(SessionError, match=str(child.pid)):
            store.rename("s", "x", tmp_path)
        assert store.load("s", tmp_path).messages  # reading is free
    finally:
        child.kill()
        child.communicate()
    assert store.holder("s", tmp_path) is None
    _, writer = store.resume("s", tmp_path)
    writer.close()


BUSY = """
import sys, time, random
from checkrein.base.errors import CheckreinError, NotFoundError, SessionError
from checkrein.runtime.store import SessionStore

root, cwd, job, seed = sys.argv[1:]
store, rng, end = SessionStore(root), random.Random(seed), time.monotonic() + 2
while time.monotonic() < end:
    name = f"s{rng.randint(0, 7)}"
    try:
        if job == "write":
            try:
                writer = store.create(cwd, session_id=name)
            except SessionError:
                _, writer = store.resume(name, cwd)
            with writer:
                writer.user("find the needle")
                writer.assistant({"id": "m", "content": [{"type": "text", "text": "no needle here"}]})
        elif job == "delete":
            store.delete(name, cwd)
        else:
            for info in store.list(cwd):
                assert info.prompt_count > 0, info
            store.search("needle", cwd)
            store.load(name, cwd)
    except NotFoundError:
        pass
    except SessionError as error:
        assert error.kind in ("concurrent_modification", "session_exists"), error
"""


def test_writing_listing_and_deleting_at_once_corrupt_nothing(tmp_path: Path) -> None:
    jobs = ["write", "write", "delete", "read", "read"]
    root = tmp_path / "sessions"
    children = [spawn(BUSY, root, tmp_path, job, str(at)) for at, job in enumerate(jobs)]
    for child in children:
        _, errors = child.communicate(timeout=60)
        assert child.returncode == 0, errors.decode()
    store = SessionStore(root)
    listed = store.list(tmp_path)
    names = {path.stem for path in store.root.rglob("*.jsonl")}
    assert {info.session_id for info in listed} == names
    for info in listed:
        conversation = store.load(info.session_id, tmp_path)
        assert not conversation.diagnostics
        assert conversation.prompt_count == info.prompt_count
    assert not list(store.root.rglob("*.lock"))

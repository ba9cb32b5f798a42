"""`checkrein machine` as a real process: signals, pipes, deadlines, two processes on one session."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PROGRAM = (sys.executable, "-m", "checkrein")
ROOT = Path(__file__).parents[2]


SCRIPTS = {
    "slow": [{"text": "late", "delay": 30}],
    "talk": [{"text": "hello"}],
    "stubborn": [
        {"tool_calls": [{"name": "Bash", "input": {"command": "trap '' TERM INT HUP; sleep 40"}}]},
        {"text": "x"},
    ],
}
pytestmark = pytest.mark.project(
    {f"{name}.jsonl": "".join(json.dumps(turn) + "\n" for turn in turns) for name, turns in SCRIPTS.items()}
)


def start(project: Path, *argv: str, **options: Any) -> subprocess.Popen[bytes]:
    chosen = {
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "cwd": project,
    } | options
    return subprocess.Popen([*PROGRAM, "machine", *argv, "--output-format", "json"], **chosen)


def ended(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, err = process.communicate(timeout=20)
    assert err == b""
    assert out.count(b"\n") == 1
    document: dict[str, Any] = json.loads(out)
    assert document["exit_code"] == process.returncode
    return document


def call(project: Path, *argv: str, **options: Any) -> dict[str, Any]:
    return ended(start(project, *argv, **options))


def wait_for(what: Any, seconds: float = 10.0) -> None:
    limit = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < limit
        time.sleep(0.02)


def transcript(project: Path, session: str) -> str:
    found = list((project.parent / "store").glob(f"*/{session}.jsonl"))
    return found[0].read_text("utf-8") if found else ""


@pytest.mark.parametrize(
    ("number", "kind"), [(signal.SIGTERM, "terminated"), (signal.SIGINT, "interrupted")], ids=["term", "int"]
)
def test_a_signal_ends_the_loop_with_its_answer(project: Path, number: int, kind: str) -> None:
    store = ("--directory", "../store", "--session-id", "s")
    process = start(project, "turn-loop", "x", "--model", "scripted:slow.jsonl", *store)
    wait_for(lambda: '"x"' in transcript(project, "s"))
    process.send_signal(number)
    document = ended(process)
    assert (process.returncode, document["error"]["kind"]) == (1, kind)
    details = document["error"]["details"]
    assert details["session_id"] == "s"
    assert details["final_stop_reason"] == "cancelled"
    assert details["final_cancel_observed"] is True
    assert '"event":"result"' in transcript(project, "s")


def test_a_signal_ends_a_tool_and_its_children(project: Path) -> None:
    payload = '{"command": "echo $$ > pid; sleep 40"}'
    process = start(project, "exec-tool", "Bash", payload, "--allow", "Bash")
    wait_for(lambda: (project / "pid").exists() and (project / "pid").read_text().strip())
    child = int((project / "pid").read_text())
    process.terminate()
    assert ended(process)["error"]["kind"] == "terminated"
    wait_for(lambda: not alive(child))


def alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().split()[2] != "Z"
    except OSError:
        return False


def test_a_tool_that_ignores_signals_does_not_keep_the_process(project: Path) -> None:
    store = ("--directory", "../store", "--session-id", "s")
    limits = ("--turn-timeout-seconds", "2", "--grace-seconds", "0.2")
    began = time.monotonic()
    document = call(
        project, "turn-loop", "x", "--model", "scripted:stubborn.jsonl", "--allow", "Bash", *store, *limits
    )
    took = time.monotonic() - began
    assert document["exit_code"] == 2
    assert document["data"]["final_stop_reason"] == "timeout"
    assert document["data"]["final_cancel_observed"] is False
    assert document["data"]["suspect"] is True
    assert took < 2 + 0.2 + 8.0, "the start of a busy machine is in it; the tool would take 40 s"
    loaded = call(project, "load-session", "s", "--directory", "../store")["data"]
    assert loaded["suspect"]["open_calls"] == ["Bash"]
    listed = call(project, "list-sessions", "--directory", "../store")["data"]["sessions"]
    assert [row["suspect"] for row in listed] == [loaded["suspect"]]
    assert loaded["stopped"] is True
    assert loaded["interrupted_calls"][0]["effect"] == "unknown"
    resumed = call(
        project,
        "turn-loop",
        "y",
        "--model",
        "scripted:talk.jsonl",
        "--resume",
        "s",
        "--directory",
        "../store",
    )
    assert "PROTO003" in [warning["code"] for warning in resumed["warnings"]]


def test_a_deadline_that_is_acknowledged(project: Path) -> None:
    document = call(
        project, "exec-tool", "Bash", '{"command": "sleep 40"}', "--allow", "Bash", "--timeout-seconds", "1"
    )
    assert document["exit_code"] == 2
    assert document["error"]["kind"] == "timeout"
    assert document["error"]["details"]["cancel_observed"] is True
    assert document["error"]["retryable"] is True


def test_a_closed_pipe(project: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    process = start(project, "manifest", stdout=writing)
    os.close(writing)
    assert process.communicate(timeout=20)[1] == b""
    assert process.returncode == 1


def test_closed_standard_streams(project: Path) -> None:
    line = f"exec '{sys.executable}' -m checkrein machine route x --json"
    for closing, status in (("<&-", 0), (">&-", 1), ("2>&-", 0)):
        done = subprocess.run(
            ["bash", "-c", f"{line} {closing}"], capture_output=True, cwd=project, check=False
        )
        assert (closing, done.returncode, done.stderr) == (closing, status, b"")


def test_a_prompt_on_standard_input(project: Path) -> None:
    text = "read " * 200_000
    process = start(project, "route", "-", stdin=subprocess.PIPE)
    out, _ = process.communicate(text.encode(), timeout=20)
    assert json.loads(out)["data"]["prompt"] == text


def test_many_writers_of_one_session(project: Path) -> None:
    argv = ("--session-id", "shared", "--directory", "../store")
    running = [start(project, "flush-transcript", f"prompt {n}", *argv) for n in range(4)]
    answers = [ended(process) for process in running]
    done = [answer for answer in answers if answer["exit_code"] == 0]
    refused = [answer["error"] for answer in answers if answer["exit_code"] == 1]
    assert done
    assert {error["kind"] for error in refused} <= {"concurrent_modification", "session_exists"}
    loaded = call(project, "load-session", "shared", "--directory", "../store")
    assert loaded["data"]["prompt_count"] == len(done)
    assert loaded["warnings"] == []


def test_a_session_that_is_open_elsewhere(project: Path) -> None:
    store = ("--directory", "../store")
    process = start(project, "turn-loop", "x", "--model", "scripted:slow.jsonl", "--session-id", "s", *store)
    wait_for(lambda: '"x"' in transcript(project, "s"))
    for argv in (("flush-transcript", "y", "--session-id", "s"), ("delete-session", "s")):
        error = call(project, *argv, *store)["error"]
        assert (error["kind"], error["retryable"], error["action"]) == (
            "concurrent_modification",
            True,
            "retry",
        )
    process.terminate()
    ended(process)
    assert call(project, "delete-session", "s", *store)["data"]["status"] == "deleted"


def test_two_processes_print_the_same_bytes(project: Path) -> None:
    env = {**os.environ, "CHECKREIN_CLOCK": "2026-01-02T03:04:05Z", "CHECKREIN_ID_SEED": "x"}
    argv = ("turn-loop", "x", "--model", "scripted:talk.jsonl", "--directory", "../store")
    printed = []
    for _ in range(2):
        process = start(project, *argv, env=env)
        printed.append(process.communicate(timeout=20)[0])
        subprocess.run(["rm", "-r", project.parent / "store"], check=True)
    assert printed[0] == printed[1]


CLIENT = ROOT / "examples" / "machine_client.py"


@pytest.fixture
def client(project: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    spec = importlib.util.spec_from_file_location("machine_client", CLIENT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.chdir(project)
    return module


def failure(client: Any, *argv: str, program: tuple[str, ...] = PROGRAM) -> dict[str, Any]:
    with pytest.raises(client.MachineError) as raised:
        client.call(*argv, program=program)
    error: dict[str, Any] = raised.value.args[0]
    return error


def test_the_example_client(client: Any) -> None:
    assert client.call("show-tool", "Bash", program=PROGRAM)["name"] == "Bash"
    missing = failure(client, "show-tool", "Nope")
    assert (missing["class"], missing["action"], missing["retryable"]) == ("not_found", "terminate", False)
    argv = ("turn-loop", "x", "--model", "scripted:slow.jsonl", "--turn-timeout-seconds", "0.3")
    late = failure(client, *argv)
    assert (late["kind"], late["retryable"]) == ("timeout", False)
    assert late["details"]["final_cancel_observed"] is True
    slow = ("exec-tool", "Bash", '{"command": "sleep 40"}', "--allow", "Bash", "--timeout-seconds", "0.5")
    began = time.monotonic()
    assert failure(client, *slow)["kind"] == "timeout"
    assert time.monotonic() - began < 10, "a call whose time passed is not made again"


def test_the_example_client_tries_again_what_may_succeed(
    client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that fails twice with a retryable error, then answers."""
    answer = {"timestamp": "t", "command": "c", "output_format": "json", "schema_version": "2.0"}
    error = {"kind": "concurrent_modification", "class": "session", "message": "m", "retryable": True}
    script = tmp_path / "flaky.py"
    script.write_text(
        "import json, pathlib, sys\n"
        "seen = pathlib.Path(__file__).with_suffix('.count')\n"
        "calls = len(seen.read_text()) if seen.exists() else 0\n"
        "seen.write_text('x' * (calls + 1))\n"
        f"answer = {answer!r}\n"
        f"body = {{'data': {{'ok': 1}}}} if calls == 2 else {{'error': {error!r}}}\n"
        "status = 0 if calls == 2 else 1\n"
        "print(json.dumps({**answer, **body, 'exit_code': status}))\n"
        "sys.exit(status)\n"
    )
    monkeypatch.setattr(client.time, "sleep", lambda seconds: None)
    program = (sys.executable, str(script))
    assert client.call("verb", program=program) == {"ok": 1}
    (tmp_path / "flaky.count").unlink()
    with pytest.raises(client.MachineError):
        client.call("verb", program=program, attempts=2)
    assert (tmp_path / "flaky.count").read_text() == "xx"


@pytest.mark.parametrize(
    ("said", "status", "kind"),
    [
        ("", 1, "parse_failure"),
        ("Traceback", 1, "parse_failure"),
        ('{"schema_version": "1.0", "exit_code": 0, "kind": "route"}', 0, "protocol_mismatch"),
        ('{"schema_version": "2.0", "exit_code": 0, "data": {}}', 1, "protocol_mismatch"),
    ],
    ids=["nothing", "no_json", "old_schema", "other_status"],
)
def test_the_example_client_refuses_what_is_no_answer(client: Any, said: str, status: int, kind: str) -> None:
    with pytest.raises(client.MachineError) as raised:
        client.read(said, status)
    assert raised.value.args[0]["kind"] == kind
    assert raised.value.args[0]["retryable"] is False


def test_the_example_client_has_thirty_lines() -> None:
    lines = [line.strip() for line in CLIENT.read_text("utf-8").splitlines()]
    assert len([line for line in lines if line and not line.startswith(('"""', "#"))]) <= 30


def test_the_example_client_is_a_program(project: Path) -> None:
    bin_ = str(Path(sys.executable).parent)
    env = {**os.environ, "PATH": f"{bin_}{os.pathsep}{os.environ['PATH']}"}
    argv = [sys.executable, str(CLIENT), "show-tool", "Read"]
    done = subprocess.run(argv, capture_output=True, cwd=project, env=env, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["name"] == "Read"

"""MessageDisplay hooks beside a reply that streams: batches of lines appear while the rest is on its way, and
nothing that a hook hides appears."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.testing import Call, Fault, ScriptedServer, Turn
from support.lines import MODELS, Ran, checkrein, service

Write = Callable[[str, object], Path]
HIDE = """python3 -c '
import json, sys
said = json.load(sys.stdin)
with open("log", "a") as log: print(json.dumps(said), file=log)
shown = said["delta"].replace("SECRET", "******")
print(json.dumps({"hookSpecificOutput": {"hookEventName": "MessageDisplay", "displayContent": shown}}))'"""
WORDS = ("--output-format", "stream-json", "--verbose", "--include-partial-messages", "--trust")


@pytest.fixture
def hidden(write: Write) -> None:
    hook = {"hooks": [{"type": "command", "command": HIDE}]}
    write(".claude/settings.json", {"hooks": {"MessageDisplay": [hook]}})


def run(project: Path, server: ScriptedServer) -> Ran:
    words = ("-p", "go", "--model", MODELS["anthropic"], *WORDS)
    return checkrein(project, *words, env=service(server))


def deltas(frames: list[dict[str, Any]]) -> str:
    events = (frame["event"] for frame in frames if frame["type"] == "stream_event")
    found = (event["delta"] for event in events if event["type"] == "content_block_delta")
    return "".join(delta.get("text", "") for delta in found)


def log(project: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (project / "log").read_text().splitlines()]


LINES = "".join(f"line {n} SECRET\n" for n in range(10))


def test_lines_appear_while_the_reply_is_on_its_way(project: Path, hidden: None) -> None:
    slow = Turn(text=LINES, chunk=5, pace=0.06)
    with ScriptedServer((slow,)) as server:
        words = ("-p", "go", "--model", MODELS["anthropic"], *WORDS)
        process = subprocess.Popen(
            [sys.executable, "-m", "checkrein", *words],
            cwd=project,
            env=service(server),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        frames, times = [], []
        with process:
            assert process.stdout is not None
            for line in process.stdout:
                frames.append(json.loads(line))
                if "text_delta" in line:
                    times.append(time.monotonic())
        ended = time.monotonic()
    assert ended - times[0] > 1.0, "the first lines came long before the end"
    assert deltas(frames) == LINES.replace("SECRET", "******")
    (said,) = [f["message"]["content"][0]["text"] for f in frames if f["type"] == "assistant"]
    assert said == frames[-1]["result"] == LINES.replace("SECRET", "******")
    told = log(project)
    assert len(told) > 2
    assert [one["index"] for one in told] == list(range(len(told)))
    assert [one["final"] for one in told] == [False] * (len(told) - 1) + [True]
    assert "".join(one["delta"] for one in told) == LINES
    assert len({one["message_id"] for one in told}) == 1
    assert all(one["delta"].endswith("\n") for one in told)


def test_a_quick_reply_is_one_batch(project: Path, hidden: None) -> None:
    with ScriptedServer((Turn(text=LINES, chunk=3),)) as server:
        ran = run(project, server)
    (told,) = log(project)
    assert (told["index"], told["final"], told["delta"]) == (0, True, LINES)
    assert "SECRET" not in ran.out


def test_words_of_a_slow_line_go_ahead(project: Path, hidden: None) -> None:
    text = "a b c d e f g h i j k l m n o p SECRET"
    with ScriptedServer((Turn(text=text, chunk=2, pace=0.12),)) as server:
        ran = run(project, server)
    assert deltas(ran.frames) == text.replace("SECRET", "******")
    assert len(log(project)) > 1
    assert "SECRET" not in ran.out


def test_a_call_after_the_text_streams_too(project: Path, hidden: None) -> None:
    call = Turn(text="SECRET first", tool_calls=(Call("Read", {"file_path": "a.txt"}),), chunk=4, pace=0.02)
    with ScriptedServer((call, Turn(text="done"))) as server:
        ran = run(project, server)
    kinds = [frame["event"]["type"] for frame in ran.of("stream_event")]
    assert kinds[:1] == ["message_start"]
    assert kinds.count("content_block_stop") == 3
    assert ran.of("result")[0]["result"] == "done"
    assert [one["final"] for one in log(project)] == [True, True]
    assert "SECRET" not in ran.out


def test_a_reply_that_breaks_off_leaks_nothing(project: Path, hidden: None) -> None:
    cut = Turn(text="SECRET " * 20, chunk=7, pace=0.05, fault=Fault(cut=True, after=15))
    with ScriptedServer((cut, Turn(text="fine"))) as server:
        ran = run(project, server)
    assert "SECRET" not in ran.out
    assert ran.of("result")[0]["result"] == "fine"


def test_a_slow_hook_delays_but_loses_nothing(project: Path, write: Write) -> None:
    hook = {"hooks": [{"type": "command", "command": "sleep 0.4"}]}
    write(".claude/settings.json", {"hooks": {"MessageDisplay": [hook]}})
    with ScriptedServer((Turn(text=LINES, chunk=5, pace=0.03),)) as server:
        ran = run(project, server)
    assert deltas(ran.frames) == LINES == ran.of("result")[0]["result"]

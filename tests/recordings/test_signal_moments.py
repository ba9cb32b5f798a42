"""Signals at random moments of a session that passes through every phase: start, hooks, stream, tool,
background, compaction, close. Within two seconds there is one result, nothing is left, and it can resume.

The short version takes a few moments, by a seed; `CHECKREIN_CAMPAIGN=1` takes 500.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.store import SessionStore
from checkrein.testing import ScriptedServer
from support.programs import CHECKREIN, Ran, slack

MOMENTS = 500 if os.environ.get("CHECKREIN_CAMPAIGN") else 18
_chance = random.Random(1616)
KINDS = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)
CHOSEN = [(number, KINDS[number % 3], _chance.random()) for number in range(MOMENTS)]
ID = "00000000-0000-4000-8000-000000000016"


def call(command: str, **more: Any) -> dict[str, Any]:
    return {"name": "Bash", "input": {"command": command, **more}}


TURNS: tuple[dict[str, Any], ...] = (
    {
        "text": "I start the server.",
        "chunk": 3,
        "pace": 0.02,
        "tool_calls": [call("sleep 60", run_in_background=True)],
    },
    {
        "tool_calls": [call("sleep 0.3"), call("trap '' TERM; sleep 0.2; sleep 0.1")],
        "usage": {"input": 2_000_000},
    },
    {"text": "a summary of it all", "delay": 0.3},
    {"fault": {"status": 529}},
    {"text": "That was all there is to say.", "chunk": 2, "pace": 0.02},
    *({"text": "done"},) * 3,
)
HOOKS = {
    "SessionStart": "sleep 0.2",
    "UserPromptSubmit": "sleep 0.05",
    "PreToolUse": "sleep 0.05",
    "PostToolUse": "sleep 0.05",
    "PreCompact": "sleep 0.1",
    "Stop": "sleep 0.2",
    "SessionEnd": "sleep 0.3",
}
LONGEST = 5.0


def start(project: Path, server: ScriptedServer, mark: str, home: Path) -> subprocess.Popen[str]:
    hooks = {name: [{"hooks": [{"type": "command", "command": line}]}] for name, line in HOOKS.items()}
    words = ("-p", "go", "--output-format", "stream-json", "--allowedTools", "Bash", "--session-id", ID)
    env = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k", "CHECKREIN_HOME": str(home)}
    return subprocess.Popen(
        [*CHECKREIN, *words, "--settings", json.dumps({"hooks": hooks}), "--model", "anthropic:sonnet"],
        cwd=project,
        env={**os.environ, **env, "NO_PROXY": "*", "MOMENT": mark},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def left(mark: str) -> list[str]:
    """The command lines of processes that belong to a run."""
    found = []
    for pid in filter(str.isdecimal, os.listdir("/proc")):
        try:
            if f"MOMENT={mark}".encode() in Path("/proc", pid, "environ").read_bytes():
                found.append(Path("/proc", pid, "cmdline").read_bytes().decode().replace("\0", " "))
        except OSError:
            continue
    return found


def gone(mark: str, seconds: float) -> bool:
    limit = time.monotonic() + seconds
    while left(mark):
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def is_valid(conversation: Any) -> bool:
    """Roles alternate, and each call has its result in the next message."""
    messages = conversation.messages
    for at, message in enumerate(messages):
        if at and messages[at - 1]["role"] == message["role"]:
            return False
        blocks = message["content"] if isinstance(message["content"], list) else []
        calls = {block["id"] for block in blocks if block["type"] == "tool_use"}
        after = messages[at + 1]["content"] if at + 1 < len(messages) else []
        answered = {block["tool_use_id"] for block in after if block["type"] == "tool_result"}
        if not calls <= answered:
            return False
    return True


@pytest.mark.campaign
@pytest.mark.untraced
@pytest.mark.parametrize(("number", "kind", "share"), CHOSEN)
def test_a_moment(project: Path, tmp_path: Path, number: int, kind: signal.Signals, share: float) -> None:
    mark, home = f"m{os.getpid()}-{number}", tmp_path / "home"
    with ScriptedServer(TURNS) as server:
        process = start(project, server, mark, home)
        time.sleep(share * LONGEST)
        over = process.poll() is not None
        process.send_signal(kind)
        sent = time.monotonic()
        stdout, stderr = process.communicate(timeout=60)
        ran = Ran(process.returncode, stdout, stderr, time.monotonic() - sent)
        if kind != signal.SIGKILL:
            assert ran.seconds < 2.0 + slack(), stderr
        assert gone(mark, 4.0 if kind == signal.SIGKILL else 0.5 + slack()), left(mark)
        if kind == signal.SIGKILL and not over:
            assert ran.status == -signal.SIGKILL
        elif not stdout:  # the interpreter was still starting, and none of our code ran
            assert ran.status in (-kind, 1)
            assert "checkrein/cli" not in stderr
            assert not home.exists()
        else:
            assert "Traceback" not in stderr
            reason = ran.result["terminal_reason"]
            assert ran.status == (0 if reason == "completed" else 128 + kind), reason
            assert ran.result["is_error"] == (ran.status != 0)
    transcripts = list(home.rglob(f"{ID}.jsonl"))
    if transcripts and transcripts[0].stat().st_size:
        conversation, writer = SessionStore(transcripts[0].parents[1]).resume(ID, project)
        writer.close()
        assert is_valid(conversation)

"""`checkrein mock-model`, as a process."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.port import Cancel, ModelRequestError, Request, collect, user

ASK = Request(model="m", messages=(user("hello"),), max_tokens=5)


@contextmanager
def command(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "checkrein", "mock-model", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serves_until_it_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    script = tmp_path / "s.jsonl"
    script.write_text('{"text": "hi"}\n')
    with command(str(script)) as process:
        url = line(process)
        assert url.startswith("http://127.0.0.1:")
        assert collect(AnthropicModel(base_url=url, env={}).stream(ASK, Cancel())).text == "hi"
        process.send_signal(number)
        assert process.wait(10) == 0


def test_lines_for_requests_and_problems(tmp_path: Path) -> None:
    script = tmp_path / "s.jsonl"
    script.write_text('{"text": "hi", "expect": {"text": "bye"}}\n')
    with command(str(script), "--requests") as process:
        url = json.loads(line(process))["url"]
        with pytest.raises(ModelRequestError):
            collect(AnthropicModel(base_url=url, env={}).stream(ASK, Cancel()))
        told = json.loads(line(process))
        assert (told["number"], told["wire"], told["path"]) == (1, "anthropic", "/v1/messages")
        assert told["bytes"] > 50
        process.send_signal(signal.SIGINT)
        assert "should hold 'bye'" in json.loads(line(process))["problem"]
        assert process.wait(10) == 1


def test_mistakes_are_told(tmp_path: Path) -> None:
    script = tmp_path / "s.jsonl"
    script.write_text('{"txt": "hi"}\n')
    with command(str(script)) as process:
        _, told = process.communicate(timeout=10)
        assert process.returncode == 2
        assert "turn 1" in told
    with command(str(tmp_path / "none.jsonl")) as process:
        _, told = process.communicate(timeout=10)
        assert process.returncode == 1
        assert "does not exist" in told

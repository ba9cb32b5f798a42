"""What programs, shells and tests of a user get: the machine protocol, completion, the mock, recordings."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run
from checkrein.llm.cloud.sigv4 import AwsKeys, signed
from checkrein.llm.server import ScriptedServer
from support import clouds
from support.clouds import serving
from support.files import lay

Captured = pytest.CaptureFixture[str]
SERVERS = {".mcp.json": {"mcpServers": {"tracker": {"command": "tracker"}}}, ".git/": None}


@pytest.fixture
def machine(capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Runs a verb with `--json` in a project with a server; gives the document."""
    lay(tmp_path, SERVERS)
    monkeypatch.chdir(tmp_path)

    def call(*argv: str, status: int = 0) -> Any:
        assert run(["machine", *argv, "--json"]) == status
        said = capsys.readouterr()
        assert said.err == ""
        return json.loads(said.out)

    return call


def test_show_tool_knows_the_servers_that_tools_lists(machine: Callable[..., Any]) -> None:
    shown = machine("show-tool", "mcp__tracker")["data"]
    assert (shown["found"], shown["source"]) == (True, "project")
    missing = machine("show-tool", "mcp__trakker", status=1)["error"]
    assert "Did you mean 'mcp__tracker'?" in missing["message"]


def test_a_denied_prefix_may_be_that_of_a_server(machine: Callable[..., Any]) -> None:
    for prefix in ("mcp__", "mcp__tra", "mcp__tracker__cre", "MCP__TRACKER"):
        names = [
            row["name"]
            for row in machine("tools", "--limit", "99", "--deny-prefix", prefix)["data"]["entries"]
        ]
        assert "Bash" in names
        assert ("mcp__tracker" in names) <= prefix.startswith("mcp__tracker__")
    error = machine("tools", "--deny-prefix", "mcp__nope", status=1)["error"]
    assert error["kind"] == "tool_not_found"


def test_the_errors_of_the_old_schema_are_what_its_facts_say(
    machine: Callable[..., Any], tmp_path: Path
) -> None:
    old = ("--schema-version", "1.0")
    error = machine("show-tool", *old, status=1)["error"]
    assert (error["operation"], error["target"], error["kind"]) == ("argparse", "show-tool", "parse")
    error = machine("zap", *old, status=1)["error"]
    assert (error["operation"], error["target"]) == ("argparse", "zap")
    for version, retryable in (("1.0", True), ("2.0", False)):
        store = tmp_path / f"store-{version}"
        assert machine("flush-transcript", "hi", "--directory", str(store), "--session-id", "s1")
        file = next(store.rglob("s1.jsonl"))
        file.write_text("not json\n")
        found = machine(
            "load-session", "s1", "--directory", str(store), "--schema-version", version, status=1
        )
        assert (found["error"]["kind"], found["error"]["retryable"]) == ("session_load_failed", retryable)


def test_no_verb_is_a_usage_error(capsys: Captured) -> None:
    for argv in (["machine"], ["machine", "--json"], ["machine", "--output-format", "json"]):
        assert run(argv) == 1
        said = capsys.readouterr()
        assert "A verb is missing." in said.out + said.err
    assert json.loads(said.out)["error"]["kind"] == "missing_argument"


# Completion


def completed(line: str, directory: Path, **env: str) -> list[str]:
    """What bash offers at the end of a line that it broke at colons."""
    done = subprocess.run(
        [sys.executable, "-m", "checkrein"],
        env={**os.environ, "_CHECKREIN_COMPLETE": "bash_complete", "COMP_LINE": line, **env},
        capture_output=True,
        text=True,
        cwd=directory,
        check=False,
    )
    return [row.partition(",")[2] for row in done.stdout.splitlines()]


def test_values_are_completed(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    lay(tmp_path, {**SERVERS, "script.jsonl": '{"text": "hi", "repeat": 0}\n'})
    monkeypatch.chdir(tmp_path)
    assert run(["-p", "hi", "--model", "scripted:script.jsonl", "--output-format", "json"]) == 0
    session = json.loads(capsys.readouterr().out)["session_id"]
    assert completed("checkrein deploy --to claud", tmp_path) == ["claude"]
    assert completed("checkrein deploy --to claude,codex", tmp_path) == ["claude,codex"]
    assert "AS001" in completed("checkrein check --explain AS", tmp_path)
    assert completed("checkrein run --model anthropic:son", tmp_path) == ["sonnet"]
    assert "ollama:" in completed("checkrein run --model ol", tmp_path)
    assert completed("checkrein run --model scripted:scr", tmp_path) == ["script.jsonl"]
    assert completed(f"checkrein run --resume {session[:6]}", tmp_path) == [session]
    assert completed("checkrein config set model.def", tmp_path) == ["model.default"]
    assert completed("checkrein mcp get tra", tmp_path) == ["tracker"]
    with serving(clouds.compatible(("qwen3:8b",))) as server:
        assert completed("checkrein run --model ollama:q", tmp_path, OLLAMA_HOST=server.host) == ["qwen3:8b"]
        assert completed("checkrein run --model ollama:qwen3:", tmp_path, OLLAMA_HOST=server.host) == ["8b"]


# The mock model


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/messages", 200),
        ("/v1/chat/completions", 200),
        ("/messages", 404),
        ("/v1/v1/messages", 404),
        ("/chat/completions", 404),
        ("/v2/messages", 404),
        ("/v1/message", 404),
        ("/v1/messages/", 404),
    ],
)
def test_the_mock_refuses_paths_that_real_servers_refuse(path: str, status: int) -> None:
    from checkrein.llm.fetch import fetch

    body = json.dumps(
        {"model": "m", "max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}
    ).encode()
    with ScriptedServer([{"text": "hi"}]) as server:
        headers = {"content-type": "application/json"}
        done = fetch(f"{server.url}{path}", env={}, method="POST", headers=headers, body=body)
        assert done.status == status
        assert fetch(f"{server.url}/v1/messages", env={}).status == 405


def test_a_base_url_with_the_version_twice_is_an_error(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    with ScriptedServer([{"text": "hi"}]) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", f"{server.url}/v1")
        assert run(["-p", "hi"]) == 1
    assert "check the base URL" in capsys.readouterr().err


# Recordings


def test_a_recording_is_strict_and_knows_no_machine(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = [{"tool_calls": [{"name": "Bash", "input": {"command": "pwd"}}]}, {"text": "done"}]
    lay(tmp_path, {"one/.git/": None, "two/.git/": None})
    (tmp_path / "turns.jsonl").write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    tape = tmp_path / "tape.jsonl"
    run_flags = ["-p", "hi", "--dangerously-skip-permissions"]
    monkeypatch.chdir(tmp_path / "one")
    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-01-01T00:00:00Z")
    assert run([*run_flags, "--model", f"scripted:{tmp_path}/turns.jsonl", "--record", str(tape)]) == 0
    monkeypatch.chdir(tmp_path / "two")
    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-03-03T00:00:00Z")
    capsys.readouterr()
    assert run([*run_flags, "--model", f"replay:{tape}"]) == 0, capsys.readouterr().err
    changed = ["-p", "something else", "--dangerously-skip-permissions"]
    assert run([*changed, "--model", f"replay:{tape}"]) == 1
    err = capsys.readouterr().err
    assert "differs from the recorded one" in err
    assert "something else" in err
    assert run([*changed, "--model", f"replay-loose:{tape}"]) == 0


# The signature


def test_a_signature_of_the_documentation() -> None:
    """The example `GET ListUsers` of AWS's own documentation of the signature."""
    sent = signed(
        AwsKeys("AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"),
        method="GET",
        host="example.amazonaws.com",
        path="/",
        body=b"",
        region="us-east-1",
        service="service",
        at="20150830T123600Z",
    )
    assert sent["authorization"].endswith(
        "Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"
    )


def test_frames_that_are_damaged_are_refused() -> None:
    from checkrein.llm.cloud.event_stream import EventStreamParser, write_frame

    frame = write_frame({":message-type": "event"}, b'{"bytes": "e30="}')
    assert [one.data for one in EventStreamParser().feed(frame)] == [b"{}"]
    with pytest.raises(ValueError, match="checksum"):
        list(EventStreamParser().feed(frame[:-1] + b"\x00"))


@pytest.mark.parametrize("argv", [["check"], ["config"], ["check", "--list"], ["--help"]])
def test_a_closed_output_is_no_bug(
    argv: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    lay(tmp_path, {".claude/": None})
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "stdout", None)
    assert run(argv) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device here")
@pytest.mark.parametrize("argv", [["check", "--list"], ["config", "--json"]])
def test_a_full_disk_is_no_bug(argv: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    with contextlib.suppress(OSError), open("/dev/full", "w") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert run(argv) == 1
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "bug" not in said


@pytest.mark.parametrize("value", ["-5", "0", "1e999", "NaN", "null", "[]"])
def test_a_timeout_that_is_none_is_refused(value: str, capsys: Captured) -> None:
    assert run(["config", "set", "model.idle_timeout", "--", value]) == 2
    assert "model.idle_timeout can't be" in capsys.readouterr().err

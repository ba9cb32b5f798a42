"""The observed hook outcomes, through the whole command line: `checkrein -p` with the scripted model server.

Each row ran once with hooks and rules from `--settings`. Compared are: how often the model was asked, whether
the tool really ran, what the model saw, and the result. The frame around a hook's words is ours: a refusal
may say more than the hook did, and a blocked prompt need not be repeated in the result.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from checkrein.testing import ScriptedServer

DATA = Path(__file__).parent / "data" / "hooks.jsonl"
ROWS = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
IN_PROCESSES = {"pre-deny/okcall", "prompt-block", "stop-exit2-once", "post-context", "session-stdout"}


def command_of(row: dict[str, Any]) -> str:
    asks = "askcall" in row["name"] or row["permissions"] or row["name"].startswith("permreq")
    return "touch z" if asks else "echo hi"


def script_of(row: dict[str, Any]) -> list[dict[str, Any]]:
    event = next(iter(row["hooks"]))
    if event in ("UserPromptSubmit", "SessionStart", "Stop"):
        return [{"text": "DONE"}, {"text": "DONE2"}]
    call = {"name": "Bash", "input": {"command": command_of(row), "description": "d"}, "id": "toolu_1"}
    return [{"tool_calls": [call]}, {"text": "DONE"}, {"text": "DONE2"}]


def arguments(row: dict[str, Any], root: Path) -> list[str]:
    settings = json.dumps({"hooks": row["hooks"], "permissions": row["permissions"]})
    model = ["--model", "anthropic:claude-sonnet-4-5"]
    given = ["-p", "go", "--output-format", "json", "-C", str(root), "--settings", settings]
    return [*given, *model, *row["args"]]


def environment(base: Path, url: str) -> dict[str, str]:
    home = base / "home"
    home.mkdir()
    return {
        "HOME": str(home),
        "CHECKREIN_HOME": str(base / "checkrein"),
        "PATH": os.environ.get("PATH", os.defpath),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
    }


def run(
    row: dict[str, Any],
    root: Path,
    env: dict[str, str],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, Any]:
    """The result object that was printed."""
    if row["name"] in IN_PROCESSES:
        argv = [sys.executable, "-m", "checkrein", *arguments(row, root)]
        done = subprocess.run(argv, env=env, cwd=root, capture_output=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return dict(json.loads(done.stdout))
    from checkrein.__main__ import main

    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(root)
    monkeypatch.setattr("sys.argv", ["checkrein", *arguments(row, root)])
    with pytest.raises(SystemExit) as end:
        sys.exit(main())
    out, err = capfd.readouterr()
    assert not end.value.code, err
    return dict(json.loads(out))


@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_row(
    row: dict[str, Any], tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "project"
    (root / ".git").mkdir(parents=True)
    with ScriptedServer(script_of(row)) as server:
        result = run(row, root, environment(tmp_path, server.url), capfd, monkeypatch)
        asked = [json.loads(request.body) for request in server.requests]
    observed = row["observed"]
    assert len(asked) == observed["model_requests"]
    expected = dict(observed["result"])
    words = expected.pop("result")
    assert result["result"].partition("Original prompt: ")[0] == words.partition("Original prompt: ")[0]
    assert {key: result[key] for key in expected} == expected
    seen = "\n".join(texts(asked[-1])) if asked else ""
    assert [marker for marker in observed["markers_seen_by_model"] if marker not in seen] == []
    if command_of(row) == "touch z":
        assert (root / "z").exists() == bool(observed["tool_ran"])
    if observed["tool_ran"] is not None:
        check_tool_result(row, asked[-1], seen)


def check_tool_result(row: dict[str, Any], last: dict[str, Any], seen: str) -> None:
    observed = row["observed"]
    (given,) = [block for block in blocks(last) if block["type"] == "tool_result"]
    text = given["content"] if isinstance(given["content"], str) else given["content"][0]["text"]
    assert bool(given.get("is_error")) == (not observed["tool_ran"])
    words = observed["tool_result"]
    by_hook = observed["tool_ran"] or any(marker in words for marker in observed["markers_seen_by_model"])
    if observed["tool_ran"] and not words.startswith("("):
        assert text.rstrip("\n") == words
    elif by_hook:
        assert text == words or words.startswith("(")
    for marker in ("LATE", "PLAIN_STDOUT", "SYSMSG", "STDERR_ONE", "REWRITTEN", "PRD", "STOP_REASON"):
        assert marker not in seen


def blocks(request: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        block
        for message in request["messages"]
        if isinstance(message["content"], list)
        for block in message["content"]
    ]


def texts(request: dict[str, Any]) -> list[str]:
    """Everything the model is told in messages, apart from its own words."""
    found: list[str] = []
    for message in request["messages"]:
        if message["role"] == "user":
            found.append(json.dumps(message["content"]))
    return found

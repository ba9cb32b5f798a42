"""`why`, `decide` and `run` judge a call alike: trusted or not, in every mode, through the command line."""

from __future__ import annotations

import io
import json
import os
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest

from checkrein.cli.main import run

SETTINGS = """{
 "permissions": {
  "allow": ["Bash(make *)", "Edit(/docs/**)"],
  "deny": ["Read(.env)", "Bash(rm *)"],
  "ask": ["Bash(git push *)"],
  "additionalDirectories": ["../beside"]
 },
 "hooks": {"PreToolUse": [
  {"matcher": "Bash", "hooks": [{"type": "command", "command": "true", "if": "Bash(npm *)"}]}
 ]}
}
"""
CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "allowed": ("Bash(make x)", {"command": "make x"}),
    "joined": ("Bash(make x && rm y)", {"command": "make x && rm y"}),
    "denied": ("Read(.env)", {"file_path": ".env"}),
    "denied to the shell": ("Bash(cat .env)", {"command": "cat .env"}),
    "asked": ("Bash(git push origin)", {"command": "git push origin"}),
    "read only": ("Bash(ls)", {"command": "ls"}),
    "hooked": ("Bash(npm --version)", {"command": "npm --version"}),
    "allowed by a shared local file": ("Bash(touch a l)", {"command": "touch a l"}),
    "allowed by our own file": ("Bash(touch a t)", {"command": "touch a t"}),
    "allowed by the user": ("Bash(touch a u)", {"command": "touch a u"}),
    "unknown": ("Bash(touch a)", {"command": "touch a"}),
    "edited": ("Write(docs/new.md)", {"file_path": "docs/new.md", "content": "x"}),
    "edited elsewhere": ("Write(new.md)", {"file_path": "new.md", "content": "x"}),
    "beside": ("Read(../beside/f)", {"file_path": "../beside/f"}),
    "behind a link": ("Read(out)", {"file_path": "out"}),
    "denied behind a link": ("Read(alias)", {"file_path": "alias"}),
    "memory": ("Write(@MEMORY@/note.md)", {"file_path": "@MEMORY@/note.md", "content": "x"}),
}
QUESTIONS = ("there is nobody to ask", "did not judge this call", "it would run outside the sandbox")
"""What a refusal says where an answer would have lifted it."""

MODES = ("default", "acceptEdits", "plan", "dontAsk", "bypassPermissions")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for folder in (root / ".git", root / ".claude", root / "docs", tmp_path / "beside"):
        folder.mkdir(parents=True)
    (root / ".claude" / "settings.json").write_text(SETTINGS)
    (root / ".claude" / "settings.local.json").write_text('{"permissions": {"allow": ["Bash(touch a l)"]}}')
    (root / "checkrein.toml").write_text('[[permissions.rules]]\nallow = "Bash(touch a t)"\n')
    user_settings({"permissions": {"allow": ["Bash(touch a u)"]}})
    (root / ".env").write_text("KEY=1\n")
    (root / "Makefile").write_text("x:\n\t@true\n")
    (tmp_path / "beside" / "f").write_text("beside\n")
    (root / "out").symlink_to("/etc/hostname")
    (root / "alias").symlink_to(".env")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("npm", "git", "make"):
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.chdir(root)
    return root


def user_settings(settings: dict[str, Any]) -> None:
    file = Path(os.environ["HOME"]) / ".claude" / "settings.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text(json.dumps(settings))


def printed(*argv: str, status: int | None = 0) -> str:
    out = io.TextIOWrapper(io.BytesIO(), "utf-8")
    with redirect_stdout(out), open(os.devnull) as nothing, pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdin", nothing)
        ended = run(list(argv))
    out.flush()
    text = out.buffer.getvalue().decode()  # type: ignore[attr-defined]  # it is the BytesIO from above
    assert status is None or ended == status, text
    return text


def trust(root: Path, trusted: bool) -> None:
    if trusted:
        printed("trust", "--yes", str(root))


def memory_of(root: Path) -> str:
    from checkrein.passes.load import load
    from checkrein.runtime.memory.place import memory_dir

    found = memory_dir(load(root), os.environ)
    assert found is not None
    return found


def placed(value: Any, memory: str) -> Any:
    if isinstance(value, dict):
        return {key: placed(one, memory) for key, one in value.items()}
    return value.replace("@MEMORY@", memory)


def said_by_run(calls: list[tuple[str, dict[str, Any]]], mode: str, tmp_path: Path) -> dict[str, str]:
    """One session with a request for each call. The verdicts by their texts."""
    script = tmp_path / "script.jsonl"
    turns: list[dict[str, Any]] = [
        {"tool_calls": [{"name": text.partition("(")[0], "input": given, "id": f"call_{number}"}]}
        for number, (text, given) in enumerate(calls)
    ]
    script.write_text("\n".join(json.dumps(turn) for turn in [*turns, {"text": "done"}]))
    argv = ["-p", "go", "--model", f"scripted:{script}", "--output-format", "stream-json"]
    frames = [json.loads(line) for line in printed(*argv, "--permission-mode", mode).splitlines()]
    denied = {one["tool_use_id"] for one in frames[-1]["permission_denials"]}
    blocks = [b for f in frames if f["type"] == "user" for b in f["message"]["content"]]
    told = {block.get("tool_use_id"): str(block.get("content")) for block in blocks}
    said = {}
    for number, (text, _) in enumerate(calls):
        asked = any(words in told[f"call_{number}"] for words in QUESTIONS) and mode != "dontAsk"
        said[text] = "allow" if f"call_{number}" not in denied else "ask" if asked else "deny"
    return said


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
def test_why_decide_and_run_agree(root: Path, tmp_path: Path, trusted: bool, mode: str) -> None:
    trust(root, trusted)
    memory = memory_of(root)
    calls = {name: (placed(text, memory), placed(given, memory)) for name, (text, given) in CALLS.items()}
    texts = [text for text, _ in calls.values()]
    why = json.loads(printed("why", *texts, "--mode", mode, "--json"))["data"]["decisions"]
    records = tmp_path / "records.jsonl"
    lines = [
        {"id": name, "tool": text.partition("(")[0], "input": given, "mode": mode}
        for name, (text, given) in calls.items()
    ]
    records.write_text("\n".join(json.dumps(line) for line in lines))
    decided = {one["id"]: one for one in map(json.loads, printed("decide", str(records)).splitlines())}
    said = said_by_run(list(calls.values()), mode, tmp_path)
    for name, (text, _) in calls.items():
        assert (why[text]["verdict"], decided[name]["verdict"]) == (said[text], said[text]), name
        assert decided[name]["rule"] == why[text]["rule"], name


@pytest.mark.parametrize("mode", ["default", "plan"])
def test_they_agree_on_what_the_sandbox_approves(root: Path, tmp_path: Path, mode: str) -> None:
    user_settings({"sandbox": {"enabled": True, "excludedCommands": ["git"]}})
    texts = ("touch a", "git push origin", "git fetch", "ls", "rm y")
    calls = [(f"Bash({text})", {"command": text}) for text in texts]
    said = said_by_run(calls, mode, tmp_path)
    for call, _ in calls:
        why = json.loads(printed("why", call, "--mode", mode, "--json"))["data"]["decisions"]
        assert why[call]["verdict"] == said[call], call


def test_an_untrusted_allow_rule_is_named_with_the_way_out(root: Path) -> None:
    told = printed("why", "Bash(make x)")
    assert told.startswith("ask")
    assert "would be allowed by Bash(make *)" in told
    assert ".claude/settings.json:3" in told
    assert "this project is not trusted" in told
    assert "checkrein trust" in told
    assert printed("why", "Bash(make x)", "--trusted").startswith("allow")
    trust(root, True)
    assert printed("why", "Bash(make x)").startswith("allow")
    assert printed("why", "Bash(make x)", "--untrusted").startswith("ask")


def test_a_record_without_permissions_meets_the_rules_of_the_project(root: Path, tmp_path: Path) -> None:
    records = tmp_path / "records.jsonl"
    read = {"tool": "Read", "input": {"file_path": ".env"}}
    records.write_text("\n".join(json.dumps(one) for one in (read, {**read, "permissions": {}})))
    first, second = (json.loads(line) for line in printed("decide", str(records)).splitlines())
    assert (first["verdict"], first["rule"]) == ("deny", "Read(.env)")
    assert first["origin"].endswith(".claude/settings.json:4")
    assert second["verdict"] == "allow"

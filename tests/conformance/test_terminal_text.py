"""Commands on a pseudo-terminal, in a project whose every text tries to take the terminal over."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from checkrein.testing import ScriptedServer

EVIL = "\x1b]0;OWNED\x07\x1b[2J\x1b[31mred\x9b1m\x7f\x08\rover\u202egnp\u2066\u200b\ufeff\u2028\U000e0041\xad"
FORGED = f"{EVIL}\nFORGED LINE"
YAML = json.dumps(FORGED.replace("\U000e0041", ""))
NAME = "e\x1b[2Jv\u202el\n"
COLOR = re.compile(rb"\x1b\[[0-9;]*m")
HARMFUL = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    "\U000e0000-\U000e0fff]"
)


@pytest.fixture
def hostile(project: Path) -> Path:
    def write(name: str, text: str) -> None:
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    write(
        ".claude/skills/plain/SKILL.md",
        f"---\nname: {YAML}\ndescription: {YAML}\nallowed-tools: {YAML}\nunknown: {YAML}\n---\n"
        f"{FORGED}\n@{EVIL}.md\n",
    )
    write(f".claude/skills/{NAME}x/SKILL.md", f"---\ndescription: {YAML}\n---\n{FORGED}")
    write(f".claude/commands/{NAME}.md", FORGED)
    write(".claude/agents/a.md", f"---\nname: {YAML}\ndescription: {YAML}\ntools: {YAML}\n---\n{FORGED}")
    write(".claude/rules/r.md", f"---\npaths: {YAML}\n---\n{FORGED}")
    write("CLAUDE.md", f"{FORGED} @./{EVIL}.md\n")
    settings = {
        FORGED: FORGED,
        "env": {FORGED: FORGED, "PLAIN": FORGED},
        "permissions": {"allow": [f"Bash({FORGED})", FORGED], "deny": [f"Read({FORGED})"]},
        "hooks": {"PreToolUse": [{"matcher": FORGED, "hooks": [{"type": "command", "command": FORGED}]}]},
        "apiKeyHelper": FORGED,
    }
    write(".claude/settings.json", json.dumps(settings))
    write(".mcp.json", json.dumps({"mcpServers": {FORGED: {"command": FORGED, "args": [FORGED]}}}))
    write("checkrein.toml", f"[check]\n{YAML} = {YAML}\nignore = 3\n[{YAML}]\n")
    write(".cursor/rules/x.mdc", f"---\ndescription: {YAML}\n---\n{FORGED}")
    write(f"{NAME}.txt", FORGED)
    write(
        "calls.jsonl",
        json.dumps({"id": FORGED, "tool": FORGED, "input": {"command": FORGED}}) + f"\n{EVIL}\n",
    )
    return project


def on_terminal(argv: list[str], cwd: Path, keys: bytes = b"", **env: str) -> bytes:
    """Everything that a terminal gets from a command. `keys` are typed when a question comes."""
    main, side = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "checkrein", *argv],
        cwd=cwd,
        stdin=side,
        stdout=side,
        stderr=side,
        env=os.environ | {"TERM": "xterm"} | env,
        start_new_session=True,
    )
    os.close(side)
    seen, end = b"", time.monotonic() + 60
    while time.monotonic() < end:
        if select.select([main], [], [], 0.2)[0]:
            try:
                data = os.read(main, 65536)
            except OSError:
                break
            if not data:
                break
            seen += data
            if keys and b"[y/N" in seen:
                os.write(main, keys)
                keys = b""
        elif process.poll() is not None:
            break
    process.kill()
    process.wait()
    os.close(main)
    return seen


def require_harmless(seen: bytes, what: str, *, ours: bool = True) -> None:
    text = COLOR.sub(b"", seen).decode("utf-8").replace("\r\n", "\n").replace("\r\n", "\n")
    assert text.strip(), what
    bad = HARMFUL.search(text)
    assert bad is None, (what, text[max(0, bad.start() - 60) : bad.start() + 20])
    assert "\r" not in text, what
    assert b"\x1b[31mred" not in seen, what
    assert not ours or "\nFORGED" not in text, what


COMMANDS = (
    "show",
    "show --json",
    "show skill",
    "show skill plain",
    "show --all",
    "why skill:plain",
    "why env.PLAIN",
    "why instructions",
    "check",
    "check --json",
    "check --format github",
    "trust",
    "trust --json",
    "doctor",
    "config",
    "deploy --to all --dry-run",
    "deploy --to all --diff",
    "deploy --to all --report",
    "import --from cursor --dry-run",
    "compile .claude/skills/plain --dry-run",
    "convert .claude/agents/a.md --to codex",
    "decide calls.jsonl",
    "decide calls.jsonl --expect",
    "why --prompt",
    "machine show-command plain",
    "machine command-graph --json",
    "machine summary",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands(hostile: Path, command: str) -> None:
    require_harmless(on_terminal(command.split(), hostile, b"n\n"), command)


@pytest.mark.parametrize(
    "argv",
    [
        ["show", EVIL],
        [EVIL],
        ["check", "--select", FORGED],
        ["why", f"Bash({FORGED})"],
        ["why", FORGED],
        ["show", f".claude/commands/{NAME}.md"],
        ["deploy", "--to", EVIL],
        ["machine", EVIL],
    ],
)
def test_what_the_user_typed_or_pasted(hostile: Path, argv: list[str]) -> None:
    require_harmless(on_terminal(argv, hostile), repr(argv))


def test_a_traceback(hostile: Path) -> None:
    code = (
        "import sys; from checkrein.cli import main, registry\n"
        f"def boom(name): raise RuntimeError({EVIL!r})\n"
        "registry.runner = boom; sys.exit(main.run(['show']))"
    )
    main, side = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", code],
        stdout=side,
        stderr=side,
        env=os.environ | {"CHECKREIN_TRACEBACK": "1"},
        check=False,
    )
    os.close(side)
    seen = os.read(main, 65536)
    os.close(main)
    assert b"Traceback" in seen
    require_harmless(seen, "traceback")


def scripted(command: str) -> list[dict[str, object]]:
    call = {"name": "Bash", "input": {"command": command}}
    return [{"text": f"I say {EVIL}", "tool_calls": [call]}, {"text": f"done {FORGED}"}]


TAIL = "echo THE-END-OF-THE-COMMAND"


@pytest.mark.parametrize("mode", ["run", "-p"])
def test_a_session(hostile: Path, mode: str) -> None:
    (hostile / ".claude/settings.json").unlink()
    command = f"printf 'x{EVIL}' ; cat *.txt\n" + "\n" * 500 + " " * 5_000 + TAIL
    with ScriptedServer(scripted(command)) as server:
        argv = [*([mode] if mode == "-p" else ["run"]), "go", "--model", "anthropic:x"]
        named = {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"}
        seen = on_terminal(argv, hostile, b"y\n", **named)
    require_harmless(seen, mode, ours=False)
    if mode == "run":
        shown = COLOR.sub(b"", seen).decode().replace("\r", "")
        question = shown[: shown.index("[y/N")]
        assert "Bash runs this command" in question
        assert TAIL in question
        assert "(500 empty lines)" in question
        assert "\nFORGED" not in question


def test_an_answer_in_a_pipe_is_the_data_itself(hostile: Path) -> None:
    with ScriptedServer([{"text": f"answer {EVIL}"}]) as server:
        done = subprocess.run(
            [sys.executable, "-m", "checkrein", "-p", "go", "--model", "anthropic:x"],
            cwd=hostile,
            env=os.environ | {"ANTHROPIC_BASE_URL": server.url, "ANTHROPIC_API_KEY": "k"},
            capture_output=True,
            timeout=60,
            check=False,
        )
    assert done.stdout == f"answer {EVIL}\n".encode()
    assert HARMFUL.search(done.stderr.decode()) is None


def test_a_report_in_a_pipe_is_harmless_too(hostile: Path) -> None:
    for command in ("show", "check", "trust"):
        done = subprocess.run(
            [sys.executable, "-m", "checkrein", command],
            cwd=hostile,
            capture_output=True,
            check=False,
            timeout=60,
        )
        text = (done.stdout + done.stderr).decode()
        assert HARMFUL.search(text) is None
        assert "\x1b" not in text


def test_json_in_a_pipe_and_on_a_terminal_mean_the_same(hostile: Path) -> None:
    argv = ["show", "--json"]
    piped = subprocess.run(
        [sys.executable, "-m", "checkrein", *argv], cwd=hostile, capture_output=True, check=True
    )
    seen = json.loads(on_terminal(argv, hostile).decode())
    assert seen["data"] == json.loads(piped.stdout)["data"]

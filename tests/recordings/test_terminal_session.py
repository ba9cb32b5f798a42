"""A session in a terminal: what streams, what works, and the commands that tell about it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.terminals import DOWN, ENTER, ESC, Terminal, ctrl, opened

MARKDOWN = (
    "# Heading\n\nSome **bold** words.\n\n| name | size |\n|---|---|\n| a | 12 |\n\n"
    "```python\nfor x in y:\n    print(x)\n```\n"
)


COMMANDS = pytest.mark.project(
    {
        ".claude/skills/s/SKILL.md": "---\nname: s\ndescription: does\n---\nx",
        ".claude/CLAUDE.md": "Be kind.\n",
        ".claude/settings.json": {
            "permissions": {"deny": ["Bash(rm *)"]},
            "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]},
        },
    },
    git=True,
)


def call(name: str, **input: object) -> dict[str, object]:
    return {"tool_calls": [{"name": name, "input": input}]}


@pytest.mark.project(
    {
        "README.md": "# It\n\nA thing.\n",
        "a.txt": "one\n",
        ".claude/agents/x.md": "---\nname: x\ndescription: d\n---\nX",
    },
    git=True,
)
def test_a_turn_and_what_it_tells(project: Path, tmp_path: Path) -> None:
    todos = [{"content": "first", "status": "completed", "activeForm": "a"}]
    todos += [{"content": "second", "status": "in_progress", "activeForm": "b"}]
    long = "seq 1 100; echo last-line; while [ ! -e go ]; do sleep 0.05; done"
    usage = {"input": 1000, "output": 50}
    turns = [
        {"thinking": "I wonder about this", "text": MARKDOWN, "chunk": 3, "usage": usage},
        call("TodoWrite", todos=todos),
        call("Bash", command=long),
        {"text": "steered.", "expect": {"text": "also this"}},
        call("Bash", command="sleep 60"),
        {"text": "in the background.", "expect": {"tool_result": "The user sent the command"}},
        {"text": "next turn"},
    ]
    for words in (
        ("init", "-q"),
        ("add", "."),
        ("-c", "user.name=x", "-c", "user.email=x", "commit", "-qm", "x"),
    ):
        subprocess.run(["git", *words], cwd=project, check=True)
    with opened(project, tmp_path, turns, "--permission-mode", "bypassPermissions") as terminal:
        # Markdown, with thoughts collapsed
        terminal.send("go", ENTER).turns(1)
        shown = terminal.text
        assert "Heading" in shown
        assert "# Heading" not in shown
        assert "**bold**" not in shown
        assert "|---|" not in shown
        assert "```" not in shown
        assert "Thought for 4 words" in shown
        assert "I wonder" not in shown
        assert {"1", "94"} <= {code for codes in terminal.colors for code in codes.split(";")}
        # a running command: its last lines and its time; the to-do list; a message that joins the turn
        terminal.send("work", ENTER).wait("▶ second").wait("☒ first").wait("last-line").wait("1 s")
        terminal.send("also this", ENTER).wait("⧗ also this")
        (project / "go").touch()
        terminal.wait("steered.").turns(2)
        assert "… " in terminal.text
        assert "more lines (Ctrl-O)" in terminal.text
        # to the background, and the list of tasks
        terminal.send("more", ENTER).wait("sleep 60").send(ctrl("b")).wait("in the background.").turns(3)
        terminal.send("/tasks", ENTER).wait("running · bash_").send(ENTER).wait("Stop it").send("2")
        terminal.wait("Stopped bash_").wait("has ended: killed")
        # what the session tells
        terminal.send("/context", ENTER).wait("░").wait("System prompt").wait("Free space")
        terminal.send("/cost", ENTER).wait("by model").wait("by agent")
        terminal.send("/status", ENTER).wait("transcript ").wait("bypassPermissions")
        terminal.send("/todos", ENTER).wait("▶ second")
        (project / "a.txt").write_text("two\n")
        terminal.send("/diff", ENTER).wait("+two")
        # the whole transcript on a key
        terminal.send(ctrl("o")).wait("q or Ctrl-O: back").send("\x1b[1~", "/wonder", ENTER)
        terminal.wait("I wonder about this").send("q")
        terminal.wait(lambda t: t.lines[t.cursor[0]] == ">")


@COMMANDS
def test_commands_of_the_command_line(project: Path, tmp_path: Path) -> None:
    turns = [{"text": "a reply to copy"}, {"text": "compacted summary", "repeat": 0}]
    with opened(project, tmp_path, turns, "--trust", rows=40, columns=100) as terminal:
        terminal.send("hello", ENTER).turns(1)
        for typed, wanted in (
            ("/permissions", "Bash(rm *)"),
            ("/permissions Bash(git push)", "ask"),
            ("/hooks", "Stop"),
            ("/skills", "does"),
            ("/memory", "CLAUDE.md"),
            ("/mcp", "server"),
            ("/plugin", "plugin"),
            ("/agents", "No agent has worked yet"),
            ("/doctor --offline", "sandbox"),
            ("/why s", "SKILL.md"),
            ("/help", "/add-dir <path>"),
            ("/config effort=high", "effort=high"),
            ("/add-dir /tmp", "/tmp"),
            ("/export out.html", "Wrote"),
            ("/copy", "Copied"),
            ("/init --no-model", "CLAUDE.md: written"),
            ("/nonsense", "nonsense"),
        ):
            before = terminal.text.count(wanted)
            terminal.send(typed, ENTER).wait(lambda t, w=wanted, b=before: t.text.count(w) > b)
            terminal.wait(lambda t: t.lines[t.cursor[0]] == ">")
        assert "a reply to copy" in (project / "out.html").read_text()
        assert (project / "CLAUDE.md").read_text().startswith("# project")
        assert b"\x1b]52;c;YSByZXBseSB0byBjb3B5\x07" in terminal.raw
        # pickers
        terminal.send("/model", ENTER).wait("Model (now").send("haiku").wait(lambda t: "haiku" in t.text)
        terminal.send(ESC).wait(lambda t: t.lines[t.cursor[0]] == ">")
        terminal.send("/effort", ENTER).wait("Effort (now").send(DOWN, ENTER).wait("The effort is medium")
        terminal.send("/compact", ENTER).wait("Compacted:")


def test_rewind_resume_and_fork(project: Path, tmp_path: Path) -> None:
    path = str(project / "made.txt")
    turns = [
        {"text": "first reply"},
        call("Write", file_path=path, content="made"),
        {"text": "wrote it"},
        {"text": "branched", "expect": {"messages": 3}},
    ]
    words = ("--permission-mode", "acceptEdits")
    with opened(project, tmp_path, turns, *words) as terminal:
        terminal.send("remember me", ENTER).turns(1).send("write it", ENTER).turns(2)
        assert Path(path).read_text() == "made"
        # Esc Esc: back to before a prompt, with its files
        terminal.send(ESC).wait("Esc again rewinds").send(ESC).wait("Go back to before").wait("write it")
        terminal.send(ENTER).wait("Files and conversation").send("1").wait("Rewound")
        terminal.wait(lambda t: t.lines[t.cursor[0]] == "> write it")
        assert not Path(path).exists()
        terminal.send(ENTER).wait("branched").turns(3)
        terminal.send("/rename the blue one", ENTER).wait("is called the blue one")
        terminal.send(ctrl("d"))
        assert terminal.ended() == 0
    # the picker: search, a copy
    with opened(project, tmp_path, [{"text": "copied"}], "--resume", wait="type to search") as terminal:
        terminal.send("blue").wait("the blue one").send(ctrl("f")).wait("earlier messages").wait("branched")
        terminal.send("go on", ENTER).wait("copied").turns(1)
        terminal.send("/status", ENTER).wait("session ")


@pytest.mark.project(
    {
        ".claude/settings.json": {
            "statusLine": {"type": "command", "command": "cat > seen.json; printf '\\033[31mmine\\033[0m'"}
        },
        ".claude/agents/helper.md": "---\nname: helper\ndescription: helps\n---\nHelp.",
    }
)
def test_agents_the_status_line_and_notifications(project: Path, tmp_path: Path) -> None:
    agent = {"description": "look around", "prompt": "look", "subagent_type": "helper"}
    agent |= {"run_in_background": False}
    turns = [
        {"text": "found it", "delay": 1.0, "when": {"first_text": "look"}},
        call("Agent", **agent),
        call("Bash", command="make all"),
    ]
    words = ("--trust", "--allowedTools", "Agent")
    env = {"CHECKREIN_SCREEN__NOTIFY": "osc9"}
    with opened(project, tmp_path, turns, *words, **env) as terminal:
        terminal.wait(" mine")
        assert json.loads((project / "seen.json").read_text())["workspace"]["project_dir"] == str(project)
        terminal.wait(lambda t: t.title == "checkrein · project")
        terminal.send("go", ENTER).wait("look around (helper)").wait("working · 1 turn")
        terminal.wait("Allow Bash?").send(ESC).turns(1)
        assert b"\x1b]9;Bash needs your approval\x07" in terminal.raw
        terminal.send("/agents", ENTER).wait("done · 1 turn")


def test_the_first_run(project: Path, tmp_path: Path) -> None:
    """No model and no key: both are asked for, and kept."""
    with Terminal(project) as terminal:
        terminal.wait("Which model?").send("anthropic").wait("needs a key").send(ENTER)
        terminal.wait("The key for anthropic").send("sk-ant-made-up", ENTER).wait("Ctrl-D leaves")
        assert "sk-ant-made-up" not in terminal.text
    kept = (Path(os.environ["CHECKREIN_HOME"]) / "config.toml").read_text()
    assert 'default = "anthropic:sonnet"' in kept
    assert "sk-ant-made-up" in kept


def test_a_picture_that_is_named(project: Path, tmp_path: Path) -> None:
    (project / "my shot.png").write_bytes(b"\x89PNG" + b"0" * 64)
    clip = tmp_path / "bin" / "wl-paste"
    clip.parent.mkdir()
    clip.write_text("#!/bin/sh\nprintf '\\211PNG1234'\n")
    clip.chmod(0o755)
    path = f"{clip.parent}:{os.environ['PATH']}"
    with opened(project, tmp_path, [{"text": "seen", "repeat": 0}], PATH=path) as terminal:
        terminal.send('look at @"my shot.png" please', ENTER).turns(1).send(ctrl("v")).wait("clipboard-")
        terminal.send("and this", ENTER).turns(2)
    (transcript,) = (Path(os.environ["CHECKREIN_HOME"]) / "projects").rglob("*.jsonl")
    assert transcript.read_text().count('"type":"image"') == 2


def test_a_long_reply_and_a_long_result(project: Path, tmp_path: Path) -> None:
    """Neither a reply of many deltas nor a huge result makes typing wait."""
    text = "\n".join(f"line {number} of a long reply" for number in range(1000))
    turns = [
        {"text": text, "chunk": 4},
        call("Bash", command=f"{sys.executable} -c 'print((\"y\" * 99 + chr(10)) * 100_000)'"),
        {"text": "and done"},
    ]
    with opened(project, tmp_path, turns, "--permission-mode", "bypassPermissions") as terminal:
        terminal.send("go", ENTER).wait("Esc interrupts)").send("typed meanwhile").wait("> typed meanwhile")
        terminal.turns(1)
        assert "line 999 of a long reply" in terminal.text
        terminal.send(ctrl("c"), "next", ENTER).wait("and done").turns(2)
        assert terminal.text.count("y" * 60) < 12

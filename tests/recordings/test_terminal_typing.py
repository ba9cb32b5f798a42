"""The prompt in a terminal: typing, completion, history, pastes, commands of one's own."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.terminals import (
    ALT_ENTER,
    DOWN,
    ENTER,
    ESC,
    SHIFT_TAB,
    TAB,
    UP,
    ctrl,
    opened,
    pasted,
)

PROJECT = pytest.mark.project(
    {
        "src/engine_room.py": "x = 1\n",
        "src/other.py": "",
        "build/engine_made.py": "",
        ".gitignore": "build/\n",
        ".claude/commands/ship.md": "---\ndescription: Ship it\nargument-hint: <where>\n---\nShip $1.\n",
        ".claude/agents/reviewer.md": "---\nname: reviewer\ndescription: Looks at code\n---\nLook.\n",
    },
    git=True,
)


def said(*texts: str) -> list[dict[str, object]]:
    """Replies that the prompts must lead to: each request holds the text."""
    return [{"text": f"reply {at}.", "expect": {"text": text}} for at, text in enumerate(texts)]


@PROJECT
def test_what_people_type(project: Path, tmp_path: Path) -> None:
    big = "\n".join(f"line {number}" for number in range(300))
    script = [
        *said("one\ntwo\nthree\nfour", "a\nb", f"look: {big}", "one\ntwo", "again", "own-42"),
        {"text": "all of it", "expect": {"text": "x" * 1_000_000}},
    ]
    with opened(project, tmp_path, script) as terminal:
        # several lines: Alt-Enter, a backslash, Ctrl-J
        terminal.send("one", ALT_ENTER, "two\\", ENTER, "three", ctrl("j"), "four")
        terminal.wait(lambda t: "four" in t.lines[t.cursor[0]])
        terminal.send(ENTER).wait("reply 0.").turns(1)
        # a small paste stands as it is, a large one as one line
        terminal.send(pasted("a\nb"), ENTER).wait("reply 1.")
        terminal.send("look: ", pasted(big)).wait("[Pasted text 1: 300 lines]")
        terminal.send(ENTER).wait("reply 2.").turns(3)
        # earlier prompts: Up, and Ctrl-R with a search
        terminal.send(ctrl("r")).wait("Earlier prompts")
        terminal.send("two three").wait(lambda t: "one\\ntwo" in t.text and "look" not in t.lines[-3])
        terminal.send(ENTER).wait(lambda t: "four" in t.lines[t.cursor[0]])
        terminal.send(ENTER).wait("reply 3.").turns(4)
        terminal.send("again").wait("> again").send(ctrl("c")).gone("> again")
        terminal.send("again", ENTER).wait("reply 4.").turns(5)
        terminal.send(UP).wait(lambda t: t.lines[t.cursor[0]] == "> again").send(ctrl("c"))
        # a command of one's own; the model hears of it
        terminal.send("!echo own-$((40+2))", ENTER).wait("own-42").send("and?", ENTER).wait("reply 5.").turns(
            6
        )
        # a megabyte
        terminal.send(pasted("x" * 1_000_000)).wait("[Pasted text 2: 1,000,000 characters]")
        terminal.send(ENTER).wait("all of it")
    kept = (Path(os.environ["CHECKREIN_HOME"]) / "prompts.jsonl").read_text().splitlines()
    assert "again" in [json.loads(line)["prompt"] for line in kept]


@PROJECT
def test_what_completes(project: Path, tmp_path: Path) -> None:
    with opened(project, tmp_path, said("x")) as terminal:
        # commands: ours, the session's, the project's, with what they do and what follows them
        terminal.send("/").wait("/add-dir <path>").wait("Add a working directory.")
        terminal.send("shi").wait("/ship <where>").wait("Ship it")
        terminal.send(TAB).wait(lambda t: t.lines[t.cursor[0]] == "> /ship")
        terminal.send(ctrl("c")).gone("/ship")
        # files: fuzzy, without what git ignores
        terminal.send("see @egrm").wait("src/engine_room.py")
        assert "engine_made" not in terminal.text
        terminal.send(DOWN).wait(lambda t: t.lines[t.cursor[0]] == "> see @src/engine_room.py")
        terminal.send(ctrl("c")).gone("engine_room")
        # agents
        terminal.send("@agent-rev").wait("agent: Looks at code").send(ESC).gone("Looks at code")
        terminal.send(ctrl("c")).gone("@agent-rev")
        # modes
        terminal.send(SHIFT_TAB).wait("edits are accepted").send(SHIFT_TAB).wait("plan mode")
        terminal.send(SHIFT_TAB).gone("plan mode")


@PROJECT
def test_the_editor(project: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf ' and more' >> \"$1\"\n")
    editor.chmod(0o755)
    with opened(project, tmp_path, said("begun and more"), EDITOR=str(editor)) as terminal:
        terminal.send("begun", ctrl("g")).wait("> begun and more")
        terminal.send(ENTER).wait("reply 0.")
        terminal.send("twice", ctrl("x"), ctrl("e")).wait("> twice and more")


@PROJECT
def test_vi_keys_and_keys_of_the_configuration(project: Path, tmp_path: Path) -> None:
    keys = {"CHECKREIN_SCREEN__EDITING": "vi", "CHECKREIN_SCREEN__KEYS": '{"mode": "f2", "sing": "f3"}'}
    with opened(project, tmp_path, said("x"), **keys) as terminal:
        terminal.wait("there is no action 'sing'")
        terminal.send("hello").wait("> hello").send(ESC)
        terminal.send("0x").wait("> ello")
        terminal.send("\x1bOQ").wait("edits are accepted")


def test_it_opens_in_eighty_columns_and_keeps_the_scrollback(project: Path, tmp_path: Path) -> None:
    text = "\n\n".join(f"paragraph {number}" for number in range(60))
    with opened(project, tmp_path, [{"text": text}, {"text": "narrow reply"}]) as terminal:
        terminal.send("go", ENTER).wait("paragraph 59").wait("tokens")
        assert all(f"paragraph {number}" in terminal.text for number in range(60))
        assert b"\x1b[?1049h" not in terminal.raw
        terminal.resize(20, 40)
        terminal.wait(lambda t: any(line == "─" * 40 for line in t.lines))
        terminal.send("and now", ENTER).wait("narrow reply")


def test_the_terminal_type_matters(project: Path, tmp_path: Path) -> None:
    """A dumb terminal gets lines and no escape sequence; so does whoever wants it plain."""
    for env in ({"TERM": "dumb"}, {"CHECKREIN_SCREEN__PLAIN": "true", "NO_COLOR": "1"}):
        with opened(project, tmp_path, said("hi \nthere"), wait="Write a prompt", **env) as terminal:
            terminal.send("hi \\", ENTER, "there\n").wait("reply 0.").wait("request")
            terminal.send("/exit\n")
            assert terminal.ended() == 0
            assert b"\x1b" not in terminal.raw


def test_no_colours(project: Path, tmp_path: Path) -> None:
    with opened(project, tmp_path, [{"text": "# Title\n\n`x`"}], NO_COLOR="1") as terminal:
        terminal.send("go", ENTER).wait("Title").wait("tokens")
        assert not [code for code in terminal.colors if code]

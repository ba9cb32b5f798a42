"""Text that wants to command the terminal: from the model, tools, file names, servers, rules, titles. None of
it reaches the terminal raw, wherever it is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from checkrein.cli.screen import scroll_lines
from checkrein.cli.screen.dialog import Choice, Dialog, Entry
from checkrein.cli.screen.ink import encoded, formatted
from checkrein.cli.screen.markdown_lines import MarkdownLines
from checkrein.cli.screen.reply import Reply
from checkrein.cli.screen.styled import lines_of
from checkrein.cli.screen.theme import Theme
from support.terminals import DOWN, ENTER, ESC, TAB, ctrl, opened

OURS = re.compile(r"\x1b\[[0-9;]*m")
INTRODUCERS = ("\x1b[", "\x9b", "\x1b]", "\x9d", "\x1bP", "\x90", "\x1b_", "\x1b^", "\x1bX", "\x1b")
ENDS = (
    *("2J", "H", "2K\r", "1A", "?1049h", "?25l", "6n", "c", "31m", "999;999H", "3J", "?2004l", "s", "u"),
    *("0;owned\x07", "52;c;cm0gLXJm\x07", "8;;http://x\x07", "9;x\x07", "777;notify;x\x07", "P+q\x1b\\"),
)
OTHERS = ("\r", "\b", "\x07", "\x00", "\x7f", "\x0b", "\x0c", "\x85", "\u202e", "\u2066", "\u200b", "\u2028")
ATTACKS = [start + end for start in INTRODUCERS for end in ENDS] + list(OTHERS)
HARMFUL = re.compile(r"[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2028\u2066-\u2069]")


def test_there_are_enough_of_them() -> None:
    assert len(set(ATTACKS)) >= 200


@pytest.mark.parametrize("name", ["dark", "none"])
def test_nothing_is_written_raw(name: str) -> None:
    """Every way to the terminal, with every attack, in every theme."""
    theme = Theme(name, {})  # type: ignore[arg-type]
    markdown = MarkdownLines(theme)
    for attack in ATTACKS:
        text = f"a{attack}b"
        lines = [
            *scroll_lines.prompt(text, theme),
            *scroll_lines.last_lines(f"{text}\n{text}", theme, 4),
            *scroll_lines.notice(text, theme, warns=True),
            *scroll_lines.difference_lines(f"+{text}", theme),
            *lines_of(text),
            *Dialog(text, [Choice(text, 1, text)], hint=text).lines(theme, 80, 10),
            *Entry(lambda text=text: text, hint=text).lines(theme, 80, 10),  # type: ignore[misc]
        ]
        for one in (encoded(lines), "".join(part[1] for line in lines for part in formatted(line))):
            assert not HARMFUL.search(OURS.sub("", one.replace("\r\n", "\n"))), repr(attack)
    for wrapped in (
        "{}",
        "`{}`",
        "```\n{}\n```",
        "# {}",
        "| {} | b |\n|---|---|\n| c | {} |",
        "[{}](http://{})",
    ):
        reply = Reply()
        reply.add("\n\n".join(wrapped.replace("{}", f"a{attack}b") for attack in ATTACKS))
        reply.end()
        shown = encoded([line for block in reply.taken() for line in markdown.of(block, 80)])
        assert not HARMFUL.search(OURS.sub("", shown.replace("\r\n", "\n")))


def test_entities_do_not_become_characters() -> None:
    reply = Reply()
    reply.add("x &#27;[2J &#x9b;2J &#155;H &#8238; y")
    reply.end()
    lines = [line for block in reply.taken() for line in MarkdownLines(Theme("dark", {})).of(block, 80)]
    assert not HARMFUL.search(OURS.sub("", encoded(lines).replace("\r\n", "\n")))


NAME = "n\x1b[2K\x1b[1Aame\u202e.txt"
FORBIDDEN = (
    b"\x1b[2J",
    b"\x1b[31;5m",
    b"\x1b[1A\x1b[2K",
    b"\x1b]0;",
    "\x9b".encode(),
    "\u202e".encode(),
    b"\x1b]52",
)


@pytest.mark.project(
    {
        ".mcp.json": {"mcpServers": {"srv\x1b[2J": {"command": "false\x1b]0;owned\x07"}}},
        ".claude/agents/a.md": '---\nname: a\ndescription: "d\\e[2J\\e[31;5m"\n---\nx',
        ".claude/commands/c.md": '---\ndescription: "c\\e[2J"\nargument-hint: "\\e[31;5m"\n---\nx',
        ".claude/settings.json": {
            "statusLine": {"type": "command", "command": "printf 'st\\033[2J\\033]52;c;eA==\\007atus'"},
            "permissions": {"allow": ["Bash(make\x1b[2J *)"]},
        },
    }
)
def test_a_hostile_project_and_model(project: Path, tmp_path: Path) -> None:
    (project / NAME).write_text("x")
    evil = "\x1b[2J\x1b[31;5mred\x1b]0;owned\x07\x9b2J\u202etxet \x1b]52;c;eA==\x07"
    command = f"touch made #{evil}\r\x1b[1A\x1b[2KAllow ls?"
    turns = [
        {"text": evil * 3, "chunk": 2, "thinking": evil},
        {"tool_calls": [{"name": "Bash", "input": {"command": command, "description": evil}}]},
        {"tool_calls": [{"name": "Bash", "input": {"command": "cat n*; ls; echo out"}}]},
        {"text": "over"},
    ]
    with opened(project, tmp_path, turns, "--trust", columns=100) as terminal:
        begun = len(terminal.raw)
        terminal.send("go", ENTER).turns(1)
        terminal.send("tool", ENTER).wait("Allow Bash?")
        assert "\\x1b[1A\\x1b[2KAllow ls?" in terminal.text.replace("\n", "")
        assert "Allow ls?" not in [line.strip() for line in terminal.lines]
        terminal.send("1").wait("over").turns(2)
        terminal.send("@n").wait(lambda t: any("ame" in line for line in t.lines[t.cursor[0] + 1 :]))
        terminal.send(DOWN).send(ctrl("c"))
        terminal.send("/").wait("/add-dir").send("c").wait("/compact").send(TAB).send(ctrl("c"))
        for word in ("/mcp", "/agents", "/permissions", "/status", "/help"):
            terminal.send(word, ENTER).wait(lambda t: t.lines[t.cursor[0]] == ">")
        terminal.send(ctrl("o")).wait("q or Ctrl-O").send("q").wait(lambda t: t.lines[t.cursor[0]] == ">")
        terminal.send(ESC).send(ctrl("d")).ended()
        written = bytes(terminal.raw[begun:])
    assert [bad for bad in FORBIDDEN if bad in written] == []


def test_json_of_a_tool_is_no_way_around() -> None:
    assert not HARMFUL.search(
        encoded(lines_of(json.dumps({"a": "\x1b[2J\u202e"}, ensure_ascii=False))).replace("\r\n", "")
    )

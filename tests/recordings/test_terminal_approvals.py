"""Approvals in a terminal: the whole call, why it is asked, and exactly what an answer writes."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from support.terminals import ENTER, ESC, TAB, ctrl, opened, pasted

WATCH = "npm run test:unit --watch"
PLAN = "# The plan\n\n1. Do *this*\n"


def call(name: str, **input: object) -> dict[str, object]:
    return {"tool_calls": [{"name": name, "input": input}]}


def rules(file: Path) -> list[str]:
    return json.loads(file.read_text())["permissions"]["allow"] if file.exists() else []


@pytest.mark.project({".claude/settings.json": {"permissions": {"allow": ["Bash(npm test *)"]}}}, git=True)
def test_once_always_and_no(project: Path, tmp_path: Path) -> None:
    turns = [
        call("Bash", command=f"git status; {WATCH}"),
        {"text": "refused.", "expect": {"tool_result": "use make instead"}},
        call("Bash", command=WATCH),
        {"text": "written."},
        call("Bash", command=f"{WATCH} --again"),
        {"text": "not asked."},
        call("Bash", command="gh pr list"),
        {"text": "changed."},
    ]
    local, own = project / ".claude/settings.local.json", Path(os.environ["HOME"]) / ".claude/settings.json"
    with opened(project, tmp_path, turns, "--trust", columns=100) as terminal:
        # everything is there before the question: the command, the verdict on each part, the closest rule
        terminal.send("go", ENTER).wait("Allow Bash?")
        for shown in (
            "│ git status; npm run test:unit --watch",
            "allow git status",
            "ask   npm run test:unit",
        ):
            assert shown in terminal.text
        said = " ".join(terminal.text.split())
        assert "closest rule Bash(npm test *) at .claude/settings.json:" in said
        assert "`run` stands where it has `test`" in said
        # no, with words for the model
        terminal.send("3").wait("What should it do instead?").send("use make instead", ENTER).wait("refused.")
        assert not local.exists()
        # always: the rule and its file are shown before anything is written
        terminal.send("go on", ENTER).wait(lambda t: t.text.count("Allow Bash?") == 1).send("2")
        terminal.wait("This rule goes to .claude/settings.local.json:")
        terminal.wait("> Bash(npm run test:unit *)")
        assert not local.exists()
        terminal.send(ENTER).wait("written.").turns(2)
        assert rules(local) == ["Bash(npm run test:unit *)"]
        terminal.send("again", ENTER).wait("not asked.").turns(3)
        # both can be changed first
        terminal.send("last", ENTER).wait("Allow Bash?").send("2").wait("> Bash(gh pr list *)")
        terminal.send(TAB, TAB).wait("This rule goes to ~/.claude/settings.json:")
        terminal.send(ctrl("u"), "Bash(gh", ENTER).wait("`Bash(gh`: ")
        terminal.send(ctrl("u"), "Bash(gh pr list --limit *)", ENTER).wait("changed.")
        assert rules(own) == ["Bash(gh pr list --limit *)"]
        assert rules(local) == ["Bash(npm run test:unit *)"]


def test_a_diff_a_mode_and_the_end(project: Path, tmp_path: Path) -> None:
    (project / "a.txt").write_text("one\ntwo\n")
    path = str(project / "a.txt")
    turns = [
        call("Read", file_path=path),
        call("Edit", file_path=path, old_string="two", new_string="three"),
        {"text": "edited."},
        call("Bash", command="make all"),
        {"text": "never"},
    ]
    with opened(project, tmp_path, turns) as terminal:
        terminal.send("edit", ENTER).wait("Allow Edit?")
        assert "│ -two" in terminal.text
        assert "│ +three" in terminal.text
        terminal.send("2").wait("edited.").wait("edits are accepted").turns(1)
        assert (project / "a.txt").read_text() == "one\nthree\n"
        terminal.send("stop", ENTER).wait("Allow Bash?").send(ESC).wait("Interrupted")


def test_a_key_that_was_meant_for_the_prompt_answers_nothing(project: Path, tmp_path: Path) -> None:
    turns = [call("Bash", command="make all") | {"delay": 0.6}, {"text": "never"}]
    with opened(project, tmp_path, turns) as terminal:
        terminal.send("go", ENTER).wait("Esc interrupts)")
        while "Allow Bash?" not in terminal.text:
            terminal.send("y").wait(lambda t: True)
        terminal.send("y", ENTER)
        terminal.wait("Allow Bash?")
        assert not (project / "all").exists()
        terminal.send(ESC).wait("Interrupted").wait(
            lambda t: any(line.startswith("> yy") for line in t.lines)
        )


def test_a_plan_and_a_question(project: Path, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text("#!/bin/sh\nprintf '2. And that\\n' >> \"$1\"\n")
    editor.chmod(0o755)
    question = {
        "question": "Which colour?",
        "header": "Colour",
        "multiSelect": False,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}],
    }
    turns = [
        call("ExitPlanMode", plan=PLAN),
        {"text": "carried out.", "expect": {"tool_result": "2. And that"}},
        call("AskUserQuestion", questions=[question]),
        {"text": "thanks.", "expect": {"tool_result": "Blue"}},
    ]
    words = ("--permission-mode", "plan")
    with opened(project, tmp_path, turns, *words, EDITOR=str(editor)) as terminal:
        terminal.send("plan it", ENTER).wait("Carry out this plan?").wait("1 Do this")
        terminal.send("3").wait("2 And that")
        terminal.wait(lambda t: t.text.rfind("Carry out this plan?") > t.text.rfind("2 And that"))
        terminal.send("1").wait("carried out.").turns(1)
        terminal.gone("plan mode")
        terminal.send("ask me", ENTER).wait("Which colour?").wait("Blue").send("2").wait("thanks.")


@pytest.mark.project(
    {".claude/settings.json": {"env": {"X": "1"}, "permissions": {"allow": ["Bash(make *)"]}}}
)
def test_trust_is_asked_first(project: Path, tmp_path: Path) -> None:
    with opened(project, tmp_path, [{"text": "hi"}], wait="Do you trust this project?") as terminal:
        assert "Bash(make *)" in terminal.text
        terminal.send("2").wait("Ctrl-D leaves").send("/status", ENTER).wait("trusted     yes")


def test_a_paste_answers_nothing(project: Path, tmp_path: Path) -> None:
    with opened(project, tmp_path, [call("Bash", command="touch made"), {"text": "never"}]) as terminal:
        terminal.send("go", ENTER).wait("Allow Bash?").send(pasted("1\ny\n")).send(ESC).wait("Interrupted")
        assert not (project / "made").exists()

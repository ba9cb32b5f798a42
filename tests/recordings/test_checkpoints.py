"""Rewinding a session: files, conversation, both; now and after a resume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from checkrein.base.errors import NotFoundError, UsageError
from checkrein.llm.port import Text
from checkrein.runtime.session.events import CacheBreak, Notice, PromptAccepted
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import Call, Match, ScriptedModel, Turn

OK = Turn(text="ok")


class Talk:
    def __init__(self, project: Path, *turns: Turn, **options: object) -> None:
        self.model = ScriptedModel(turns, idle=5)
        settings = Options(trust=True, mode="acceptEdits", **options)
        self.session = Session(project, model=self.model, options=settings)
        self.uuids: list[str] = []
        self.events: list[object] = []

    def say(self, prompt: str) -> Talk:
        now = list(self.session.run(prompt))
        self.uuids += [event.uuid for event in now if isinstance(event, PromptAccepted)]
        self.events += now
        return self

    def said(self) -> str:
        last = self.model.requests[-1].messages
        return "\n".join(b.text for m in last for b in m.content if isinstance(b, Text))


def write(path: str, content: str) -> Turn:
    return Turn(tool_calls=(Call("Write", {"file_path": path, "content": content}),))


def edit(path: str, old: str, new: str) -> Turn:
    return Turn(tool_calls=(Call("Edit", {"file_path": path, "old_string": old, "new_string": new}),))


def read(path: str) -> Turn:
    return Turn(tool_calls=(Call("Read", {"file_path": path}),))


def bash(command: str) -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": command}),))


NOTEBOOK = json.dumps(
    {
        "cells": [{"id": "c1", "cell_type": "code", "source": "1", "metadata": {}, "outputs": []}],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)
CELL = Turn(
    tool_calls=(Call("NotebookEdit", {"notebook_path": "n.ipynb", "cell_id": "c1", "new_source": "2"}),)
)


def test_files_go_back_and_the_shell_is_not_tracked(project: Path) -> None:
    (project / "n.ipynb").write_text(NOTEBOOK)
    work = (read("a.txt"), edit("a.txt", "alpha", "beta"), write("new.txt", "x"), read("n.ipynb"), CELL)
    talk = Talk(project, OK, *work, bash("touch shell.txt"), OK, OK, allowed=("Bash",))
    talk.say("one").say("two")
    assert (project / "a.txt").read_text() == "beta\n"
    assert json.loads((project / "n.ipynb").read_text())["cells"][0]["source"] in ("2", ["2"])
    done = talk.session.rewind(talk.uuids[1])
    assert (project / "a.txt").read_text() == "alpha\n"
    assert (project / "n.ipynb").read_text() == NOTEBOOK
    assert not (project / "new.txt").exists()
    assert (project / "shell.txt").exists()
    assert (len(done.restored), len(done.deleted)) == (2, 1)
    talk.say("three")
    assert "two" in talk.said()
    talk.session.close()


def test_the_conversation_goes_back_on_an_older_prefix(project: Path) -> None:
    talk = Talk(project, OK, write("new.txt", "x"), OK, OK)
    talk.say("one").say("two")
    talk.session.rewind(talk.uuids[1], conversation=True)
    assert not (project / "new.txt").exists()
    talk.say("other")
    said = talk.said()
    assert "one" in said
    assert "two" not in said
    assert "other" in said
    assert not any(isinstance(event, CacheBreak) for event in talk.events)
    talk.session.close()
    later = Talk(project, OK, resume=talk.session.id).say("more")
    before = talk.model.requests[-1].messages
    assert later.model.requests[0].messages[: len(before)] == before
    later.session.close()


def test_the_conversation_alone(project: Path) -> None:
    talk = Talk(project, write("new.txt", "x"), OK, OK)
    talk.say("one")
    talk.session.rewind(talk.uuids[0], files=False, conversation=True)
    assert (project / "new.txt").exists()
    talk.say("again")
    assert len(talk.model.requests[-1].messages) == 1
    assert talk.said().count("Working directory") == 1
    talk.session.close()


@pytest.mark.parametrize("conversation", [False, True])
def test_after_a_resume(project: Path, conversation: bool) -> None:
    first = Talk(project, OK, write("new.txt", "x"), OK)
    first.say("one").say("two")
    first.session.close()
    later = Talk(project, OK, resume=first.session.id)
    done = later.session.rewind(first.uuids[1], conversation=conversation)
    assert done.deleted == (str(project / "new.txt"),)
    later.say("three")
    assert ("two" in later.said()) is not conversation
    assert "one" in later.said()
    later.session.close()


def test_a_new_process_goes_back_to_the_same_place(project: Path) -> None:
    """Notes that stood before a prompt stay; what came with it goes. Before and after a compaction."""
    hook = {"type": "command", "command": "echo WITH THE PROMPT"}
    settings = {"hooks": {"UserPromptSubmit": [{"hooks": [hook]}]}}
    (project / ".claude/skills/s").mkdir(parents=True)
    (project / ".claude/settings.json").write_text(json.dumps(settings))
    summary = Turn(text="THE SUMMARY", when=Match(text="Write a summary"))
    first = Talk(project, bash("echo 1"), OK, OK, summary, read("a.txt"), OK, OK)
    first.say("one")
    (project / ".claude/skills/s/SKILL.md").write_text("---\ndescription: CAME LATER\n---\ntext")
    first.say("two").say("/compact").say("three").say("four")
    known = first.session.conversation.record.snapshots
    first.session.close()
    assert [uuid for uuid in first.uuids if uuid in known] == first.uuids
    assert len(first.uuids) == 4
    for uuid in reversed(first.uuids):
        later = Talk(project, OK, resume=first.session.id)
        later.session.rewind(uuid, conversation=True)
        talk = later.session.conversation
        assert tuple(talk.state.messages) == known[uuid].messages
        assert talk.recorder.writer.leaf == known[uuid].leaf
        later.session.close()
    assert "CAME LATER" in str(known[first.uuids[1]].messages)
    assert str(known[first.uuids[1]].messages).count("WITH THE PROMPT") == 1
    assert known[first.uuids[0]].messages == ()
    assert "THE SUMMARY" in str(known[first.uuids[2]].messages)


def test_the_next_request_after_it_extends_the_older_one(project: Path) -> None:
    first = Talk(project, bash("echo 1"), OK, OK).say("one").say("two")
    first.session.close()
    later = Talk(project, OK, OK, resume=first.session.id)
    later.session.rewind(first.uuids[1], conversation=True)
    later.say("other")
    before = first.model.requests[1].messages
    assert later.model.requests[0].messages[: len(before)] == before
    assert not any(isinstance(event, CacheBreak) for event in later.events)
    later.session.close()


def test_control_puts_files_back_before_the_next_prompt(project: Path) -> None:
    talk = Talk(project, write("new.txt", "x"), OK, OK)
    talk.say("one")
    talk.session.control.rewind(talk.uuids[0])
    talk.say("two")
    assert not (project / "new.txt").exists()
    assert any(isinstance(e, Notice) and "1 new file(s) deleted" in e.text for e in talk.events)
    talk.session.control.rewind("nobody")
    talk.say("three")
    assert any(isinstance(e, Notice) and "no checkpoint" in e.text for e in talk.events)
    talk.session.close()


def test_unknown_prompts_and_switched_off(project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_text('{"fileCheckpointingEnabled": false}')
    talk = Talk(project, write("new.txt", "x"), OK)
    talk.say("one")
    with pytest.raises(NotFoundError):
        talk.session.rewind("nobody")
    with pytest.raises(UsageError, match="not enabled"):
        talk.session.rewind(talk.uuids[0])
    assert (project / "new.txt").exists()
    talk.session.close()

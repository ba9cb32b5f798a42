"""Requests of a host that change a session or look into it, answered by the session itself."""

from __future__ import annotations

import base64
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import CheckreinError
from checkrein.protocol.control_requests import ControlRequests
from checkrein.protocol.inbox import Told
from checkrein.runtime.session.events import Event, Finished
from checkrein.runtime.session.session import Session
from checkrein.runtime.turn.plugin_changes import Changes
from checkrein.testing import Call, Turn

from .conftest import Play, Played

Ask = Callable[..., dict[str, Any]]
DONE = Turn(text="done")


def touch(name: str) -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": f"touch {name}"}),))


def asking(session: Session, shown: list[Event] | None = None) -> Ask:
    handlers = ControlRequests(session, "none", (shown if shown is not None else []).append).handlers

    def ask(subtype: str, **fields: Any) -> dict[str, Any]:
        answer = handlers[subtype]({"subtype": subtype, **fields})
        return answer.response if isinstance(answer, Told) else answer

    return ask


def result(run: Played, prompt: str) -> Finished:
    *_, last = run.session.run(prompt)
    assert isinstance(last, Finished)
    return last


def test_rules_of_a_request_hold_from_then_on(play: Play, project: Path) -> None:
    run = play(touch("a"), DONE, touch("b"), DONE, touch("c"), DONE)
    assert not (project / "a").exists()
    ask = asking(run.session)
    assert ask("apply_flag_settings", settings={"permissions": {"allow": ["Bash(touch b)"]}}) == {}
    result(run, "again")
    assert (project / "b").exists()
    ask("apply_flag_settings", settings={"permissions": None})
    assert len(result(run, "again").result.denials) == 1
    assert not (project / "c").exists()


def test_a_deny_of_a_request_stays(play: Play, project: Path) -> None:
    run = play(DONE, touch("a"), DONE, mode="bypassPermissions", allow_bypass=True)
    ask = asking(run.session)
    ask("apply_flag_settings", settings={"permissions": {"deny": ["Bash(touch *)"]}})
    ask("apply_flag_settings", settings={"permissions": {}})
    assert len(result(run, "go").result.denials) == 1
    assert not (project / "a").exists()


@pytest.mark.project({".claude/output-styles/pirate.md": "---\nname: Pirate\n---\n\nSpeak like a pirate.\n"})
def test_effort_and_style_count_for_the_next_request(play: Play) -> None:
    run = play(DONE, DONE, DONE)
    ask = asking(run.session)
    ask("apply_flag_settings", settings={"effortLevel": "high", "outputStyle": "Pirate"})
    result(run, "go")
    assert run.model.requests[-1].effort == "high"
    assert any("like a pirate" in one.text for one in run.model.requests[-1].system)
    ask("apply_flag_settings", settings={"effortLevel": None, "outputStyle": None})
    result(run, "go")
    assert run.model.requests[-1].effort is None
    assert not any("like a pirate" in one.text for one in run.model.requests[-1].system)


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"effortLevel": "low", "hooks": {}}, "hooks can't be changed"),
        ({"effortLevel": "low", "modle": "x"}, "Did you mean"),
        ({"effortLevel": "loud"}, "can't be 'loud'"),
        ({"effortLevel": "low", "outputStyle": "nope"}, "no style"),
        ({"effortLevel": "low", "permissions": []}, "must be an object"),
        ({"effortLevel": "low", "permissions": {"allow": "Bash"}}, "list of texts"),
        ({"effortLevel": "low", "permissions": {"alow": []}}, "permissions.alow"),
        ({"effortLevel": "low", "permissions": {"allow": ["Ba sh(x)"]}}, "not the name of a tool"),
        ({"effortLevel": "low", "permissions": {"defaultMode": "bypassPermissions"}}, "not available"),
        ({"effortLevel": "low", "permissions": {"defaultMode": 3}}, "not available"),
        (None, "needs `settings`"),
    ],
)
def test_a_request_that_can_not_hold_changes_nothing(play: Play, settings: Any, says: str) -> None:
    run = play(DONE)
    with pytest.raises(CheckreinError, match=says):
        asking(run.session)("apply_flag_settings", settings=settings)
    assert run.session.conversation.effort is None


@pytest.mark.project({"h.txt": "häuser\n", ".env": "KEY=1", "b.bin": "", "sub/": None})
def test_a_file_for_the_screen_of_the_host(play: Play, project: Path, tmp_path: Path) -> None:
    (project / "b.bin").write_bytes(b"\xff\x00ab")
    (tmp_path / "outside.txt").write_text("x")
    (project / "link.txt").symlink_to(tmp_path / "outside.txt")
    os.mkfifo(project / "pipe")
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Read(.env)"]}}')
    ask = asking(play(DONE).session)
    path = str(project / "h.txt")
    assert ask("read_file", path="h.txt") == {"absPath": path, "contents": "häuser\n", "lossy": False}
    assert ask("read_file", path=path, max_bytes=2)["truncated"] is True
    assert ask("read_file", path="b.bin")["lossy"] is True
    exact = ask("read_file", path="b.bin", encoding="base64")
    assert (exact["encoding"], base64.b64decode(exact["contents"])) == ("base64", b"\xff\x00ab")
    for refused in (".env", str(tmp_path / "outside.txt"), "link.txt", "sub", "pipe", "nope", "", 3, "a\0b"):
        with pytest.raises(CheckreinError):
            ask("read_file", path=refused)


def test_a_rewind_counts_lines_before_it_happens(play: Play, project: Path) -> None:
    (project / "old.txt").write_text("one\ntwo\nthree\n")
    write = {"file_path": str(project / "new.txt"), "content": "a\nb\n"}
    edit = {"file_path": str(project / "old.txt"), "content": "one\n2\n3\n4\n"}
    run = play(
        Turn(tool_calls=(Call("Read", {"file_path": str(project / "old.txt")}),)),
        Turn(tool_calls=(Call("Write", write), Call("Write", edit))),
        DONE,
        mode="acceptEdits",
    )
    (uuid,) = run.session.conversation.record.checkpoints.messages
    ask = asking(run.session)
    foreseen = ask("rewind_files", user_message_id=uuid, dry_run=True)
    assert (foreseen["insertions"], foreseen["deletions"]) == (2, 5)
    assert (project / "new.txt").exists()
    assert ask("rewind_files", user_message_id=uuid) == foreseen
    assert (project / "old.txt").read_text() == "one\ntwo\nthree\n"


def test_a_rewind_that_is_not_possible_is_foreseen(play: Play) -> None:
    ask = asking(play(DONE).session)
    foreseen = ask("rewind_files", user_message_id="nobody", dry_run=True)
    assert (foreseen["canRewind"], "nobody" in foreseen["error"]) == (False, True)
    with pytest.raises(CheckreinError, match="nobody"):
        ask("rewind_files", user_message_id="nobody")


def test_usage_of_a_session(play: Play, project: Path) -> None:
    old = str(project / "old.txt")
    (project / "old.txt").write_text("one\ntwo\n")
    run = play(
        DONE,
        Turn(tool_calls=(Call("Read", {"file_path": old}),)),
        Turn(tool_calls=(Call("Edit", {"file_path": old, "old_string": "two", "new_string": "2\n3"}),)),
        Turn(tool_calls=(Call("Write", {"file_path": str(project / "new.txt"), "content": "a\nb\n"}),)),
        DONE,
        mode="acceptEdits",
    )
    ask = asking(run.session)
    end = result(run, "again").result
    usage = ask("get_usage")
    session = usage["session"]
    assert (session["total_lines_added"], session["total_lines_removed"]) == (4, 1)
    assert session["total_cost_usd"] == end.cost_usd
    (spent,) = session["model_usage"].values()
    assert spent["outputTokens"] == end.usage.output > 0
    assert (usage["rate_limits_available"], usage["rate_limits"]) == (False, None)


@pytest.mark.project({"h.txt": "one\n", ".env": "KEY=1", "late.txt": "one\n", "sub/": None})
def test_a_file_that_the_host_knows_to_be_read_can_be_edited(play: Play, project: Path) -> None:
    (project / ".claude").mkdir()
    (project / ".claude" / "settings.json").write_text('{"permissions": {"deny": ["Read(.env)"]}}')
    known, late = (str(project / name) for name in ("h.txt", "late.txt"))
    edits = [
        Turn(tool_calls=(Call("Edit", {"file_path": path, "old_string": "one", "new_string": "1"}),))
        for path in (known, late)
    ]
    run = play(DONE, *edits, DONE, mode="acceptEdits")
    ask = asking(run.session)
    assert ask("seed_read_state", path=known, mtime=os.stat(known).st_mtime_ns // 1_000_000) == {}
    assert ask("seed_read_state", path=late, mtime=os.stat(late).st_mtime_ns // 1_000_000 - 1) == {}
    for path, mtime in ((".env", 1), ("nope", 1), ("sub", 1), ("", 1), (known, None), (known, float("nan"))):
        with pytest.raises(CheckreinError):
            ask("seed_read_state", path=path, mtime=mtime)
    result(run, "again")
    assert [Path(path).read_text() for path in (known, late)] == ["1\n", "one\n"]


def test_skills_and_styles_are_read_again(play: Play, project: Path) -> None:
    run = play(DONE, DONE)
    ask = asking(run.session)
    skill = project / ".claude" / "skills" / "late" / "SKILL.md"
    style = project / ".claude" / "output-styles" / "Pirate.md"
    for path in (skill, style):
        path.parent.mkdir(parents=True)
    skill.write_text("---\nname: late\ndescription: Comes late.\nargument-hint: WHERE\n---\nGo.\n")
    style.write_text("---\nname: Pirate\n---\nTalk like one.\n")
    told = {"name": "late", "description": "Comes late.", "argumentHint": "WHERE"}
    assert ask("reload_skills") == {"skills": [told]}
    assert ask("reload_output_styles") == {"available_output_styles": ["default", "Pirate"]}
    result(run, "again")
    assert run.session.conversation.skills.invoker.shelf.find("late") is not None


def test_plugins_stay_as_the_session_began(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = asking(play(DONE).session)
    same = ask("reload_plugins", hold_on_cache_impact=True)
    assert (same["plugins"], same["error_count"], same["held"]) == ([], 0, False)
    assert "held" not in ask("reload_plugins")
    with pytest.raises(CheckreinError, match="no more plugins"):
        ask("reload_plugins", add_plugins=[{"type": "local", "path": "/p"}])
    found = Changes(("a@b",), ("plugin:a:new",), ("plugin:a:old",))
    monkeypatch.setattr("checkrein.runtime.turn.plugin_changes.changed", lambda conversation: found)
    held = ask("reload_plugins", hold_on_cache_impact=True)
    assert held["held"] is True
    assert held["cache_impact"]["mcp_servers_added"] == ["plugin:a:new"]
    assert held["cache_impact"]["mcp_servers_removed"] == ["plugin:a:old"]
    with pytest.raises(CheckreinError, match="a@b"):
        ask("reload_plugins")


def test_the_output_of_a_command_in_the_background(play: Play) -> None:
    command = {"command": "seq 1 3000", "run_in_background": True}
    run = play(Turn(tool_calls=(Call("Bash", command),)), DONE, mode="bypassPermissions", allow_bypass=True)
    (shell,) = run.session.conversation.desk.shells.values()
    shell.running.wait()
    told = asking(run.session)("get_task_output", task_id=shell.id)
    assert (told["total_bytes"], told["truncated"], told["output"][-5:]) == (13893, True, "3000\n")
    for task in ("nope", None, 3):
        with pytest.raises(CheckreinError):
            asking(run.session)("get_task_output", task_id=task)


def test_the_name_of_a_session(play: Play) -> None:
    run = play(DONE)
    ask = asking(run.session)
    assert ask("rename_session", title=" The parser ", session_id=run.session.id) == {}
    assert "The parser" in Path(run.session.conversation.recorder.writer.path).read_text()
    for fields in ({"title": ""}, {"title": 3}, {"title": "a", "session_id": "other"}):
        with pytest.raises(CheckreinError):
            ask("rename_session", **fields)

"""What a session that goes on has again: model, mode, the hooks of its skills; and what it has not."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.runtime.session.events import Notice, SessionStarted, ToolFinished
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import Call, ScriptedModel, Turn

Write = Callable[[str, object], Path]
OK = Turn(text="ok")


def bash(command: str = "echo 1") -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": command}),))


def load(name: str) -> Turn:
    return Turn(tool_calls=(Call("Skill", {"skill": name}),))


def skill(hook: dict[str, object], event: str = "PostToolUse") -> str:
    group = [{"matcher": "Bash", "hooks": [{"type": "command", **hook}]}]
    return f"---\ndescription: d\nhooks: {json.dumps({event: group})}\n---\nTEXT"


class TestSkillHooks:
    @pytest.fixture(autouse=True)
    def _skill(self, write: Write, project: Path) -> None:
        self.seen = project / "seen"
        write(".claude/skills/s/SKILL.md", skill({"command": "echo x >> seen"}))

    def count(self) -> int:
        return len(self.seen.read_text().split()) if self.seen.exists() else 0

    @pytest.mark.parametrize("by", ["model", "user"])
    def test_they_are_active_after_a_resume(self, play, by: str) -> None:
        start = (load("s"), OK) if by == "model" else (OK,)
        first = play(*start, prompt="go" if by == "model" else "/s", allowed=("Skill",))
        first.session.close()
        assert self.count() == 0
        for expected in (1, 2):
            again = play(bash(), OK, resume=first.session.id)
            again.session.close()
            assert self.count() == expected

    def test_of_a_fork_too(self, play) -> None:
        first = play(load("s"), OK, allowed=("Skill",))
        first.session.close()
        play(bash(), OK, resume=first.session.id, fork=True)
        assert self.count() == 1

    def test_also_when_the_summary_left_the_skill_out(self, play, monkeypatch) -> None:
        monkeypatch.setattr("checkrein.runtime.skills.active.TOTAL_TOKENS", 0)
        first = play(load("s"), OK, Turn(text="SUMMARY"), OK, allowed=("Skill",))
        list(first.session.run("/compact"))
        first.session.close()
        again = play(bash(), OK, resume=first.session.id)
        assert "TEXT" not in str(again.model.requests[0].messages)
        assert self.count() == 1

    def test_a_skill_that_was_not_loaded_has_none(self, play) -> None:
        first = play(bash(), OK)
        first.session.close()
        play(bash(), OK, resume=first.session.id)
        assert self.count() == 0

    def test_not_in_a_project_that_is_not_trusted(self, play) -> None:
        first = play(load("s"), OK, allowed=("Skill",))
        first.session.close()
        play(bash(), OK, resume=first.session.id, trust=False)
        assert self.count() == 0

    def test_not_when_hooks_are_switched_off(self, play, write: Write) -> None:
        first = play(load("s"), bash(), OK, allowed=("Skill",))
        first.session.close()
        assert self.count() == 1
        write(".claude/settings.json", {"disableAllHooks": True})
        again = play(bash(), load("s"), bash(), OK, resume=first.session.id, allowed=("Skill",))
        assert [tool.is_error for tool in again.tools] == [False] * 3
        assert self.count() == 1

    def test_a_nested_skill_has_none_before_and_after(self, play, write: Write) -> None:
        """Nobody saw its hooks when the project was trusted."""
        write("sub/.claude/skills/n/SKILL.md", skill({"command": "echo n >> seen"}))
        write("sub/b.txt", "b")
        read = Turn(tool_calls=(Call("Read", {"file_path": "sub/b.txt"}),))
        first = play(read, load("n"), bash(), OK, allowed=("Skill",))
        first.session.close()
        assert not any(tool.is_error for tool in first.tools)
        play(read, bash(), OK, resume=first.session.id)
        assert self.count() == 0

    def test_once_means_once_for_the_session(self, play, write: Write) -> None:
        write(".claude/skills/s/SKILL.md", skill({"command": "echo x >> seen", "once": True}))
        first = play(load("s"), bash(), bash(), OK, allowed=("Skill",))
        first.session.close()
        assert self.count() == 1
        play(bash(), OK, resume=first.session.id)
        assert self.count() == 1


class TestMode:
    @pytest.mark.parametrize(
        ("had", "given", "has"),
        [
            ("acceptEdits", None, "acceptEdits"),
            ("dontAsk", None, "dontAsk"),
            ("plan", None, "default"),
            ("bypassPermissions", None, "default"),
            ("acceptEdits", "plan", "plan"),
            (None, None, "default"),
        ],
    )
    def test_it_is_had_again_unless_it_must_be_asked_for(self, play, had, given, has: str) -> None:
        first = play(OK, mode=had, allow_bypass=True)
        first.session.close()
        again = play(OK, resume=first.session.id, mode=given)
        assert again.of(SessionStarted)[0].mode == has

    def test_one_that_was_entered_on_the_way(self, play) -> None:
        first = play(OK, OK)
        first.session.control.set_mode("acceptEdits")
        list(first.session.run("more"))
        first.session.close()
        assert play(OK, resume=first.session.id).of(SessionStarted)[0].mode == "acceptEdits"

    def test_a_mode_that_is_off_by_now(self, play, write: Write) -> None:
        first = play(OK, mode="auto")
        first.session.close()
        write(".claude/settings.json", {"permissions": {"disableAutoMode": "disable"}})
        assert play(OK, resume=first.session.id).of(SessionStarted)[0].mode == "default"

    def test_plan_mode_is_not_undone_by_the_projects_own(self, play, write: Write) -> None:
        """What the session had stands above the project's default, as the caller's word did."""
        first = play(OK, mode="dontAsk")
        first.session.close()
        write(".claude/settings.json", {"permissions": {"defaultMode": "acceptEdits"}})
        assert play(OK, resume=first.session.id).of(SessionStarted)[0].mode == "dontAsk"


class TestModel:
    def script(self, folder: Path, name: str) -> str:
        file = folder / f"{name}.jsonl"
        file.write_text(json.dumps({"text": f"from {name}", "repeat": 0}) + "\n")
        return f"scripted:{file}"

    def say(self, project: Path, model: str | None, **options: object) -> tuple[str, str]:
        with Session(project, model=model, options=Options(trust=True, **options)) as session:
            list(session.run("go"))
            assert session.result is not None
            return session.id, session.result.text

    def test_it_is_had_again_unless_another_is_named(self, project: Path, tmp_path: Path) -> None:
        one, two = self.script(tmp_path, "one"), self.script(tmp_path, "two")
        name, _ = self.say(project, one)
        assert self.say(project, None, resume=name) == (name, "from one")
        assert self.say(project, None, continue_=True) == (name, "from one")
        assert self.say(project, two, resume=name) == (name, "from two")
        assert self.say(project, None, resume=name) == (name, "from two")

    def test_one_that_was_switched_to(self, project: Path, tmp_path: Path) -> None:
        one, two = self.script(tmp_path, "one"), self.script(tmp_path, "two")
        with Session(project, model=one, options=Options(trust=True)) as session:
            session.control.set_model(two)
            list(session.run("go"))
        assert self.say(project, None, resume=session.id)[1] == "from two"

    def test_the_environment_names_another(self, project: Path, tmp_path: Path, monkeypatch) -> None:
        name, _ = self.say(project, self.script(tmp_path, "one"))
        monkeypatch.setenv("CHECKREIN_MODEL__DEFAULT", self.script(tmp_path, "two"))
        assert self.say(project, None, resume=name)[1] == "from two"

    def test_one_that_is_gone(self, project: Path, tmp_path: Path, write: Write) -> None:
        name, _ = self.say(project, self.script(tmp_path, "one"))
        (tmp_path / "one.jsonl").unlink()
        home = Path.home() / ".claude"
        home.mkdir()
        (home / "settings.json").write_text(json.dumps({"model": self.script(tmp_path, "two")}))
        with Session(project, options=Options(trust=True, resume=name)) as session:
            notices = [event.text for event in session.run("go") if isinstance(event, Notice)]
        assert session.result is not None
        assert session.result.text == "from two"
        assert any("The session had the model scripted:" in text for text in notices)

    def test_a_session_that_can_not_begin_is_left_free(self, project: Path, tmp_path: Path) -> None:
        from checkrein.base.errors import CheckreinError

        one = self.script(tmp_path, "one")
        name, _ = self.say(project, one)
        script = tmp_path / "one.jsonl"
        text = script.read_text()
        script.unlink()
        with pytest.raises(CheckreinError):
            self.say(project, None, resume=name)
        script.write_text(text)
        assert self.say(project, None, resume=name)[1] == "from one"


def test_a_start_hook_hears_the_title(play, write: Write, project: Path) -> None:
    hook = {"type": "command", "command": "cat >> told; echo >> told"}
    write(".claude/settings.json", {"hooks": {"SessionStart": [{"hooks": [hook]}]}})
    first = play(OK, title="My work")
    first.session.close()
    play(OK, resume=first.session.id)
    told = [json.loads(line) for line in (project / "told").read_text().splitlines() if line]
    assert [(t["source"], t.get("session_title")) for t in told] == [
        ("startup", "My work"),
        ("resume", "My work"),
    ]


def test_nothing_to_continue_is_said_and_a_session_starts(play) -> None:
    run = play(OK, continue_=True)
    assert run.of(SessionStarted)[0].source == "startup"
    assert any("no session to continue" in notice.text for notice in run.of(Notice))
    assert run.result.text == "ok"
    run.session.close()
    again = play(OK, continue_=True)
    assert again.session.id == run.session.id
    assert not any("no session to continue" in notice.text for notice in again.of(Notice))


def test_grants_of_a_skill_do_not_come_back(project: Path, write: Write) -> None:
    write(".claude/skills/s/SKILL.md", "---\ndescription: d\nallowed-tools: Bash(touch *)\n---\nTEXT")

    def run(*turns: Turn, **options: object) -> tuple[str, list[bool]]:
        settings = Options(trust=True, allowed=("Skill",), **options)
        with Session(project, model=ScriptedModel(turns), options=settings) as session:
            events = list(session.run("go"))
        return session.id, [event.refused for event in events if isinstance(event, ToolFinished)]

    name, refused = run(load("s"), bash("touch a"), OK)
    assert refused == [False, False]
    assert run(bash("touch b"), OK, resume=name)[1] == [True]

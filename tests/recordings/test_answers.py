"""Answers that carry permissions, and messages that are sent into a running turn."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checkrein.llm.port import Cancel, Message
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.policy.updates import AddRules, Update
from checkrein.runtime.session.control import (
    Answer,
    Question,
    ScriptedAnswerer,
    ScriptedAsker,
)
from checkrein.runtime.session.conversation import Child
from checkrein.runtime.session.events import (
    Event,
    ModeChanged,
    Notice,
    PermissionsChanged,
    PromptAccepted,
    ToolFinished,
    ToolStarted,
)
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import Call, ScriptedModel, Turn

Write = Callable[[str, object], Path]
DONE = Turn(text="done")


def does(*calls: Call) -> Turn:
    return Turn(tool_calls=calls)


def bash(command: str) -> Call:
    return Call("Bash", {"command": command})


def allowing(*updates: dict[str, Any]) -> Answer:
    return Answer(verdict="allow", updated_permissions=tuple(msgspec.convert(u, Update) for u in updates))


def rules(
    *names: str, kind: str = "addRules", behavior: str = "allow", to: str = "session"
) -> dict[str, Any]:
    listed = [{"toolName": "Bash", "ruleContent": name} for name in names]
    return {"type": kind, "rules": listed, "behavior": behavior, "destination": to}


def mode(name: str, to: str = "session") -> dict[str, Any]:
    return {"type": "setMode", "mode": name, "destination": to}


def marks(session: Session) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in session.conversation.recorder.writer.path.read_text().splitlines()]
    return [
        line["checkrein"] for line in lines if (line.get("checkrein") or {}).get("event") == "permissions"
    ]


class TestAnswers:
    def test_a_rule_for_the_session(self, play: Any, project: Path) -> None:
        asker = ScriptedAsker(allowing(rules("touch *")))
        run = play(does(bash("touch b")), does(bash("touch c")), DONE, asker=asker)
        assert [call.is_error for call in run.tools] == [False, False]
        assert len(asker.questions) == 1
        (changed,) = run.of(PermissionsChanged)
        assert (changed.by, changed.file) == ("asker", None)
        assert isinstance(changed.update, AddRules)
        (mark,) = marks(run.session)
        assert (mark["update"]["type"], mark["by"], mark["file"]) == ("addRules", "asker", None)
        assert not (project / ".claude").exists()

    def test_it_settles_the_neighbours_that_wait(self, play: Any) -> None:
        asker = ScriptedAsker(allowing(rules("touch *")))
        run = play(does(*(bash(f"touch x{n}") for n in range(4))), DONE, asker=asker)
        assert not any(call.is_error for call in run.tools)
        assert len(asker.questions) == 1

    def test_the_question_offers_what_helps(self, play: Any) -> None:
        asker = ScriptedAsker()
        play(does(bash("touch zz && echo hi")), DONE, asker=asker)
        kinds = [type(one).__name__ for one in asker.questions[0].suggestions]
        assert kinds == ["AddRules", "AddDirectories", "SetMode"]

    def test_its_own_suggestion_silences_the_next_question(self, play: Any) -> None:
        class Always:
            asked = 0

            def ask(self, question: Question, cancel: Cancel) -> Answer:
                self.asked += 1
                first = question.suggestions[:1]
                return Answer(verdict="allow", updated_permissions=first)

        asker = Always()
        run = play(does(bash("make x")), does(bash("make x y")), DONE, asker=asker)
        assert asker.asked == 1
        assert len(run.tools) == 2

    @pytest.mark.parametrize(
        ("destination", "name"),
        [
            ("localSettings", "settings.local.json"),
            ("projectSettings", "settings.json"),
        ],
    )
    def test_a_rule_that_is_kept(
        self, play: Any, write: Write, project: Path, destination: str, name: str
    ) -> None:
        file = write(f".claude/{name}", {"model": "x", "permissions": {"allow": ["Read"]}})
        asker = ScriptedAsker(allowing(rules("touch *", to=destination)))
        run = play(does(bash("touch b")), does(bash("touch c")), DONE, asker=asker)
        assert len(asker.questions) == 1
        assert json.loads(file.read_text()) == {
            "model": "x",
            "permissions": {"allow": ["Read", "Bash(touch *)"]},
        }
        (changed,) = run.of(PermissionsChanged)
        assert changed.file == str(file)
        second = run.tools[1]
        line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if "touch" in text)
        assert (second.rule, second.origin.file, second.origin.line) == ("Bash(touch *)", str(file), line)

    def test_the_next_prompt_does_not_complain_of_it(self, play: Any, write: Write) -> None:
        write(".claude/settings.json", {"permissions": {"allow": ["Read"]}})
        asker = ScriptedAsker(allowing(rules("touch *", to="projectSettings")))
        run = play(does(bash("touch b")), DONE, does(bash("touch c")), DONE, asker=asker)
        events = list(run.session.run("again"))
        assert [event.text for event in events if isinstance(event, Notice)] == []
        assert len(asker.questions) == 1

    def test_user_settings(self, play: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "config"))
        asker = ScriptedAsker(allowing(rules("touch *", to="userSettings"), mode("plan", "userSettings")))
        play(does(bash("touch b")), DONE, asker=asker)
        written = json.loads((tmp_path / "config" / "settings.json").read_text())
        assert written == {"permissions": {"allow": ["Bash(touch *)"], "defaultMode": "plan"}}

    def test_user_settings_behind_a_link(
        self, play: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        """The link stays, and a rule that is removed from the file ends in the session too."""
        config, target = tmp_path / "config", tmp_path / "dotfiles.json"
        config.mkdir()
        target.write_text('{"permissions": {"allow": ["Bash(make *)"]}}')
        (config / "settings.json").symlink_to(target)
        monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(config))
        asker = ScriptedAsker(
            allowing(
                rules("make *", kind="removeRules", to="userSettings"), rules("touch *", to="userSettings")
            )
        )
        run = play(does(bash("touch b")), does(bash("make x")), DONE, asker=asker)
        assert [call.refused for call in run.tools] == [False, True]
        assert (config / "settings.json").is_symlink()
        assert json.loads(target.read_text()) == {"permissions": {"allow": ["Bash(touch *)"]}}

    def test_a_broken_file_is_left_alone(self, play: Any, write: Write) -> None:
        file = write(".claude/settings.local.json", "{ nope")
        asker = ScriptedAsker(allowing(rules("touch *", to="localSettings")))
        run = play(does(bash("touch b")), does(bash("touch c")), DONE, asker=asker)
        assert file.read_text() == "{ nope"
        assert any("is not JSON" in notice.text for notice in run.of(Notice))
        assert len(asker.questions) == 1

    def test_a_link_of_the_project_is_not_followed(self, play: Any, project: Path, tmp_path: Path) -> None:
        target = tmp_path / "elsewhere.json"
        target.write_text("{}")
        (project / ".claude").mkdir()
        (project / ".claude" / "settings.json").symlink_to(target)
        asker = ScriptedAsker(allowing(rules("touch *", to="projectSettings")))
        run = play(does(bash("touch b")), DONE, asker=asker)
        assert target.read_text() == "{}"
        assert any("symbolic link" in notice.text for notice in run.of(Notice))

    def test_a_mode(self, play: Any) -> None:
        asker = ScriptedAsker(allowing(mode("acceptEdits")))
        run = play(does(bash("touch b")), does(bash("touch c")), DONE, asker=asker)
        assert len(asker.questions) == 1
        assert [event.mode for event in run.of(ModeChanged)] == ["acceptEdits"]

    def test_a_mode_that_is_closed(self, play: Any) -> None:
        asker = ScriptedAsker(allowing(mode("bypassPermissions")), Answer(verdict="deny"))
        run = play(does(bash("touch b")), does(bash("touch c")), DONE, asker=asker)
        assert [call.refused for call in run.tools] == [False, True]
        assert any("is not available" in notice.text for notice in run.of(Notice))
        assert run.of(PermissionsChanged) == []

    def test_a_mode_that_settings_switch_off(self, play: Any, write: Write) -> None:
        write(".claude/settings.json", {"permissions": {"disableBypassPermissionsMode": "disable"}})
        asker = ScriptedAsker(allowing(mode("bypassPermissions")), Answer(verdict="deny"))
        run = play(does(bash("touch b")), does(bash("touch c")), DONE, asker=asker, allow_bypass=True)
        run.session.control.set_mode("bypassPermissions")
        assert [call.refused for call in run.tools] == [False, True]
        assert run.session.conversation.gate.mode == "default"

    def test_a_deny_is_not_loosened(self, play: Any, write: Write) -> None:
        file = write(".claude/settings.local.json", {"permissions": {"deny": ["Bash(touch c*)"]}})
        gone = rules("touch c*", kind="removeRules", behavior="deny", to="localSettings")
        asker = ScriptedAsker(allowing(gone, rules("touch *")))
        run = play(does(bash("touch b")), does(bash("touch c")), DONE, asker=asker)
        assert [call.refused for call in run.tools] == [False, True]
        assert json.loads(file.read_text())["permissions"]["deny"] == []

    def test_a_deny_for_the_call_itself(self, play: Any, project: Path) -> None:
        asker = ScriptedAsker(allowing(rules("touch *", behavior="deny")))
        run = play(does(bash("touch b")), DONE, asker=asker)
        assert run.tools[0].refused
        assert not (project / "b").exists()

    def test_only_managed_rules(self, project: Path, tmp_path: Path) -> None:
        managed = tmp_path / "managed"
        managed.mkdir()
        (managed / "managed-settings.json").write_text('{"allowManagedPermissionRulesOnly": true}')
        asker = ScriptedAsker(allowing(rules("touch *"), rules("touch *", to="localSettings")))
        model = ScriptedModel([does(bash("touch b")), does(bash("touch c")), DONE])
        loaded = load(str(project), managed_dir=str(managed))
        with Session(loaded, model=model, options=Options(trust=True), asker=asker) as session:
            events = list(session.run("go"))
        assert [event.refused for event in events if isinstance(event, ToolFinished)] == [False, True]
        assert not (project / ".claude").exists()

    def test_an_answer_to_a_child_holds_for_its_parent(self, project: Path) -> None:
        asker = ScriptedAsker(allowing(rules("touch *")))
        model = ScriptedModel([does(bash("touch b")), DONE])
        with Session(project, model=model, options=Options(trust=True), asker=asker) as session:
            view = View(session.conversation.view.project)
            child = session.child(Child(view=view, options=Options(), kind="agent", call="c1"))
            events = list(child.run("go"))
            assert any(isinstance(event, PermissionsChanged) for event in events)
            for one in (session, child):
                found = one.conversation.gate.decide("Bash", {"command": "touch z"}, str(project))
                assert found.verdict == "allow"
            child.close()
        kinds = [type(one).__name__ for one in asker.questions[0].suggestions]
        assert kinds == ["AddRules", "AddDirectories", "SetMode"]

    def test_a_hook_that_answers_a_child_does_not_change_its_parent(
        self, write: Write, project: Path
    ) -> None:
        decision = {"behavior": "allow", "updatedPermissions": [rules("touch *")]}
        write(
            "out.json", {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
        )
        hook = {"hooks": [{"type": "command", "command": "cat out.json"}]}
        write(".claude/settings.json", {"hooks": {"PermissionRequest": [hook]}})
        model = ScriptedModel([does(bash("touch b")), DONE])
        options = Options(trust=True)
        with Session(project, model=model, options=options, asker=ScriptedAsker()) as session:
            before = session.conversation.gate.policy
            view = View(session.conversation.view.project)
            child = session.child(Child(view=view, options=Options(), kind="agent", call="c1"))
            events = list(child.run("go"))
            assert any(isinstance(event, PermissionsChanged) for event in events)
            assert session.conversation.gate.policy == before
            child.close()

    def test_a_hook_changes_the_session_and_no_file(self, play: Any, write: Write, project: Path) -> None:
        good, strange = rules("touch *", to="localSettings"), {"type": "nope"}
        decision = {"behavior": "allow", "updatedPermissions": [good, strange]}
        output = {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}
        write("out.json", output)
        hook = {"hooks": [{"type": "command", "command": "echo x >> ran; cat out.json"}]}
        write(".claude/settings.json", {"hooks": {"PermissionRequest": [hook]}})
        run = play(does(bash("touch b")), does(bash("touch c")), DONE, asker=ScriptedAsker())
        assert [call.refused for call in run.tools] == [False, False]
        assert (project / "ran").read_text() == "x\n"
        (changed,) = run.of(PermissionsChanged)
        assert (changed.by, changed.file) == ("hook", None)
        assert not (project / ".claude" / "settings.local.json").exists()
        assert any("unknown permission update" in notice.text for notice in run.of(Notice))

    def test_a_hook_sees_the_suggestions(self, play: Any, write: Write, project: Path) -> None:
        hook = {"hooks": [{"type": "command", "command": "cat > seen.json"}]}
        write(".claude/settings.json", {"hooks": {"PermissionRequest": [hook]}})
        play(does(bash("make x")), DONE, asker=ScriptedAsker())
        seen = json.loads((project / "seen.json").read_text())
        assert seen["permission_suggestions"] == [rules("make x *", to="localSettings")]

    def test_hooks_that_answer_at_once_all_count(self, play: Any, write: Write, project: Path) -> None:
        """Calls side by side, each with a rule of its own: no rule is lost."""
        code = (
            "import json,sys; c = json.load(sys.stdin)['tool_input']['file_path']; print(json.dumps("
            "{'hookSpecificOutput': {'hookEventName': 'PermissionRequest', 'decision': {'behavior': 'allow',"
            "'updatedPermissions': [{'type': 'addDirectories', 'directories': [c], "
            "'destination': 'session'}]}}}))"
        )
        write("hook.py", code)
        hook = {"hooks": [{"type": "command", "command": "python3 hook.py"}]}
        write(".claude/settings.json", {"hooks": {"PermissionRequest": [hook]}})
        paths = [f"/nonexistent/{n}" for n in range(8)]
        run = play(does(*(Call("Read", {"file_path": path}) for path in paths)), DONE, asker=ScriptedAsker())
        held = run.session.conversation.gate.policy.layers[0].directories
        assert {one.path for one in held} >= set(paths)


QUESTIONS = {
    "questions": [
        {
            "question": "Which?",
            "header": "Pick",
            "options": [{"label": "A", "description": "a"}, {"label": "B", "description": "b"}],
            "multiSelect": False,
        }
    ]
}


class TestQuestions:
    def ask(self, project: Path, **people: Any) -> ToolFinished:
        model = ScriptedModel([does(Call("AskUserQuestion", QUESTIONS)), DONE])
        with Session(project, model=model, options=Options(trust=True), **people) as session:
            return next(event for event in session.run("go") if isinstance(event, ToolFinished))

    def test_an_answerer_answers(self, project: Path) -> None:
        answerer = ScriptedAnswerer({"answers": {"Which?": "B"}})
        done = self.ask(project, asker=ScriptedAsker(Answer(verdict="allow")), answerer=answerer)
        assert "B" in done.content
        assert answerer.questions[0]["questions"] == QUESTIONS["questions"]

    def test_nobody_answers(self, project: Path) -> None:
        done = self.ask(project, asker=ScriptedAsker(Answer(verdict="allow")))
        assert "No user can answer now" in done.content


def said(message: Message) -> str:
    return json.dumps(msgspec.to_builtins(message))


def run_while(session: Session, prompt: str, at: Callable[[Event], None]) -> list[Event]:
    events = []
    for event in session.run(prompt):
        events.append(event)
        at(event)
    return events


class TestMessages:
    def test_into_a_running_turn(self, project: Path) -> None:
        model = ScriptedModel([does(bash("ls")), DONE])
        with Session(project, model=model, options=Options(trust=True)) as session:

            def at(event: Event) -> None:
                if isinstance(event, ToolStarted):
                    threading.Thread(target=session.control.send, args=("MARK-1",)).start()

            events = run_while(session, "go", at)
            transcript = session.conversation.recorder.writer.path.read_text()
        taken = [event for event in events if isinstance(event, PromptAccepted)]
        assert ["MARK-1" in said(event.message) for event in taken] == [False, True]
        first, second = model.requests
        assert "MARK-1" not in "".join(map(said, first.messages))
        assert said(second.messages[-1]).count("MARK-1") == 1
        assert "tool_result" in said(second.messages[-1])
        assert transcript.count('"content":"MARK-1"') == 1
        assert second.messages[: len(first.messages)] == first.messages

    def test_too_late_for_the_turn(self, project: Path) -> None:
        model = ScriptedModel([DONE, DONE])
        with Session(project, model=model, options=Options(trust=True)) as session:
            list(session.run("go"))
            session.control.send("MARK-1")
            list(session.run("MARK-2"))
            assert session.control.take_message() is None
        text = "".join(map(said, model.requests[1].messages))
        assert (text.count("MARK-1"), text.count("MARK-2")) == (1, 1)
        assert text.index("MARK-1") < text.index("MARK-2")

    def test_given_back(self, project: Path) -> None:
        model = ScriptedModel([DONE])
        with Session(project, model=model, options=Options(trust=True)) as session:
            session.control.send("MARK-1")
            assert session.control.take_message() == "MARK-1"
            list(session.run("go"))
        assert "MARK-1" not in "".join(map(said, model.requests[0].messages))

    def test_a_hook_may_refuse_it(self, project: Path, write: Write) -> None:
        code = "import json,sys; sys.exit('no MARK' and 2 * ('MARK' in json.load(sys.stdin)['prompt']))"
        hook = {"hooks": [{"type": "command", "command": f'python3 -c "{code}"'}]}
        write(".claude/settings.json", {"hooks": {"UserPromptSubmit": [hook]}})
        model = ScriptedModel([does(bash("ls")), DONE])
        with Session(project, model=model, options=Options(trust=True)) as session:

            def at(event: Event) -> None:
                if isinstance(event, ToolStarted):
                    session.control.send("MARK-1")

            events = run_while(session, "go", at)
        assert any(isinstance(event, Notice) and "blocked by hook" in event.text for event in events)
        assert "MARK-1" not in "".join(map(said, model.requests[1].messages))

    def test_it_is_there_after_a_resume(self, project: Path) -> None:
        model = ScriptedModel([does(bash("ls")), DONE])
        with Session(project, model=model, options=Options(trust=True)) as session:
            events = run_while(
                session,
                "go",
                lambda e: session.control.send("MARK-1") if isinstance(e, ToolStarted) else None,
            )
            assert events
            before, name = list(session.conversation.state.messages), session.id
        again = ScriptedModel([DONE])
        with Session(project, model=again, options=Options(trust=True, resume=name)) as session:
            assert session.conversation.state.messages == before

    @settings(
        max_examples=15,
        derandomize=True,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    )
    @given(
        st.lists(st.integers(0, 40), max_size=6),
        st.integers(0, 2),
        st.one_of(st.none(), st.integers(3, 40)),
    )
    def test_each_is_in_the_history_once_or_given_back(
        self, project: Path, moments: list[int], tools: int, leaves: int | None
    ) -> None:
        """Messages at any event of two turns, the first of which may be left early."""
        model = ScriptedModel([*(does(bash("ls")) for _ in range(tools)), DONE, DONE])
        with Session(project, model=model, options=Options(trust=True, persist=False)) as session:
            sent: list[str] = []
            seen = 0

            def at() -> None:
                nonlocal seen
                for _ in range(moments.count(seen)):
                    sent.append(f"MARK-{len(sent)}-")
                    session.control.send(sent[-1])
                seen += 1

            for turn in range(2):
                stream = session.run("go")
                for _event in stream:
                    at()
                    if turn == 0 and leaves is not None and seen >= leaves:
                        break
                stream.close()
            back = []
            while (message := session.control.take_message()) is not None:
                back.append(message)
            history = "".join(map(said, session.conversation.state.messages))
        for mark in sent:
            assert history.count(mark) + back.count(mark) == 1

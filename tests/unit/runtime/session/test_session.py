"""A session and its children: whose events are whose, and how they end."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from checkrein.base.errors import UsageError
from checkrein.llm.port import Cancel, ToolResult, ToolUse
from checkrein.runtime.session.control import Answer, Question
from checkrein.runtime.session.events import (
    AssistantBlock,
    ContextAdded,
    Event,
    Finished,
    HookStarted,
    Notice,
    PromptAccepted,
    ReplyCompleted,
    SessionStarted,
    ToolFinished,
    ToolStarted,
)
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.tools.port import ToolContext, ToolOutput
from checkrein.testing import ScriptedModel
from support.calls import make_tool
from support.files import lay
from support.sessions import call, lines, locks, open_child, open_session


def logged(*events: str) -> dict[str, Any]:
    """Settings whose hooks write down what they hear."""
    hooks = {
        event: [{"hooks": [{"type": "command", "command": f"cat >> heard; echo {event} >> order"}]}]
        for event in events
    }
    return {".claude/settings.json": {"hooks": hooks}}


def order(project: Path) -> list[str]:
    path = project / "order"
    return path.read_text().split() if path.exists() else []


def transcript(session: Session) -> str:
    return session.conversation.recorder.writer.path.read_text()


def test_an_interrupt_ends_hooks_of_the_start(project: Path) -> None:
    hook = {"type": "command", "command": "touch began; sleep 30"}
    lay(project, {".claude/settings.json": {"hooks": {"SessionStart": [{"hooks": [hook]}]}}})
    with open_session(project, {"text": "hi"}) as session:
        began = time.monotonic()
        for event in session.run("go"):
            if isinstance(event, HookStarted):
                threading.Timer(0.3, session.control.interrupt).start()
        assert time.monotonic() - began < 10
    assert session.result is not None
    assert session.result.is_error


def interrupted_in(session: Session, event_name: str) -> float:
    """Run a prompt and interrupt it once a hook of this event runs. Returns the seconds from then on."""
    at = 0.0
    for event in session.run("go"):
        if isinstance(event, HookStarted) and event.event == event_name:
            at = time.monotonic()
            threading.Timer(0.3, session.control.interrupt).start()
    assert at, f"{event_name} did not run"
    return time.monotonic() - at


def hangs(*events: str) -> dict[str, Any]:
    hook = {"type": "command", "command": "sleep 60"}
    return {".claude/settings.json": {"hooks": {event: [{"hooks": [hook]}] for event in events}}}


class TestInterrupts:
    """An interrupt ends a turn in a few seconds, whatever it waits for, and the result says so."""

    def test_in_a_stop_hook(self, project: Path) -> None:
        lay(project, hangs("Stop"))
        with open_session(project, {"text": "hi"}) as session:
            assert interrupted_in(session, "Stop") < 10
        assert session.result is not None
        assert (session.result.subtype, session.result.is_error) == ("error_during_execution", True)

    @pytest.mark.parametrize("event", ["PostCompact", "SessionStart"])
    def test_in_a_hook_of_a_compaction(self, project: Path, event: str) -> None:
        with open_session(project, {"text": "hi"}, {"text": "summary"}) as session:
            list(session.run("go"))
            stuck = threading.Event()
            matcher = "compact" if event == "SessionStart" else None
            session.control.add_hook(event, matcher, lambda payload, tool: {"continue": stuck.wait(60)})
            began = time.monotonic()
            for one in session.run("/compact"):
                if isinstance(one, HookStarted) and one.event == event:
                    threading.Timer(0.3, session.control.interrupt).start()
            stuck.set()
            assert time.monotonic() - began < 12
        assert session.result is not None
        assert session.result.is_error

    def test_in_a_hook_after_a_failure_of_the_model(self, project: Path) -> None:
        lay(project, hangs("StopFailure"))
        with open_session(project, {"fault": {"status": 401}}) as session:
            assert interrupted_in(session, "StopFailure") < 10

    def test_hooks_after_an_interrupted_call_have_little_time(self, project: Path) -> None:
        lay(project, hangs("PostToolUseFailure"))
        with open_session(project, call("Bash", command="sleep 60"), allowed=("Bash",)) as session:
            began = time.monotonic()
            for event in session.run("go"):
                if isinstance(event, ToolStarted):
                    threading.Timer(0.3, session.control.interrupt).start()
            assert time.monotonic() - began < 12
            assert session.result is not None
            assert session.result.is_error

    def test_hooks_of_the_end_have_little_time_after_it(self, project: Path) -> None:
        hook = {"type": "command", "command": "sleep 60", "timeout": 60}
        lay(project, {".claude/settings.json": {"hooks": {"SessionEnd": [{"hooks": [hook]}]}}})
        session = open_session(project, {"text": "hi"})
        for event in session.run("go"):
            if isinstance(event, SessionStarted):
                session.control.interrupt()
        began = time.monotonic()
        session.close()
        assert time.monotonic() - began < 10

    def test_in_the_question_to_the_classifier(self, project: Path) -> None:
        replies = [call("Bash", command="curl https://x.org"), {"fault": {"silent": 60}, "text": "x"}]
        with open_session(project, *replies, mode="auto") as session:
            began = time.monotonic()
            for event in session.run("go"):
                if isinstance(event, ReplyCompleted):
                    threading.Timer(0.5, session.control.interrupt).start()
            assert time.monotonic() - began < 10
        assert session.result is not None
        assert session.result.is_error
        assert session.result.denials == ()


class Deaf:
    """A tool that does not listen to its cancel."""

    def __init__(self) -> None:
        self.began, self.ends = threading.Event(), threading.Event()
        self.tool = make_tool("Deaf", self.work)

    def work(self, input: dict[str, Any], context: ToolContext) -> ToolOutput:
        self.began.set()
        self.ends.wait(60)
        context.emit(Notice("info", "late"))
        return ToolOutput(content="late")


def test_the_turn_goes_on_without_a_tool_that_does_not_listen(project: Path) -> None:
    deaf = Deaf()
    options = Options(trust=True, allowed=("Deaf",))
    model = ScriptedModel([call("Deaf"), {"text": "hi"}])
    with Session(project, model=model, options=options, tools=[deaf.tool]) as session:
        heard: list[Event] = []
        began = time.monotonic()
        for event in session.run("go"):
            heard.append(event)
            if isinstance(event, ToolStarted):
                assert deaf.began.wait(20)
                session.control.interrupt()
        assert 0.5 < time.monotonic() - began < 2
        (finished,) = [event for event in heard if isinstance(event, ToolFinished)]
        assert finished.is_error
        assert "Interrupted by the user" in str(finished.content)
        assert "effect is unknown" in str(finished.content)
        deaf.ends.set()
        heard += session.run("again")
        assert session.result is not None
        assert session.result.text == "hi"
        assert not [event for event in heard if isinstance(event, Notice) and event.text == "late"]


class Raises:
    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def ask(self, question: Question, cancel: Cancel) -> Answer:
        raise self.error


class TestErrorsInTheThreadOfACall:
    REPLIES = (call("Bash", command="touch x"), {"text": "hi"})

    def test_ctrl_c_interrupts_the_turn(self, project: Path) -> None:
        with open_session(project, *self.REPLIES, asker=Raises(KeyboardInterrupt)) as session:
            last = list(session.run("go"))[-1]
            assert isinstance(last, Finished)
            assert last.result.terminal_reason == "aborted_tools"
            again = list(session.run("again"))[-1]
            assert isinstance(again, Finished)
            assert again.result.text == "hi"

    def test_the_calls_have_an_answer_afterwards(self, project: Path) -> None:
        two = {"tool_calls": [{"name": "Bash", "input": {"command": f"touch {n}"}} for n in "ab"]}
        model = ScriptedModel([two, {"text": "hi"}])
        options = Options(trust=True)
        with Session(project, model=model, options=options, asker=Raises(KeyboardInterrupt)) as session:
            list(session.run("go"))
            list(session.run("again"))
        asked, answered = model.requests[-1].messages[1:]
        assert [block.id for block in asked.content if isinstance(block, ToolUse)] == [
            block.tool_use_id for block in answered.content if isinstance(block, ToolResult)
        ]
        assert transcript(session).count('"tool_result"') == 2

    @pytest.mark.parametrize("error", [asyncio.CancelledError, GeneratorExit])
    def test_others_leave_with_a_result(self, project: Path, error: type[BaseException]) -> None:
        with open_session(project, *self.REPLIES, asker=Raises(error)) as session:
            with pytest.raises(error):
                list(session.run("go"))
            assert session.result is not None
            assert session.result.is_error
            assert '"result"' in transcript(session)


class TestEvents:
    def test_first_and_last(self, project: Path) -> None:
        with open_session(project, {"text": "hi"}) as session:
            events = list(session.run("go"))
        assert isinstance(events[0], SessionStarted)
        assert [isinstance(event, Finished) for event in events].count(True) == 1
        assert isinstance(events[-1], Finished)
        assert all(event.agent_id is None and event.parent_call is None for event in events)

    def test_each_is_in_the_transcript_before_it_is_seen(self, project: Path) -> None:
        with open_session(project, call("Bash", command="ls"), {"text": "hi"}) as session:
            for event in session.run("go"):
                if isinstance(event, PromptAccepted | AssistantBlock | ToolFinished):
                    assert event.uuid in transcript(session)
                if isinstance(event, ToolStarted):
                    assert "tool_started" in transcript(session)

    def test_those_of_a_child_say_so(self, project: Path) -> None:
        replies = [call("Bash", command="ls"), {"text": "hi"}]
        with open_session(project, *replies) as parent, open_child(parent, call="call_7") as child:
            events = list(child.run("go"))
            link = child.conversation.link
        assert {type(event) for event in events} >= {
            SessionStarted,
            AssistantBlock,
            ToolStarted,
            ToolFinished,
            Finished,
        }
        assert {(event.agent_id, event.parent_call) for event in events} == {(link.agent_id, "call_7")}

    def test_the_parents_transcript_has_none_of_a_childs_lines(self, project: Path) -> None:
        replies = [{"text": "CHILD-REPLY"}, {"text": "PARENT-REPLY"}]
        with open_session(project, *replies) as parent:
            with open_child(parent) as child:
                for event in child.run("CHILD-PROMPT"):
                    parent._kept(event)  # as when it comes up through a tool of the parent
            list(parent.run("PARENT-PROMPT"))
            assert "CHILD" not in transcript(parent)
            assert "CHILD-REPLY" in transcript(child)
            assert "PARENT" not in transcript(child)

    def test_consumers_hear_everything_and_disturb_nothing(self, project: Path) -> None:
        heard: list[Event] = []

        def broken(event: Event) -> None:
            raise ZeroDivisionError

        with open_session(project, {"text": "hi"}) as session:
            session.consumers += [broken, heard.append]
            events = list(session.run("go"))
        assert heard == events

    def test_a_second_prompt_waits(self, project: Path) -> None:
        with open_session(project, {"text": "one"}, {"text": "two"}) as session:
            running = iter(session.run("go"))
            next(running)
            with pytest.raises(UsageError, match="busy"):
                list(session.run("now"))
            list(running)
            assert list(session.run("again"))[-1].result.text == "two"

    def test_leaving_early_is_an_interruption(self, project: Path) -> None:
        with open_session(project, {"text": "one"}, {"text": "two"}) as session:
            for _ in session.run("go"):
                break
            assert session.result is not None
            assert session.result.is_error
            assert '"result"' in transcript(session)
            assert list(session.run("again"))[-1].result.text == "one", "it can go on"

    def test_a_failure_inside_is_a_result(self, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        with open_session(project, {"text": "one"}) as session:
            monkeypatch.setattr(session.conversation, "settle", lambda: 1 / 0)
            last = list(session.run("go"))[-1]
        assert isinstance(last, Finished)
        assert last.result.is_error
        assert "ZeroDivisionError" in last.result.errors[0]


class TestHooks:
    @pytest.mark.project(logged("SessionStart", "SessionEnd", "UserPromptSubmit", "Stop"))
    def test_a_session_begins_and_ends_once(self, project: Path) -> None:
        with open_session(project, {"text": "a"}, {"text": "b"}) as session:
            list(session.run("go"))
            list(session.run("on"))
        session.close()
        assert order(project) == ["SessionStart", *["UserPromptSubmit", "Stop"] * 2, "SessionEnd"]

    @pytest.mark.project(logged("SessionStart", "SessionEnd"))
    @pytest.mark.parametrize("kind", ["agent", "helper"])
    def test_a_child_is_not_a_session_of_its_own(self, project: Path, kind: str) -> None:
        with open_session(project, {"text": "a"}, {"text": "b"}) as parent:
            with open_child(parent, kind=kind) as child:
                list(child.run("go"))
            assert order(project) == []
            list(parent.run("go"))
        assert order(project) == ["SessionStart", "SessionEnd"]

    @pytest.mark.project(logged("SessionStart", "SessionEnd"))
    def test_a_session_that_never_began_does_not_end(self, project: Path) -> None:
        open_session(project).close()
        assert order(project) == []

    @pytest.mark.project(logged("PreToolUse"))
    def test_hooks_hear_who_calls(self, project: Path) -> None:
        with (
            open_session(project, call("Bash", command="ls"), {"text": "a"}) as parent,
            open_child(parent) as child,
        ):
            list(child.run("go"))
            heard = json.loads((project / "heard").read_text())
            assert heard["agent_id"] == child.conversation.link.agent_id
            assert heard["session_id"] == parent.id

    @pytest.mark.project(logged("Stop", "UserPromptSubmit", "PreToolUse"))
    def test_a_helper_is_heard_of_by_its_calls_alone(self, project: Path) -> None:
        replies = [call("Bash", command="ls"), {"text": "a"}]
        with open_session(project, *replies) as parent, open_child(parent, kind="helper") as child:
            list(child.run("go"))
        assert order(project) == ["PreToolUse"]


class TestClosing:
    def test_twice(self, project: Path) -> None:
        session = open_session(project, {"text": "a"})
        heard: list[str] = []
        session.control.add_hook("SessionEnd", None, lambda payload, call: heard.append("end") or {})  # type: ignore[func-returns-value]
        list(session.run("go"))
        session.close()
        session.close()
        assert (heard, locks()) == (["end"], [])
        with pytest.raises(UsageError, match="closed"):
            list(session.run("again"))
        with pytest.raises(UsageError, match="closed"):
            open_child(session)

    def test_a_child_first(self, project: Path) -> None:
        parent = open_session(
            project, {"text": "a"}, call("Bash", command="echo on"), {"text": "b"}, allowed=("Bash",)
        )
        child = open_child(parent)
        list(child.run("go"))
        child.close()
        child.close()
        assert len(locks()) == 1, "its own transcript is free"
        finished = next(event for event in parent.run("go") if isinstance(event, ToolFinished))
        assert "on" in finished.content, "what they share still works"
        parent.close()
        assert locks() == []

    @pytest.mark.project(logged("SessionEnd", "Stop"))
    def test_a_child_last(self, project: Path) -> None:
        parent = open_session(project, {"text": "a"})
        child = open_child(parent)
        list(child.run("go"))
        parent.close()
        child.close()
        assert locks() == []

    def test_a_child_of_a_closed_session_starts_nothing(self, project: Path) -> None:
        parent = open_session(project, call("Bash", command="touch x"), {"text": "a"}, allowed=("Bash",))
        child = open_child(parent)
        parent.close()
        with pytest.raises(UsageError, match="closed"):
            list(child.run("go"))
        assert not (project / "x").exists()

    def test_a_child_that_runs_ends_with_its_parent(self, project: Path) -> None:
        parent = open_session(
            project,
            call("Bash", command="touch began; sleep 20; touch late"),
            {"text": "a"},
            allowed=("Bash",),
        )
        child = open_child(parent)
        told: list[Event] = []
        turn = threading.Thread(target=lambda: told.extend(child.run("go")))
        turn.start()
        limit = time.monotonic() + 20
        while not (project / "began").exists():
            assert time.monotonic() < limit
            time.sleep(0.01)
        parent.close()
        turn.join(10)
        assert not turn.is_alive()
        assert isinstance(told[-1], Finished)
        assert told[-1].result.is_error

    def test_an_interrupt_reaches_the_children(self, project: Path) -> None:
        with open_session(
            project, call("Bash", command="touch began; sleep 20"), allowed=("Bash",)
        ) as parent:
            child = open_child(parent)
            timer = threading.Timer(0.5, parent.control.interrupt)
            timer.start()
            began = time.monotonic()
            told = list(child.run("go"))
            assert time.monotonic() - began < 15
            assert isinstance(told[-1], Finished)
            assert told[-1].result.terminal_reason.startswith("aborted")

    def test_the_services_end_though_the_hooks_fail(
        self, project: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        session = open_session(project, {"text": "a"})
        list(session.run("go"))
        closed: list[bool] = []
        monkeypatch.setattr(session.conversation.hooks, "close", lambda: 1 / 0)
        monkeypatch.setattr(session.conversation.services.spawner, "close", lambda grace: closed.append(True))
        with pytest.raises(ZeroDivisionError):
            session.close()
        assert (closed, locks()) == ([True], [])


def test_a_child_goes_on_where_it_was(project: Path) -> None:
    with open_session(project, {"text": "one"}, {"text": "two"}) as parent, open_child(parent) as child:
        list(child.run("first"))
        list(child.run("second"))
        said = [
            line["message"]["content"]
            for line in lines(child.conversation.recorder.writer.path)
            if line["type"] == "user"
        ]
        assert said[-2:] == ["first", "second"]
        assert parent.conversation.state.messages == []


def test_what_stands_before_the_prompt_is_said_once(project: Path) -> None:
    with open_session(project, {"text": "one"}, {"text": "two"}) as session:
        session.conversation.backdrop.opening_context.append("MIND THIS")
        first = [event.text for event in session.run("a") if isinstance(event, ContextAdded)]
        second = [event.text for event in session.run("b") if isinstance(event, ContextAdded)]
    assert [("MIND THIS" in text) for text in first] == [True]
    assert second == []

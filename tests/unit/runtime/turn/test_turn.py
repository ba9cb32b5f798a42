"""The stages of one prompt on a conversation."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from checkrein.llm.port import Cancel, Reply, Text, ToolResult, ToolUse, Usage, user
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.channel import drained
from checkrein.runtime.session.control import Answer, ScriptedAsker
from checkrein.runtime.session.events import (
    CacheBreak,
    ContextAdded,
    Event,
    PermissionDenied,
    ReplyCompleted,
    RequestSent,
    ToolFinished,
    ToolStarted,
    Transition,
)
from checkrein.runtime.session.session import Session
from checkrein.runtime.turn.turn import CONTINUE, STRUCTURE, SessionTurn
from support.calls import make_tool
from support.sessions import open_session

R = TypeVar("R")


class Stages:
    """A turn on a session's conversation, and what its stages tell."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.cancel = session.control.begin_turn()
        self.turn = SessionTurn(session.conversation, self.cancel)
        self.told: list[Event] = []
        session.conversation.state.append(user("go"))

    def do(self, stage: Generator[Event, None, R]) -> R:
        return drained(stage, self.told.append)

    def run_tools(self, *calls: ToolUse) -> Transition:
        reply = Reply("m1", "m", calls, "tool_use", Usage())
        self.session.conversation.state.append(reply.message)
        return self.do(self.turn.run_tools(reply))

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.told if isinstance(event, kind)]

    @property
    def said(self) -> str:
        """What was last said to the model."""
        block = self.session.conversation.state.messages[-1].content[-1]
        assert isinstance(block, Text)
        return block.text


@pytest.fixture
def stages(project: Path) -> Iterator[Any]:
    opened: list[Session] = []

    def make(*replies: dict[str, Any], **options: Any) -> Stages:
        opened.append(open_session(project, *replies, **options))
        return Stages(opened[-1])

    yield make
    for session in opened:
        session.close()


def hooks(event: str, command: str) -> dict[str, Any]:
    return {
        ".claude/settings.json": {"hooks": {event: [{"hooks": [{"type": "command", "command": command}]}]}}
    }


def bash(command: str, id: str = "c1") -> ToolUse:
    return ToolUse(id, "Bash", {"command": command})


class TestLimit:
    def test_there_is_none(self, stages: Any) -> None:
        assert stages().turn.limit() is None

    def test_an_interruption(self, stages: Any) -> None:
        made = stages()
        made.session.control.interrupt()
        assert made.turn.limit() == Transition("interrupted", "by the user")

    def test_a_budget_that_is_spent(self, stages: Any) -> None:
        made = stages(budget=Budget(tokens=5))
        made.session.conversation.meter.add("m", Usage(input=9), None)
        assert made.turn.limit() == Transition("limit", "tokens")


class TestPrepare:
    @pytest.mark.parametrize(
        ("step", "words"), [("output_limit", CONTINUE), ("structured_output", STRUCTURE)]
    )
    def test_the_model_is_told_to_go_on(self, stages: Any, step: Any, words: str) -> None:
        made = stages()
        assert made.do(made.turn.prepare(Transition(step))) is None
        (added,) = made.of(ContextAdded)
        assert (added.source, words in added.text, made.said) == (step, True, added.text)

    def test_a_smaller_output(self, stages: Any) -> None:
        made = stages()
        made.do(made.turn.prepare(Transition("window_exceeded", "2048")))
        assert made.session.conversation.request().max_tokens == 2048

    def test_nothing_to_prepare(self, stages: Any) -> None:
        made = stages()
        for name in ("start", "tool_use", "stop_hook", "pause"):
            assert made.do(made.turn.prepare(Transition(name))) is None
        assert made.told == []


class TestAsk:
    def test_a_reply_is_counted_and_kept(self, stages: Any) -> None:
        made = stages({"text": "hi", "usage": {"input": 10, "output": 2}})
        asked = made.do(made.turn.ask())
        assert asked.reply.text == "hi"
        state = made.session.conversation.state
        assert (state.messages[-1].role, state.last.text, state.tokens) == ("assistant", "hi", 12)
        assert made.session.conversation.meter.usage.input == 10
        assert [event.number for event in made.of(RequestSent)] == [1]
        assert len(made.of(ReplyCompleted)) == 1
        assert made.turn.judge(asked) == Transition("done", "end_turn")

    def test_a_refusal_of_the_service(self, stages: Any) -> None:
        made = stages({"fault": {"status": 400, "message": "no such thing"}})
        asked = made.do(made.turn.ask())
        assert asked.reply is None
        assert "no such thing" in made.session.conversation.state.errors[0]
        assert made.turn.judge(asked).name == "failed"

    def test_what_breaks_the_prefix_is_told(self, stages: Any) -> None:
        made = stages({"text": "a"}, {"text": "b"}, {"text": "c"})
        made.do(made.turn.ask())
        made.session.conversation.state.append(user("more"))
        made.do(made.turn.ask())
        assert made.of(CacheBreak) == []
        made.session.conversation.services.tools.remove(["Read"])
        made.session.conversation.state.append(user("more"))
        made.do(made.turn.ask())
        assert len(made.of(CacheBreak)) == 1, "a tool of the request went away"


class TestTools:
    def test_results_come_in_the_order_of_the_calls(self, stages: Any) -> None:
        made = stages(allowed=("Bash",))
        calls = [bash("sleep 0.3; echo one", "c1"), bash("echo two", "c2"), bash("touch x; echo three", "c3")]
        assert made.run_tools(*calls) == Transition("tool_use", "3 result(s)")
        assert [event.id for event in made.of(ToolFinished)] == ["c1", "c2", "c3"]
        results = made.session.conversation.state.messages[-1].content
        assert [(block.tool_use_id, block.content.strip()) for block in results] == [
            ("c1", "one"),
            ("c2", "two"),
            ("c3", "three"),
        ]

    def test_what_only_reads_runs_together(self, stages: Any, project: Path) -> None:
        made = stages()
        (project / "a").write_text("x")
        made.run_tools(*(ToolUse(f"c{n}", "Read", {"file_path": "a"}) for n in range(3)))
        kinds = [type(event) for event in made.told if isinstance(event, ToolStarted | ToolFinished)]
        assert kinds.count(ToolStarted) == kinds.count(ToolFinished) == 3

    def test_every_call_is_answered_also_the_refused(self, stages: Any) -> None:
        made = stages(disallowed=("Bash(touch *)",))
        made.run_tools(bash("touch x", "c1"), ToolUse("c2", "Nothing", {}), ToolUse("c3", "Read", {}, "{"))
        results = made.session.conversation.state.messages[-1].content
        assert [(block.tool_use_id, block.is_error) for block in results] == [
            (f"c{n}", True) for n in (1, 2, 3)
        ]
        assert len(made.of(PermissionDenied)) == len(made.session.conversation.state.denials) == 1

    def test_a_refusal_may_end_the_turn(self, project: Path) -> None:
        asker = ScriptedAsker(Answer(verdict="deny", message="no", interrupt=True))
        with open_session(project, asker=asker) as session:
            made = Stages(session)
            assert made.run_tools(bash("touch x")) == Transition("interrupted", "by the user")
            last = session.conversation.state.messages[-1].content[0]
            assert isinstance(last, ToolResult), "the call is answered all the same"

    @pytest.mark.project(hooks("PostToolBatch", """echo '{"continue": false, "stopReason": "enough"}'"""))
    def test_a_hook_may_end_the_turn(self, stages: Any) -> None:
        assert stages().run_tools(bash("ls")).name == "hook_stopped"

    @pytest.mark.project({"sub/CLAUDE.md": "LAZY RULES\n", "sub/a.txt": "x"})
    def test_a_file_brings_the_instructions_beside_it(self, stages: Any) -> None:
        made = stages()
        made.run_tools(ToolUse("c1", "Read", {"file_path": "sub/a.txt"}))
        assert any("LAZY RULES" in event.text for event in made.of(ContextAdded))
        made.told.clear()
        made.run_tools(ToolUse("c2", "Read", {"file_path": "sub/a.txt"}))
        assert made.of(ContextAdded) == [], "once"

    def test_structured_output_ends_it(self, stages: Any) -> None:
        made = stages(schema={"type": "object", "properties": {"n": {"type": "integer"}}})
        assert made.run_tools(ToolUse("c1", "StructuredOutput", {"n": 1})) == Transition(
            "done", "structured output"
        )

    def test_a_tool_that_never_raises_to_us(self, stages: Any) -> None:
        made = stages(allowed=("Boom",))

        def boom(*_: Any) -> Any:
            raise ZeroDivisionError("x")

        made.session.conversation.services.tools.add(make_tool("Boom", boom))
        made.do(made.session.conversation.settle())
        assert made.run_tools(ToolUse("c1", "Boom", {})).name == "tool_use"
        (finished,) = made.of(ToolFinished)
        assert finished.is_error


class TestStop:
    def test_without_hooks_it_stops(self, stages: Any) -> None:
        made = stages()
        done = Transition("done", "end_turn")
        assert made.do(made.turn.try_to_stop(done)) == done

    @pytest.mark.project(hooks("Stop", "echo not yet >&2; exit 2"))
    def test_a_hook_objects_until_the_cap(self, stages: Any) -> None:
        made = stages()
        done, steps = Transition("done", "end_turn"), []
        while not steps or steps[-1].name == "stop_hook":
            steps.append(made.do(made.turn.try_to_stop(done)))
            assert len(steps) < 50
        assert steps[-1] == done
        assert len(steps) > 1
        assert "not yet" in made.said


def test_a_cancelled_turn_runs_nothing(stages: Any, project: Path) -> None:
    made = stages(allowed=("Bash",))
    made.session.control.interrupt()
    assert made.run_tools(bash("touch x")) == Transition("interrupted", "by the user")
    assert not (project / "x").exists()
    assert isinstance(made.cancel, Cancel)

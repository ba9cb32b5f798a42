"""What a session does, from the prompt to the one result, with real tools and a scripted model."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest

from checkrein.llm.port import ToolResult
from checkrein.runtime.session.budget import Budget
from checkrein.runtime.session.control import Answer, ScriptedAsker
from checkrein.runtime.session.events import (
    CacheBreak,
    Finished,
    PermissionDenied,
    PromptAccepted,
    RequestSent,
    Retrying,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    Transition,
)
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import Call, Fault, ScriptedModel, Turn

Write = Callable[[str, object], Path]


def bash(command: str, **more: object) -> Call:
    return Call("Bash", {"command": command, **more})


def says(text: str = "done") -> Turn:
    return Turn(text=text)


def does(*calls: Call, text: str = "") -> Turn:
    return Turn(text=text, tool_calls=calls)


def test_a_plain_answer(play) -> None:
    run = play(says("hello"))
    assert run.result.text == "hello"
    assert (run.result.subtype, run.result.is_error, run.result.requests) == ("success", False, 1)
    assert run.transitions == ["start", "done"]


def test_the_order_of_events(play) -> None:
    run = play(does(bash("echo one")), says())
    kinds = [type(event) for event in run.events]
    assert kinds[0] is SessionStarted
    assert kinds[-1] is Finished
    assert kinds.count(Finished) == 1
    assert kinds.index(PromptAccepted) < kinds.index(Transition) < kinds.index(RequestSent)
    assert kinds.index(ToolStarted) < [type(e).__name__ for e in run.events].index("ToolFinished")


def test_a_tool_runs_and_its_result_goes_back(play) -> None:
    run = play(does(bash("echo one")), says())
    assert [tool.content for tool in run.tools] == ["one"]
    results = [b for b in run.model.requests[1].messages[-1].content if isinstance(b, ToolResult)]
    assert [result.content for result in results] == ["one"]
    assert run.result.requests == 2


def test_each_request_extends_the_one_before(play) -> None:
    run = play(does(bash("echo 1")), does(bash("echo 2"), bash("echo 3")), says())
    for before, after in zip(run.model.requests, run.model.requests[1:], strict=False):
        assert after.messages[: len(before.messages)] == before.messages
        assert after.system == before.system
        assert after.tools == before.tools
    assert run.of(CacheBreak) == []


def test_a_denied_call_names_its_rule_file_and_line(play, write: Write, project: Path) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["Bash(touch *)"]}})
    run = play(does(bash("echo x && touch made")), says())
    (tool,) = run.tools
    assert tool.refused
    assert "Bash(touch *)" in tool.content
    assert ".claude/settings.json:4" in tool.content
    assert [denial.rule for denial in run.result.denials] == ["Bash(touch *)"]
    assert run.of(PermissionDenied)[0].by == "rule"
    assert not (project / "made").exists()


def test_headless_a_question_is_a_refusal(play, project: Path) -> None:
    run = play(does(Call("Write", {"file_path": "b.txt", "content": "x"})), says())
    assert run.tools[0].refused
    assert "there is nobody to ask" in run.tools[0].content
    assert not (project / "b.txt").exists()
    assert run.result.subtype == "success"


def test_the_asker_decides(play, project: Path) -> None:
    asker = ScriptedAsker(Answer(verdict="allow"), Answer(verdict="deny", message="not that one"))
    calls = [Call("Write", {"file_path": name, "content": "x"}) for name in ("b.txt", "c.txt")]
    run = play(does(*calls), says(), asker=asker)
    assert [tool.refused for tool in run.tools] == [False, True]
    assert "not that one" in run.tools[1].content
    assert (project / "b.txt").exists()
    assert not (project / "c.txt").exists()


def test_an_askers_rewrite_is_judged_again(play, write: Write, project: Path) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["Bash(rm *)"], "ask": ["Bash(touch *)"]}})
    asker = ScriptedAsker(
        Answer(verdict="allow", updated_input={"command": "rm a.txt"}), Answer(verdict="deny")
    )
    run = play(does(bash("touch b")), says(), asker=asker)
    assert run.tools[0].refused
    assert (project / "a.txt").exists()


def test_an_interrupting_refusal_ends_the_turn(play) -> None:
    asker = ScriptedAsker(Answer(verdict="deny", message="stop", interrupt=True))
    run = play(does(bash("touch b")), says(), asker=asker)
    assert run.transitions[-1] == "interrupted"
    assert len(run.model.requests) == 1


def test_read_only_calls_run_together_and_answer_in_order(play) -> None:
    calls = [bash(f"sleep 0.{3 - n}; echo {n}") for n in range(3)]
    run = play(does(*calls), says())
    steps = [type(event) for event in run.events if isinstance(event, ToolStarted | ToolFinished)]
    assert steps == [ToolStarted] * 3 + [ToolFinished] * 3
    assert [tool.content for tool in run.tools] == ["0", "1", "2"]


def test_writing_calls_run_one_after_the_other(play, project: Path) -> None:
    calls = [bash(f"sleep 0.0{5 - n}; echo {n} >> log") for n in range(4)]
    play(does(*calls), says(), mode="acceptEdits")
    assert (project / "log").read_text() == "0\n1\n2\n3\n"


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (Call("Nope", {}), "There is no tool 'Nope'"),
        (Call("Raed", {"file_path": "a.txt"}), "Did you mean 'Read'"),
        (Call("Bash", {}), "command is missing"),
        (Call("Bash", arguments='{"command": '), "not a JSON object"),
        (Call("Read", {"file_path": "none.txt"}), "does not exist"),
    ],
)
def test_bad_calls_are_answered_not_run(play, call: Call, expected: str) -> None:
    run = play(does(call), says("ok"))
    assert run.tools[0].is_error
    assert expected in run.tools[0].content
    assert run.result.text == "ok"


def test_huge_output_goes_to_a_file(play) -> None:
    run = play(does(bash("head -c 2000000 /dev/zero | tr '\\0' x")), says())
    assert len(run.tools[0].content) < 100_000
    assert not run.tools[0].is_error


class TestFaults:
    def test_retries_and_goes_on(self, play) -> None:
        run = play(Turn(fault=Fault(status=529)), Turn(fault=Fault(status=429, retry_after=1)), says("ok"))
        assert run.result.text == "ok"
        assert len(run.of(Retrying)) == 2

    def test_gives_up_with_a_result(self, play) -> None:
        run = play(*[Turn(fault=Fault(status=500))] * 9)
        assert run.result.is_error
        assert run.result.terminal_reason == "api_error"
        assert run.result.status_code == 500

    def test_a_cut_after_a_whole_call_runs_it_once(self, play, project: Path) -> None:
        cut = Turn(text="hm", tool_calls=(bash("echo x >> log"),), fault=Fault(cut=True, after=8))
        run = play(cut, says("ok"), mode="acceptEdits")
        assert run.result.text == "ok"
        assert (project / "log").read_text() == "x\n"

    def test_malformed_and_silent_streams(self, play) -> None:
        run = play(
            Turn(text="a", fault=Fault(malformed=True)),
            Turn(text="b", fault=Fault(silent=9)),
            says("ok"),
            idle=0.05,
        )
        assert run.result.text == "ok"

    def test_an_empty_reply_ends_with_an_empty_result(self, play) -> None:
        run = play(Turn())
        assert (run.result.subtype, run.result.text) == ("success", "")

    def test_an_unknown_stop_reason_ends_the_turn(self, play) -> None:
        run = play(Turn(text="ok", stop_reason="surprise"))
        assert run.result.text == "ok"
        assert run.result.stop_reason == "surprise"

    def test_a_reply_at_its_limit_is_continued(self, play) -> None:
        run = play(Turn(text="part one ", stop_reason="max_tokens"), says("part two"))
        assert run.transitions == ["start", "output_limit", "done"]
        assert run.result.text == "part one part two"

    def test_authentication_is_not_retried(self, play) -> None:
        run = play(Turn(fault=Fault(status=401)), says("never"))
        assert run.result.is_error
        assert len(run.model.requests) == 1

    def test_fallback_goes_on_with_the_next_model(self, play, tmp_path: Path) -> None:
        script = tmp_path / "second.jsonl"
        script.write_text(json.dumps({"text": "from the second"}) + "\n")
        run = play(*[Turn(fault=Fault(status=529))] * 4, fallback_models=(f"scripted:{script}",))
        assert run.result.text == "from the second"
        assert "fallback" in run.transitions
        assert run.of(CacheBreak)


class TestLimits:
    def test_turns(self, play) -> None:
        run = play(does(bash("echo 1")), does(bash("echo 2")), says(), budget=Budget(requests=1))
        assert run.result.subtype == "error_max_turns"
        assert run.result.terminal_reason == "max_turns"
        assert len(run.model.requests) == 1
        assert run.tools[0].content == "1"

    def test_tokens(self, play) -> None:
        run = play(does(bash("echo 1")), says(), budget=Budget(tokens=10))
        assert run.result.is_error
        assert run.result.terminal_reason == "budget_exhausted"

    def test_seconds(self, play) -> None:
        run = play(does(bash("sleep 0.2")), says(), budget=Budget(seconds=0.1))
        assert run.result.terminal_reason == "budget_exhausted"


class TestStructuredOutput:
    SCHEMA: ClassVar = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}

    def test_it_is_validated_repaired_and_given(self, play) -> None:
        run = play(
            does(Call("StructuredOutput", {"n": "many"})),
            does(Call("StructuredOutput", {"n": 3})),
            schema=self.SCHEMA,
        )
        assert run.tools[0].is_error
        assert run.result.structured_output == {"n": 3}
        assert run.result.subtype == "success"

    def test_it_is_asked_for(self, play) -> None:
        run = play(says("three"), does(Call("StructuredOutput", {"n": 3})), schema=self.SCHEMA)
        assert run.transitions == ["start", "structured_output", "done"]

    def test_it_gives_up(self, play) -> None:
        run = play(*[says("no")] * 9, schema=self.SCHEMA)
        assert run.result.subtype == "error_max_structured_output_retries"
        assert len(run.model.requests) == 6


class TestInterrupt:
    def test_it_kills_the_tool_and_gives_a_result(self, play, project: Path) -> None:
        model = ScriptedModel([does(bash("sleep 30; touch late")), says()])
        session = Session(project, model=model, options=Options(trust=True, mode="bypassPermissions"))
        events = []
        began = time.monotonic()
        for event in session.run("go"):
            events.append(event)
            if isinstance(event, ToolStarted):
                threading.Timer(0.1, session.control.interrupt).start()
        session.close()
        assert time.monotonic() - began < 10
        assert events[-1].result.terminal_reason == "aborted_tools"
        assert not (project / "late").exists()

    def test_it_cuts_the_stream(self, project: Path) -> None:
        model = ScriptedModel([Turn(text="slow", delay=30)])
        with Session(project, model=model) as session:
            threading.Timer(0.1, session.control.interrupt).start()
            events = list(session.run("go"))
        assert events[-1].result.terminal_reason == "aborted_streaming"

    def test_leaving_the_iterator_ends_the_turn_and_the_session_goes_on(self, project: Path) -> None:
        model = ScriptedModel([does(bash("sleep 30")), says("again")])
        with Session(project, model=model, options=Options(mode="bypassPermissions")) as session:
            for event in session.run("go"):
                if isinstance(event, ToolStarted):
                    break
            assert session.result is not None
            assert session.result.is_error
            assert list(session.run("more"))[-1].result.text == "again"


def test_async_iteration(project: Path) -> None:
    import asyncio

    async def main() -> list[object]:
        model = ScriptedModel([does(bash("echo 1")), says("done")])
        async with Session(project, model=model) as session:
            return [event async for event in session.run("go")]

    events = asyncio.run(main())
    assert isinstance(events[-1], Finished)
    assert events[-1].result.text == "done"


def test_run_sync(project: Path) -> None:
    import checkrein

    result = checkrein.run_sync("hi", project, model=ScriptedModel([says("hello")]))
    assert result.text == "hello"


class TestStored:
    def test_continue_and_resume_keep_the_conversation(self, play) -> None:
        first = play(does(bash("echo 1")), says("one"))
        first.session.close()
        second = play(says("two"), prompt="again", resume=first.session.id)
        assert second.session.id == first.session.id
        sent = first.model.requests[-1].messages
        assert second.model.requests[0].messages[: len(sent)] == sent
        second.session.close()
        third = play(says("three"), prompt="more", continue_=True)
        assert third.session.id == first.session.id

    def test_fork_leaves_the_first_alone(self, play) -> None:
        first = play(says("one"))
        first.session.close()
        fork = play(says("two"), resume=first.session.id, fork=True)
        assert fork.session.id != first.session.id
        assert first.session.conversation.recorder.writer.path.exists()

    def test_unsaved_sessions_leave_nothing(self, play) -> None:
        run = play(says(), persist=False)
        identity = run.session.id
        run.session.close()
        assert not list(Path(os.environ["CHECKREIN_HOME"]).rglob(f"*{identity}*"))

    def test_secrets_of_the_settings_never_reach_the_transcript(self, play, write: Write) -> None:
        write(".claude/settings.json", {"env": {"MY_TOKEN": "hunter2hunter2"}})
        run = play(says())
        run.session.close()
        assert "hunter2" not in run.session.conversation.recorder.writer.path.read_text()


def test_a_recorded_session_replays(play, project: Path, tmp_path: Path) -> None:
    cassette = tmp_path / "cassette.jsonl"
    first = play(does(bash("echo one")), says("done"), record=str(cassette))
    first.session.close()
    with Session(project, model=f"replay:{cassette}", options=Options(trust=True)) as session:
        events = list(session.run("go"))
    assert [event.content for event in events if isinstance(event, ToolFinished)] == ["one"]
    assert events[-1].result.text == "done"

"""A session against the clock: who acknowledges, and what stays in the transcript when nobody does."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from checkrein.base.errors import CheckreinError
from checkrein.llm.port import Cancel, ModelEvent, Request
from checkrein.protocol.machine import driver as driving
from checkrein.protocol.machine.driver import Driver
from checkrein.protocol.machine.payloads import Limits
from checkrein.protocol.machine.sessions import load_session
from checkrein.protocol.machine.setup import Setup, WatchedModel, denied
from checkrein.protocol.machine.turn_loop import turn_loop
from checkrein.testing import ScriptedModel


class Deaf:
    """A model that does not listen to the cancellation, and then talks on."""

    def __init__(self) -> None:
        self.end = threading.Event()

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        self.end.wait(20)
        yield from ScriptedModel([{"text": "too late"}]).stream(request, Cancel())


@pytest.fixture
def setup(project: Path, tmp_path: Path) -> Setup:
    return Setup(project=str(project), directory=str(tmp_path / "store"), session_id="s", model="x")


def use(monkeypatch: pytest.MonkeyPatch, model: object) -> None:
    monkeypatch.setattr(driving, "choose_model", lambda setup, project: WatchedModel(model, "m"))  # type: ignore[arg-type]


def script(monkeypatch: pytest.MonkeyPatch, *turns: dict[str, object]) -> ScriptedModel:
    model = ScriptedModel([*turns])
    use(monkeypatch, model)
    return model


def test_no_late_commit_after_an_unacknowledged_cancellation(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    deaf = Deaf()
    use(monkeypatch, deaf)
    looped, _ = turn_loop("go", None, setup, Limits(turn_timeout_seconds=0.4, grace_seconds=0.1))
    assert looped.final_stop_reason == "timeout"
    assert looped.final_cancel_observed is False
    assert looped.suspect is True
    assert looped.persisted_session_path is not None
    before = Path(looped.persisted_session_path).read_bytes()
    deaf.end.set()
    time.sleep(0.3)
    assert Path(looped.persisted_session_path).read_bytes() == before
    loaded, _ = load_session("s", setup.directory, setup.project)
    assert loaded.suspect is not None
    assert loaded.stopped


def test_an_acknowledged_timeout_leaves_a_session_that_can_be_used(
    setup: Setup, monkeypatch: pytest.MonkeyPatch
) -> None:
    script(monkeypatch, {"text": "slow", "delay": 20.0})
    looped, _ = turn_loop("go", None, setup, Limits(turn_timeout_seconds=0.3))
    assert (looped.final_stop_reason, looped.final_cancel_observed) == ("timeout", True)
    script(monkeypatch, {"text": "again"})
    again = Setup(project=setup.project, directory=setup.directory, resume="s", model="x")
    looped, warned = turn_loop("go", None, again, Limits())
    assert (looped.turns[0].output, warned) == ("again", ())


def test_continuation_prompts_are_sent_as_they_are(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    model = script(monkeypatch, {"text": "1"}, {"text": "2"}, {"text": "3"})
    looped, _ = turn_loop("first", "go on", setup, Limits(max_turns=3))
    assert [turn.prompt for turn in looped.turns] == ["first", "go on", "go on"]
    said = [block.text for block in model.requests[-1].messages[-1].content if hasattr(block, "text")]
    assert said[-1:] == ["go on"]
    assert [turn.usage.input_tokens for turn in looped.turns] == sorted(
        turn.usage.input_tokens for turn in looped.turns
    )


def test_without_a_continuation_there_is_one_turn(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, {"text": "1"}, {"text": "2"})
    assert turn_loop("first", None, setup, Limits(max_turns=3))[0].turns_completed == 1


def test_a_turn_over_the_budget_is_not_begun(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    from msgspec.structs import replace

    model = script(monkeypatch, {"text": "1", "usage": {"input": 50, "output": 1}}, {"text": "2"})
    tight = replace(setup, max_budget_tokens=60)
    looped, _ = turn_loop("x", "y" * 80, tight, Limits(max_turns=2))
    assert [turn.stop_reason for turn in looped.turns] == ["completed", "max_budget_reached"]
    assert looped.turns[1].usage == looped.turns[0].usage
    assert len(model.requests) == 1
    assert load_session("s", setup.directory, setup.project)[0].prompt_count == 1


def test_a_passed_deadline_before_the_next_turn(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, {"text": "1", "delay": 0.2}, {"text": "2", "delay": 20.0})
    looped, _ = turn_loop("a", "b", setup, Limits(max_turns=3, timeout_seconds=2.0))
    assert [turn.stop_reason for turn in looped.turns] == ["completed", "timeout"]


def test_a_failed_turn_carries_the_payload_so_far(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, {"text": "1"}, {"fault": {"status": 401, "error": "authentication_error"}})
    with pytest.raises(CheckreinError) as raised:
        turn_loop("a", "b", setup, Limits(max_turns=2))
    error = raised.value
    assert (error.kind, error.error_class, error.operation) == ("authentication_failed", "auth", "ask_model")
    assert error.details["turns"][0]["output"] == "1"
    assert error.details["session_id"] == "s"


def test_refusals_are_in_the_turn_and_in_the_total(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    call = {"name": "Bash", "input": {"command": "mkdir x"}}
    script(monkeypatch, {"tool_calls": [call]}, {"text": "no"}, {"tool_calls": [call]}, {"text": "no"})
    looped, _ = turn_loop("a", "b", setup, Limits(max_turns=2))
    reasons = [denial.reason for denial in looped.permission_denials]
    assert len(reasons) == 2
    assert reasons[0] == reasons[1] == looped.turns[0].permission_denials[0].reason


def test_model_and_mode_are_kept_with_the_session(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, {"text": "1"})
    looped, _ = turn_loop("a", None, setup, Limits())
    assert (looped.model, looped.permission_mode, looped.permission_mode_source) == (
        "m",
        "default",
        "default",
    )
    loaded, _ = load_session("s", setup.directory, setup.project)
    assert loaded.permission_mode == "default"


def test_a_driver_that_was_never_opened_closes(setup: Setup) -> None:
    with Driver(setup, None, 0.1) as driver:
        assert not driver.is_open


def test_denied_tools_are_real_tools() -> None:
    assert denied(("bash",), ("note",)) == ("Bash", "NotebookEdit")
    assert denied(("mcp__db__drop",), ()) == ("mcp__db__drop",)
    for names, prefixes in ((("Bish",), ()), ((), ("zz",)), ((), ("",))):
        with pytest.raises(CheckreinError) as raised:
            denied(names, prefixes)
        assert raised.value.kind == "tool_not_found"


def test_a_denied_tool_is_not_offered(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    from msgspec.structs import replace

    model = script(monkeypatch, {"text": "1"})
    looped, _ = turn_loop("a", None, replace(setup, deny_tools=("Bash",)), Limits())
    assert looped.denied_tools == ("Bash",)
    assert "Bash" not in {tool.name for tool in model.requests[0].tools}


def test_a_compaction_is_told_in_its_turn(setup: Setup, monkeypatch: pytest.MonkeyPatch) -> None:
    script(monkeypatch, {"text": "long " * 2000}, {"text": "A summary."}, {"text": "more"})
    looped, _ = turn_loop("a", "/compact", setup, Limits(max_turns=2))
    assert looped.turns[0].compaction.occurred is False
    assert looped.turns[1].compaction.occurred is True
    assert looped.turns[1].compaction.trigger == "manual"

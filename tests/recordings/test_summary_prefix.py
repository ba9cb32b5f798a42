"""The request for a summary, as a service gets it: the history unchanged, and one more message."""

from __future__ import annotations

import json
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from checkrein.runtime.context.compaction import CLEARED
from checkrein.runtime.session.events import CacheBreak, Compacted
from checkrein.testing import Call, Fault, Match, ScriptedServer, Turn
from support.lines import MODELS, checkrein, service

ASKED = "Write a summary of this conversation"
FULL = {"input": 190_000}


def bash(command: str, **usage: int) -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": command}),), usage=usage)


def summary(text: str = "SUMMARY") -> Turn:
    return Turn(text=text, when=Match(text=ASKED))


def bare(value: Any) -> Any:
    """Without cache marks and limits, which are not part of what the model reads."""
    if isinstance(value, dict):
        return {k: bare(v) for k, v in value.items() if k not in ("cache_control", *LIMITS)}
    return [bare(one) for one in value] if isinstance(value, list) else value


LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


def sent(server: ScriptedServer) -> list[dict[str, Any]]:
    return [bare(json.loads(asked.body)) for asked in server.requests]


@pytest.mark.parametrize("wire", MODELS)
def test_a_summary_extends_the_last_request(project: Path, wire: str) -> None:
    history = "input" if wire == "responses" else "messages"
    calls = [bash(f"seq {n} 4000") for n in range(9)]
    turns = (*calls, bash("seq 10 4000", **FULL), summary(), Turn(text="done"))
    with ScriptedServer(turns) as server:
        words = ("-p", "THE TASK", "--model", MODELS[wire], "--allowedTools", "Bash")
        ran = checkrein(project, *words, env=service(server, CLAUDE_CODE_AUTO_COMPACT_WINDOW="200000"))
        assert ran.status == 0, ran.err
        bodies = sent(server)
    assert len(bodies) == 12
    last, asked, after = bodies[-3:]
    assert {k: v for k, v in asked.items() if k != history} == {k: v for k, v in last.items() if k != history}
    assert asked[history][: len(last[history])] == last[history]
    assert CLEARED not in json.dumps(asked)
    assert ASKED in json.dumps(asked[history][-1])
    assert ASKED not in json.dumps(asked[history][:-1])
    assert asked[history][-1]["role"] == "user"
    assert "3999" in json.dumps(asked[history][-2]), "the newest results are whole, in a message of their own"
    assert "SUMMARY" in json.dumps(after[history])


def breaks(run: Any) -> list[str]:
    return [event.reason for event in run.of(CacheBreak)]


def test_the_only_break_is_the_compaction(play) -> None:
    run = play(*[bash("seq 3000")] * 9, bash("seq 3000", **FULL), summary(), Turn(text="done"))
    for before, after in pairwise(run.model.requests[:-1]):
        assert after.messages[: len(before.messages)] == before.messages
    assert breaks(run) == ["the conversation was compacted (summarised)"]


TOO_LONG = Fault(
    status=400, error="invalid_request_error", message="prompt is too long: 9 tokens > 8 maximum"
)


def test_a_history_that_is_too_long_loses_old_results_then_old_messages(play) -> None:
    refused = Turn(fault=TOO_LONG, when=Match(text=ASKED), repeat=2)
    run = play(*[bash("seq 3000")] * 9, bash("seq 3000", **FULL), refused, summary(), Turn(text="done"))
    asked = [request for request in run.model.requests if ASKED in str(request.messages[-1])]
    assert [CLEARED in str(request.messages) for request in asked[:2]] == [False, True]
    assert len(asked[0].messages) == len(asked[1].messages) > len(asked[2].messages)
    assert breaks(run) == [
        "the history is too long for its summary: old results are left out",
        "the history is too long for its summary: old messages are left out",
        "the conversation was compacted (summarised)",
    ]


def test_what_the_service_refused_is_cut_and_the_rest_stays(play) -> None:
    run = play(*[bash("seq 3000")] * 3, bash("seq 4000"), Turn(fault=TOO_LONG), summary(), Turn(text="done"))
    refused, asked = run.model.requests[-3:-1]
    whole = len(refused.messages) - 1
    assert asked.messages[:whole] == refused.messages[:whole]
    assert len(str(asked.messages[whole])) < 5_000 < len(str(refused.messages[whole]))
    assert breaks(run)[0] == "the service refused the newest message: its summary gets the ends of it"
    assert run.of(Compacted)[0].trigger == "reactive"


def test_another_model_for_the_summary_is_announced(play, tmp_path: Path) -> None:
    script = tmp_path / "second.jsonl"
    script.write_text('{"text": "BY THE OTHER"}\n{"text": "done"}\n')
    busy = Turn(fault=Fault(status=529), when=Match(text=ASKED), repeat=0)
    run = play(bash("seq 2000", **FULL), busy, fallback_models=(f"scripted:{script}",))
    assert breaks(run) == [
        f"the model changed to {script}",
        "the conversation was compacted (summarised)",
    ]


def test_a_budget_for_thinking_fits_into_the_request(play) -> None:
    run = play(bash("seq 3000", **FULL), summary(), Turn(text="done"), thinking=16_000)
    asked = run.model.requests[1]
    assert asked.max_tokens > asked.thinking


def test_an_interrupted_summary_breaks_nothing(play) -> None:
    stalled = Turn(text="S", delay=30, when=Match(text=ASKED))
    run = play(bash("seq 3000"), Turn(text="ok"), stalled, Turn(text="done"), idle=60.0)
    events = []
    for event in run.session.run("/compact"):
        events.append(event)
        if type(event).__name__ == "Compacting" and event.active:
            threading.Timer(0.3, run.session.control.interrupt).start()
    assert run.session.result.is_error
    assert [event.active for event in events if type(event).__name__ == "Compacting"] == [True, False]
    events = list(run.session.run("three"))
    assert run.session.result.text == "done"
    assert not [event for event in events if isinstance(event, CacheBreak)]

"""Compaction in whole sessions: when, what stays, what hooks see, and what happens when it fails."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from checkrein.llm.port import Message, Text, ToolResult
from checkrein.runtime.context.compaction import CLEARED, DROPPED, LAST_PROMPT, SUMMARY_HEAD
from checkrein.runtime.session.events import CacheBreak, Compacted, Notice
from checkrein.runtime.turn.compactor import REFILLS, SUMMARY_FAILURES
from checkrein.testing import Call, Fault, Match, Turn

Write = Callable[[str, object], Path]
FULL = {"input": 190_000}


def bash(command: str = "echo k", **usage: int) -> Turn:
    return Turn(tool_calls=(Call("Bash", {"command": command}),), usage=usage)


def summary(text: str = "SUMMARY") -> Turn:
    return Turn(text=text, when=Match(text="Write a summary of this conversation"))


def texts(messages: tuple[Message, ...]) -> str:
    return "\n".join(b.text for m in messages for b in m.content if isinstance(b, Text))


def opening(messages: tuple[Message, ...], count: int) -> tuple[object, ...]:
    return messages[0].content[:count]


@pytest.fixture
def instructed(write: Write) -> None:
    write("CLAUDE.md", "THE RULES")


def test_it_comes_before_the_window_is_full(play, instructed: None) -> None:
    run = play(bash("seq 3000", **FULL), summary(), Turn(text="done"), prompt="THE TASK")
    assert run.transitions == ["start", "compaction", "done"]
    first, asked, after = run.model.requests
    assert asked.messages[: len(first.messages)] == first.messages
    assert (asked.system, asked.tools) == (first.system, first.tools)
    pinned = [b for b in first.messages[0].content if isinstance(b, Text) and "<system-reminder>" in b.text]
    assert list(opening(after.messages, len(pinned))) == pinned
    said = texts(after.messages)
    assert f"{SUMMARY_HEAD}\n\nSUMMARY" in said
    assert f"{LAST_PROMPT}\nTHE TASK" in said
    (done,) = run.of(Compacted)
    assert (done.trigger, done.stage) == ("auto", "summarised")
    assert done.tokens_before >= 190_000
    assert done.tokens_after < done.tokens_before
    (broke,) = run.of(CacheBreak)
    assert (broke.layer, "compacted" in broke.reason) == ("conversation", True)


def test_a_new_prompt_waits_for_it_too(play) -> None:
    run = play(Turn(text="long", usage=FULL), summary(), Turn(text="done"))
    again = list(run.session.run("next"))
    assert any(isinstance(event, Compacted) for event in again)
    assert run.session.result.text == "done"
    assert "next" in texts(run.model.requests[-1].messages)


def test_old_results_are_cleared_when_that_is_enough(play, write: Write, monkeypatch) -> None:
    monkeypatch.setenv("CLAUDE_CODE_AUTO_COMPACT_WINDOW", "40000")
    big, small = [bash("seq 4000")] * 3, [bash("echo 1")] * 5
    run = play(*big, *small, bash("seq 3", input=33_000), Turn(text="done"))
    (done,) = run.of(Compacted)
    assert done.stage == "results cleared"
    results = [b for m in run.model.requests[-1].messages for b in m.content if isinstance(b, ToolResult)]
    assert [r.content == CLEARED for r in results] == [True] * 3 + [False] * 6


def test_skills_and_instructions_stay_byte_for_byte(play, write: Write, instructed: None) -> None:
    write(".claude/skills/s/SKILL.md", "---\ndescription: d\n---\nFOLLOW THIS $0\n")
    write(".claude/settings.json", {"permissions": {"deny": ["Bash(rm *)"]}})
    load = Turn(tool_calls=(Call("Skill", {"skill": "s", "args": "x"}),))
    turns = []
    for _ in range(3):
        turns += [bash("seq 2000", **FULL), summary(), bash("rm a.txt"), bash("echo a"), bash("echo b")]
    run = play(load, *turns, Turn(text="done"), allowed=("Skill",))
    assert len(run.of(Compacted)) == 3
    after = [r for r in run.model.requests if SUMMARY_HEAD in texts(r.messages[:1])]
    starts = {
        tuple(b for b in r.messages[0].content if "SUMMARY" not in getattr(b, "text", "")) for r in after
    }
    assert len(starts) == 1
    kept = "\n".join(b.text for b in starts.pop() if isinstance(b, Text))
    assert "THE RULES" in kept
    assert "FOLLOW THIS x" in kept
    assert [t.refused for t in run.tools if t.input.get("command") == "rm a.txt"] == [True] * 3


def test_edited_instructions_are_read_again(play, write: Write, instructed: None) -> None:
    run = play(bash("echo 1"), Turn(text="ok"), bash("echo 2", **FULL), summary(), Turn(text="done"))
    write("CLAUDE.md", "OTHER RULES")
    list(run.session.run("two"))
    said = [texts(request.messages) for request in run.model.requests]
    assert "OTHER RULES" in said[2]
    assert said[-1].count("OTHER RULES") == 1
    assert "THE RULES" not in said[-1]


def test_path_rules_and_nested_instructions_come_again(play, write: Write) -> None:
    write("sub/CLAUDE.md", "NESTED")
    write("sub/x.txt", "x")
    read = Turn(tool_calls=(Call("Read", {"file_path": "sub/x.txt"}),))
    full = Turn(tool_calls=(Call("Read", {"file_path": "sub/x.txt"}),), usage=FULL)
    run = play(read, full, summary("S" * 200), read, Turn(text="done"))
    said = [texts(request.messages) for request in run.model.requests]
    assert [text.count("NESTED") for text in said] == [0, 1, 1, 0, 1]


def test_compact_by_hand_with_a_focus(play) -> None:
    run = play(bash("echo one"), Turn(text="ok"), summary("BY HAND"), Turn(text="fine"))
    events = list(run.session.run("/compact the tests"))
    assert "Give special attention to: the tests" in texts(run.model.requests[-1].messages)
    (done,) = [event for event in events if isinstance(event, Compacted)]
    assert done.trigger == "manual"
    list(run.session.run("and now"))
    assert "BY HAND" in texts(run.model.requests[-1].messages)
    assert run.session.result.text == "fine"


def test_nothing_to_compact(play) -> None:
    run = play(Turn(text="never"), prompt="/compact")
    assert run.model.requests == []
    assert any("nothing to compact" in notice.text for notice in run.of(Notice))


TOO_LONG = Turn(
    fault=Fault(
        status=400,
        error="invalid_request_error",
        message="prompt is too long: 250000 tokens > 200000 maximum",
    )
)


def test_when_the_service_says_that_it_is_too_long(play) -> None:
    run = play(bash("seq 2000"), TOO_LONG, summary(), Turn(text="done"))
    assert run.transitions == ["start", "tool_use", "prompt_too_long", "done"]
    assert [event.trigger for event in run.of(Compacted)] == ["reactive"]
    assert run.result.text == "done"


def test_a_history_too_long_for_its_own_summary(play) -> None:
    run = play(bash("seq 2000"), TOO_LONG, TOO_LONG, summary("SHORTER"), Turn(text="done"))
    assert "SHORTER" in texts(run.model.requests[-1].messages)
    assert run.result.text == "done"


def test_without_a_summary_the_oldest_part_is_dropped(play, instructed: None) -> None:
    silent = Turn(text="", when=Match(text="Write a summary"))
    run = play(bash("seq 2000", **FULL), silent, Turn(text="done"), prompt="THE TASK")
    (done,) = run.of(Compacted)
    assert done.stage == "truncated"
    said = texts(run.model.requests[-1].messages)
    assert DROPPED in said
    assert "THE RULES" in said
    assert run.result.text == "done"


OVERLOADED = Turn(fault=Fault(status=529), when=Match(text="Write a summary"), repeat=0)


def second(tmp_path: Path, *turns: dict[str, object]) -> str:
    script = tmp_path / "second.jsonl"
    script.write_text("".join(json.dumps(turn) + "\n" for turn in turns))
    return f"scripted:{script}"


def test_another_model_sums_up_when_the_first_can_not(play, tmp_path: Path) -> None:
    other = second(tmp_path, {"text": "BY THE OTHER"}, {"text": "done"})
    run = play(bash("seq 2000", **FULL), OVERLOADED, fallback_models=(other,))
    (done,) = run.of(Compacted)
    assert done.stage == "summarised"
    assert run.result.text == "done"
    asked = [r for r in run.model.requests if "Write a summary" in texts(r.messages[-1:])]
    assert len(asked) == 3
    assert any("Continuing with" in notice.text for notice in run.of(Notice))
    assert run.session.conversation.state.summary_failures == 0
    assert len(run.of(CacheBreak)) == 2
    run.session.close()
    assert "BY THE OTHER" in run.session.conversation.recorder.writer.path.read_text()


def test_when_no_model_is_left_it_counts_as_one_failure(play, tmp_path: Path) -> None:
    busy = {"fault": {"status": 529}, "when": {"text": "Write a summary"}, "repeat": 0}
    other = second(tmp_path, busy, {"text": "done"})
    run = play(bash("seq 2000", **FULL), OVERLOADED, fallback_models=(other,))
    (done,) = run.of(Compacted)
    assert done.stage == "truncated"
    assert run.session.conversation.state.summary_failures == 1
    assert run.result.text == "done"


def test_a_failed_try_that_is_repeated_is_no_failure(play) -> None:
    once = Turn(fault=Fault(status=529), when=Match(text="Write a summary"))
    run = play(bash("seq 2000", **FULL), once, summary("AT LAST"), Turn(text="done"))
    assert [event.stage for event in run.of(Compacted)] == ["summarised"]
    assert run.session.conversation.state.summary_failures == 0


def test_a_person_who_interrupts_the_summary_keeps_the_conversation(play) -> None:
    slow = Turn(text="never", delay=30, when=Match(text="Write a summary"))
    run = play(bash("echo one"), Turn(text="ok"), slow, Turn(text="fine"))
    before = list(run.session.conversation.state.messages)

    def interrupt() -> None:
        while len(run.model.requests) < 3:
            time.sleep(0.01)
        run.session.control.interrupt()

    thread = threading.Thread(target=interrupt)
    thread.start()
    events = list(run.session.run("/compact"))
    thread.join()
    assert not any(isinstance(event, Compacted) for event in events)
    assert run.session.result.terminal_reason.startswith("aborted")
    state = run.session.conversation.state
    assert (state.messages, state.summary_failures) == (before, 0)
    list(run.session.run("go on"))
    assert run.session.result.text == "fine"
    assert run.model.requests[-1].messages[: len(before)] == tuple(before)


def test_a_prompt_that_is_too_long_whatever_is_done_ends_the_turn(play) -> None:
    run = play(bash("seq 2000"), *[TOO_LONG, TOO_LONG, summary()] * (REFILLS + 2))
    assert run.result.is_error
    assert run.result.terminal_reason == "prompt_too_long"
    assert len(run.of(Compacted)) <= REFILLS + 1


def test_after_three_failures_no_summary_is_asked_for(play) -> None:
    silent = Turn(text="", when=Match(text="Write a summary"))
    step = [bash("echo 1", **FULL), silent, bash("echo 2"), bash("echo 3"), bash("echo 4")]
    run = play(*step * SUMMARY_FAILURES, bash("echo 5", **FULL), Turn(text="done"))
    assert [event.stage for event in run.of(Compacted)] == ["truncated"] * (SUMMARY_FAILURES + 1)
    asked = [r for r in run.model.requests if "Write a summary" in texts(r.messages[-1:])]
    assert len(asked) == SUMMARY_FAILURES
    assert run.result.text == "done"


def test_a_window_that_fills_up_at_once_ends_the_turn(play) -> None:
    run = play(*[bash("echo 1", **FULL), summary()] * (REFILLS + 2), Turn(text="never"))
    assert run.result.is_error
    assert run.result.terminal_reason == "prompt_too_long"
    assert len(run.of(Compacted)) == REFILLS


def hooks(**events: str) -> dict[str, object]:
    return {
        "hooks": {
            name: [{"hooks": [{"type": "command", "command": command}]}] for name, command in events.items()
        }
    }


def test_hooks_around_it(play, write: Write, project: Path, instructed: None) -> None:
    tell = 'python3 -c \'import json,sys; e=json.load(sys.stdin); print(e["hook_event_name"], e.get("source") or e.get("load_reason") or e.get("trigger"), file=open("seen","a"))\''  # noqa: E501
    start = f"{tell}; echo FROM THE HOOK"
    write(
        ".claude/settings.json",
        hooks(PreCompact=tell, PostCompact=tell, InstructionsLoaded=tell, SessionStart=start),
    )
    run = play(bash("echo 1", **FULL), summary(), Turn(text="done"))
    assert (project / "seen").read_text().splitlines() == [
        "InstructionsLoaded session_start",
        "SessionStart startup",
        "PreCompact auto",
        "InstructionsLoaded compact",
        "PostCompact auto",
        "SessionStart compact",
    ]
    assert texts(run.model.requests[-1].messages).count("FROM THE HOOK") == 1


def test_hooks_and_mode_are_unaffected(play, write: Write) -> None:
    write(".claude/settings.json", hooks(PreToolUse="echo no touching >&2; exit 2"))
    run = play(bash("echo 1", **FULL), summary(), bash("echo 2"), Turn(text="done"), mode="plan")
    assert [tool.refused for tool in run.tools] == [True, True]
    assert run.session.conversation.gate.mode == "plan"


def test_a_hook_may_forbid_it(play, write: Write) -> None:
    write(".claude/settings.json", hooks(PreCompact="echo not now >&2; exit 2"))
    run = play(bash("echo 1", **FULL), Turn(text="done"))
    assert run.of(Compacted) == []
    assert run.result.text == "done"
    assert any("not now" in notice.text for notice in run.of(Notice))
    forced = play(bash("echo 1"), TOO_LONG, Turn(text="never"))
    assert forced.result.is_error
    assert forced.result.terminal_reason == "prompt_too_long"


@pytest.mark.parametrize(
    ("env", "settings", "compacted"),
    [
        ({}, {}, True),
        ({"DISABLE_AUTO_COMPACT": "1"}, {}, False),
        ({"DISABLE_COMPACT": "1"}, {}, False),
        ({"DISABLE_AUTO_COMPACT": "0"}, {}, True),
        ({}, {"autoCompactEnabled": False}, False),
        ({}, {"autoCompactWindow": 100_000}, True),
        ({"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": "30"}, {}, True),
    ],
)
def test_switches(play, write: Write, monkeypatch, env, settings, compacted: bool) -> None:
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    write(".claude/settings.json", settings)
    tokens = (
        190_000
        if not (settings.get("autoCompactWindow") or "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE" in env)
        else 90_000
    )
    run = play(bash("echo 1", input=tokens), summary(), Turn(text="done"))
    assert bool(run.of(Compacted)) is compacted


def test_a_resumed_session_goes_on_from_the_summary(play) -> None:
    run = play(bash("seq 2000", **FULL), summary("WHAT WAS DONE"), Turn(text="done"))
    run.session.close()
    later = play(Turn(text="ok"), prompt="more", resume=run.session.id)
    before = run.model.requests[-1].messages
    assert later.model.requests[0].messages[: len(before)] == before
    assert later.of(CacheBreak) == []


def test_skills_come_back_in_a_resumed_session(play, write: Write) -> None:
    write(".claude/skills/one/SKILL.md", "---\ndescription: d\n---\nTHE FIRST $0\n")
    write(".claude/commands/two.md", "THE SECOND $0\n")
    write("sub/CLAUDE.md", "NESTED")
    write("sub/x.txt", "x")
    read = Turn(tool_calls=(Call("Read", {"file_path": "sub/x.txt"}),))
    load = Turn(tool_calls=(Call("Skill", {"skill": "one", "args": "x"}),))
    first = play(load, read, Turn(text="ok"), prompt="/two y", allowed=("Skill",))
    first.session.close()
    again = play(read, bash("echo", **FULL), summary(), Turn(text="ok"), resume=first.session.id)
    again.session.close()
    assert texts(again.model.requests[1].messages).count("NESTED") == 1
    kept = texts(again.model.requests[-1].messages)
    assert "THE FIRST x" in kept
    assert "THE SECOND y" in kept
    third = play(bash("echo", **FULL), summary("LATER"), Turn(text="ok"), resume=first.session.id)
    last = texts(third.model.requests[-1].messages)
    assert last.count("THE FIRST x") == 1
    assert last.count("THE SECOND y") == 1
    assert "LATER" in last


def test_a_result_over_its_budget_goes_to_a_file(play, monkeypatch) -> None:
    monkeypatch.setattr("checkrein.runtime.call.host.RESULT_CHARS", 900)
    read = Turn(tool_calls=(Call("Read", {"file_path": "a.txt"}),))
    run = play(bash("seq 1000"), read, Turn(text="done"))
    long, short = run.tools
    assert long.content.startswith("1\n2\n")
    assert long.content.endswith("999\n1000")
    assert len(long.content) < 1_100
    path = long.content.split("the whole is in ")[1].split(" ...]")[0]
    assert Path(path).read_text().splitlines() == [str(n) for n in range(1, 1001)]
    assert "alpha" in short.content
    assert "the whole" not in short.content
    sent = [
        b.content for m in run.model.requests[-1].messages for b in m.content if isinstance(b, ToolResult)
    ]
    assert sent == [long.content, short.content]

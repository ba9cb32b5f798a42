"""Long sessions hold the contracts (6 prefix, 8 pinned part, 9 sums); a turn costs what it cost before."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

from msgspec.structs import replace

from checkrein.base.ids import new_uuid
from checkrein.llm.anthropic_body import encode, encode_message
from checkrein.llm.bodies import MessageBytes
from checkrein.llm.port import (
    BlockCompleted,
    BlockStarted,
    Cancel,
    Finished,
    Message,
    ModelEvent,
    Request,
    Started,
    Text,
    ToolUse,
    Usage,
)
from checkrein.runtime.session.events import CacheBreak, Compacted, Event, Result
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session

Write = Callable[[str, object], Path]
SUMMARY = "Write a summary of this conversation"
FULL_AT = (60, 120, 180)


class Worker:
    """A model that calls a tool in every reply, sums up when it is asked to, and says that its window is full
    at some turns. It keeps each request's bytes and the usage it reported."""

    name = "worker"

    def __init__(
        self, turns: int, full: tuple[int, ...] = (), *, keep: bool = True, reads: bool = False
    ) -> None:
        self.left = turns
        self.full = full
        self.turn = 0
        self.keep = keep
        self.reads = reads
        self.bodies: list[bytes] = []
        self.requests: list[Request] = []
        self.reported: list[Usage] = []
        self.cpu: list[float] = []
        self._kept = MessageBytes(encode_message)

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        self.cpu.append(time.process_time())
        if self.keep:
            self.bodies.append(encode(replace(request, marks=(), max_tokens=1), self._kept))
            self.requests.append(request)
        last = request.messages[-1].content[-1]
        block: Text | ToolUse
        if isinstance(last, Text) and last.text.startswith(SUMMARY):
            block, usage = Text(f"summary {self.turn}"), Usage(input=100, output=7)
        elif self.left == 0:
            block, usage = Text("done"), Usage(input=3, output=2)
        else:
            self.left -= 1
            self.turn += 1
            command = "rm -rf a.txt" if self.turn % 50 == 1 else f"echo {self.turn}"
            block = ToolUse(new_uuid(), "Bash", {"command": command})
            if self.reads:
                block = ToolUse(new_uuid(), "Read", {"file_path": "a.txt"})
            usage = Usage(input=190_000 if self.turn in self.full else 1_000, cache_read=9, output=5)
        self.reported.append(usage)
        yield Started(new_uuid(), "worker")
        called = isinstance(block, ToolUse)
        yield BlockStarted(0, "tool_use" if called else "text")
        yield BlockCompleted(0, block)
        yield Finished("tool_use" if called else "end_turn", usage)


def run(project: Path, model: Worker, prompt: str = "go", **options: object) -> tuple[Session, list[Event]]:
    session = Session(project, model=model, options=Options(trust=True, **options))  # type: ignore[arg-type]
    try:
        return session, list(session.run(prompt))
    finally:
        session.close()


def pinned(message: Message) -> list[bytes]:
    """The blocks that must not change: everything that is not the summary."""
    return [encode_message(Message("user", (b,))) for b in message.content if "summarised" not in str(b)]


def sums(result: Result) -> tuple[int, int]:
    return result.usage.prompt, result.usage.output


def expected(model: Worker) -> tuple[int, int]:
    return sum(u.prompt for u in model.reported), sum(u.output for u in model.reported)


def prepare(write: Write) -> None:
    write("CLAUDE.md", "THE RULES\n" * 20)
    write(".claude/rules/more.md", "MORE RULES")
    write(".claude/skills/s/SKILL.md", "---\ndescription: d\n---\nTHE SKILL")
    write(".claude/settings.json", {"permissions": {"deny": ["Bash(rm *)"]}})


def test_two_hundred_turns_three_compactions_a_resume_and_a_fork(project: Path, write: Write) -> None:
    prepare(write)
    model = Worker(200, FULL_AT)
    session, events = run(project, model, "/s go")
    compactions = [event for event in events if isinstance(event, Compacted)]
    assert len(compactions) == 3

    breaks = [event for event in events if isinstance(event, CacheBreak)]
    assert [broken.layer for broken in breaks] == ["conversation"] * 3
    torn = [i for i, (a, b) in enumerate(pairwise(model.bodies)) if not b.startswith(a[:-2])]
    assert len(torn) == 3
    assert len({body.split(b'"messages":')[0] for body in model.bodies}) == 1

    starts = [pinned(model.requests[i + 1].messages[0]) for i in torn]
    first = pinned(model.requests[0].messages[0])
    opening = [block for block in first if b"<system-reminder>" in block]
    for start in starts:
        assert start[: len(opening)] == opening
        assert start == starts[0]
        assert any(b"THE SKILL" in block for block in start)
        assert any(b"THE RULES" in block for block in start)
    denied = [event for event in events if type(event).__name__ == "PermissionDenied"]
    assert len(denied) == 4
    assert (project / "a.txt").exists()

    assert session.result is not None
    assert sums(session.result) == expected(model)

    resumed = Worker(3)
    later, _ = run(project, resumed, "more", resume=session.id)
    assert resumed.bodies[0].startswith(model.bodies[-1][:-2])
    assert later.result is not None
    assert sums(later.result) == expected(resumed)

    forked = Worker(2)
    fork, _ = run(project, forked, "other", resume=session.id, fork=True)
    assert fork.id != session.id
    assert forked.bodies[0].startswith(resumed.bodies[-1][:-2])
    last = forked.requests[-1].messages
    calls = {b.id for m in last for b in m.content if isinstance(b, ToolUse)}
    assert len(calls) == sum(isinstance(b, ToolUse) for m in last for b in m.content)


GROWTH = 1.5
MEASUREMENTS = 4


def growth(project: Path) -> float:
    """CPU time of a turn near the 500th, as a multiple of one near the 50th: medians of 50 turns, so that a
    collection of garbage does not count. No process is started: that costs more than all the rest."""
    model = Worker(500, keep=False, reads=True)
    run(project, model, persist=False)
    steps = [b - a for a, b in pairwise(model.cpu)]
    assert len(steps) == 500
    return median(steps[450:500]) / median(steps[25:75])


def test_cost_per_turn_does_not_grow(project: Path) -> None:
    """A busy machine can only make one part of a run look dearer than the other, so the least of a few
    measurements is the nearest to the truth; what really grows is dearer in all of them."""
    measured: list[float] = []
    while not measured or (min(measured) > GROWTH and len(measured) < MEASUREMENTS):
        measured.append(growth(project))
    assert min(measured) <= GROWTH, measured

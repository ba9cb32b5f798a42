"""Whatever the conversation: clearing, summing up and truncating give a valid one with the pinned part as it
was."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.llm.port import Block, Message, Text, ToolResult, ToolUse, assistant, user
from checkrein.runtime.context.compaction import (
    CLEARED,
    clear_results,
    estimate,
    spill,
    spill_blocks,
    summary_request,
    truncate,
    with_summary,
)

words = st.text(st.characters(codec="utf-8"), max_size=30)
long = st.one_of(words, st.integers(0, 3000).map(lambda n: "x" * n))
tools = st.sampled_from(["Bash", "Read", "Skill", "ToolSearch"])


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """As a session makes them: the user begins, each reply's calls are answered by the next message."""
    messages = [
        user(*(Text(f"<system-reminder>{draw(words)}") for _ in range(draw(st.integers(0, 2)))), Text("P"))
    ]
    number = 0
    for _ in range(draw(st.integers(0, 8))):
        calls = []
        for _ in range(draw(st.integers(0, 3))):
            number += 1
            calls.append(ToolUse(f"t{number}", draw(tools), {"a": draw(words)}))
        text = [Text(draw(words) or "r")] if not calls or draw(st.booleans()) else []
        messages.append(assistant(*text, *calls))
        results: list[Block] = [ToolResult(call.id, draw(long)) for call in calls]
        notes: list[Block] = [Text(draw(long) or "n")] if not calls or draw(st.booleans()) else []
        messages.append(user(*results, *notes))
    if draw(st.booleans()) and len(messages) > 1:
        messages.append(assistant(Text("end")))
    return tuple(messages)


pins = st.one_of(st.none(), st.lists(words, min_size=1, max_size=3).map(lambda t: user(*map(Text, t))))
actives = st.lists(words.map(Text), max_size=2).map(tuple)


def check(messages: tuple[Message, ...], *, ends_with_user: bool = False) -> None:
    assert messages
    assert [m.role for m in messages] == [("user", "assistant")[i % 2] for i in range(len(messages))]
    assert all(message.content for message in messages)
    if ends_with_user:
        assert messages[-1].role == "user"
    for before, after in zip(messages, (*messages[1:], None), strict=True):
        calls = [b.id for b in before.content if isinstance(b, ToolUse)]
        answers = [b.tool_use_id for b in after.content if isinstance(b, ToolResult)] if after else []
        assert calls == answers
    assert not any(isinstance(block, ToolResult) for block in messages[0].content)


def pinned_bytes(message: Message | None) -> list[bytes]:
    return [msgspec.json.encode(block) for block in message.content] if message else []


@settings(max_examples=70, derandomize=True, deadline=None)
@given(conversations(), pins, st.integers(-10, 4000), actives)
def test_truncating_can_not_fail(
    messages: tuple[Message, ...], pinned: Message | None, budget: int, active: tuple[Text, ...]
) -> None:
    done = truncate(messages, pinned, budget, active)
    check(done.messages, ends_with_user=True)
    opening = pinned_bytes(done.messages[0])
    assert opening[: len(pinned_bytes(pinned))] == pinned_bytes(pinned)
    assert opening[len(pinned_bytes(pinned)) :][: len(active)] == [msgspec.json.encode(b) for b in active]
    kept = [m for m in done.messages[1:] if m in messages]
    assert estimate(kept) <= max(budget, 0)
    assert done.tokens == estimate(done.messages)


@settings(max_examples=70, derandomize=True, deadline=None)
@given(conversations(), st.integers(0, 6))
def test_clearing_keeps_everything_but_old_results(messages: tuple[Message, ...], keep: int) -> None:
    done = clear_results(messages, keep)
    check(done.messages)
    assert len(done.messages) == len(messages)
    assert done.tokens <= estimate(messages)
    names = {b.id: b.name for m in messages for b in m.content if isinstance(b, ToolUse)}
    before = [b for m in messages for b in m.content]
    after = [b for m in done.messages for b in m.content]
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    newest = [b for b in before if isinstance(b, ToolResult)][-keep:] if keep else []
    for old, new in changed:
        assert isinstance(old, ToolResult)
        assert isinstance(new, ToolResult)
        assert new.content == CLEARED
        assert old not in newest
        assert names[old.tool_use_id] not in ("Skill", "ToolSearch")
    assert clear_results(done.messages, keep).messages == done.messages


@settings(max_examples=50, derandomize=True, deadline=None)
@given(conversations(), pins, words, actives)
def test_a_summary_begins_with_the_pinned_part(
    messages: tuple[Message, ...], pinned: Message | None, summary: str, active: tuple[Text, ...]
) -> None:
    done = with_summary(pinned, summary, active, "LAST")
    check(done.messages, ends_with_user=True)
    assert pinned_bytes(done.messages[0])[: len(pinned_bytes(pinned))] == pinned_bytes(pinned)
    asked = summary_request(messages, "focus")
    assert asked[:-1] == messages
    assert asked[-1].role == "user"


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.text(max_size=400), st.integers(30, 300))
def test_a_result_stays_within_its_budget(text: str, limit: int) -> None:
    saved: list[str] = []

    def save(whole: str) -> str:
        saved.append(whole)
        return "/results/x"

    shown = spill(text, save, limit)
    if len(text) <= limit:
        assert shown == text
        assert saved == []
    else:
        assert saved == [text]
        assert "/results/x" in shown
        assert shown.startswith(text[: limit // 3])
        assert len(shown) <= limit + 100
    assert spill_blocks((Text(text),), save, limit) == (Text(shown),)

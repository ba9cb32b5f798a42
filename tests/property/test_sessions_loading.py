"""Whatever happens to a transcript, it loads to a valid conversation and keeps what was acknowledged."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.runtime.store import Conversation, SessionStore, SessionWriter
from checkrein.runtime.store.load import load, outline

MORE = 10 if os.environ.get("CHECKREIN_CAMPAIGN") else 1
"""How many times the examples of CI; the long run is with CHECKREIN_CAMPAIGN=1."""

PROPERTY = settings(max_examples=80 * MORE, deadline=None, derandomize=True)

texts = st.text(min_size=1, max_size=12).filter(lambda text: bool(text.strip()))
# What one call does before the log ends: nothing, start, start and finish.
fates = st.sampled_from(["asked", "started", "finished"])
turns = st.tuples(texts, texts, st.lists(fates, max_size=3), st.booleans())
logs = st.lists(turns, min_size=1, max_size=5)


def violations(messages: tuple[dict[str, Any], ...]) -> list[str]:
    """What the normal form of `sessions.values` forbids."""
    found: list[str] = []
    seen: set[str] = set()
    waiting: list[str] = []
    for at, message in enumerate(messages):
        expected = "user" if at % 2 == 0 else "assistant"
        if message["role"] != expected:
            found.append(f"message {at} is the {message['role']}'s")
        blocks = message["content"]
        if not blocks or not all(isinstance(block, dict) for block in blocks):
            found.append(f"message {at} has no content")
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if results != waiting or [b["type"] for b in blocks[: len(results)]] != ["tool_result"] * len(
            results
        ):
            found.append(f"message {at} answers {results}, not {waiting}")
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if seen.intersection(waiting) or len(set(waiting)) != len(waiting):
            found.append(f"message {at} repeats a call")
        seen.update(waiting)
    return found + (["the last calls are open"] if waiting else [])


def write_log(writer: SessionWriter, log: list[Any], prefix: str = "") -> None:
    for number, (prompt, reply, calls, split) in enumerate(log):
        writer.user(prompt)
        ids = [f"{prefix}call_{number}_{at}" for at in range(len(calls))]
        blocks = [{"type": "text", "text": reply}]
        blocks += [
            {"type": "tool_use", "id": call, "name": "Bash", "input": {"command": call}} for call in ids
        ]
        for part in [[block] for block in blocks] if split else [blocks]:
            writer.assistant({"id": f"{prefix}msg_{number}", "model": "m", "content": part})
        for call, fate in zip(ids, calls, strict=True):
            if fate != "asked":
                writer.tool_started(call, "Bash")
        for call, fate in reversed(list(zip(ids, calls, strict=True))):
            if fate == "finished":
                writer.tool_result(call, f"output of {call}")


@contextmanager
def session(log: list[Any]) -> Iterator[tuple[SessionStore, Path]]:
    with tempfile.TemporaryDirectory() as directory:
        store = SessionStore(Path(directory) / "sessions")
        with store.create(directory, session_id="s") as writer:
            write_log(writer, log)
        yield store, writer.path


def said(conversation: Conversation) -> str:
    return json.dumps(conversation.messages)


def records(data: bytes) -> list[dict[str, Any]]:
    """The whole records of a file; the last one may lack its newline."""
    found = []
    for line in data.split(b"\n"):
        try:
            found.append(json.loads(line))
        except ValueError:
            continue
    return [record for record in found if isinstance(record, dict)]


def assert_kept(path: Path, record: dict[str, Any], conversation: Conversation) -> None:
    """Every block of an acknowledged message is in the conversation, as it was written."""
    assert any(record["uuid"] in sources for sources in conversation.sources), (record, conversation)
    content = record["message"]["content"]
    for block in [{"type": "text", "text": content}] if isinstance(content, str) else content:
        assert any(block in message["content"] for message in conversation.messages), (block, path)


def assert_consistent(path: Path, conversation: Conversation) -> None:
    short = outline(path)
    assert short.message_count == len(conversation.messages)
    assert (short.leaf, short.interrupted) == (conversation.leaf, conversation.interrupted)
    assert not violations(conversation.messages)


@PROPERTY
@given(logs, st.data())
def test_any_cut_loads_and_keeps_every_whole_record(log: list[Any], data: st.DataObject) -> None:
    with session(log) as (_, path):
        whole = path.read_bytes()
        cut = data.draw(st.integers(0, len(whole)))
        path.write_bytes(whole[:cut])
        conversation = load(path)
        assert_consistent(path, conversation)
        started = set()
        for record in records(whole[:cut]):
            if record["type"] in ("user", "assistant"):
                assert_kept(path, record, conversation)
            if record.get("checkrein", {}).get("event") == "tool_started":
                started.add(record["checkrein"]["toolUseId"])
        for call in conversation.interrupted:
            assert call.effect == ("unknown" if call.id in started else "none")
        answered = {
            record["message"]["content"][0]["tool_use_id"]
            for record in records(whole[:cut])
            if record["type"] == "user" and isinstance(record["message"]["content"], list)
        }
        assert started - answered <= {call.id for call in conversation.interrupted}


@PROPERTY
@given(logs, st.data())
def test_a_resumed_cut_stays_what_it_was(log: list[Any], data: st.DataObject) -> None:
    with session(log) as (store, path):
        whole = path.read_bytes()
        path.write_bytes(whole[: data.draw(st.integers(1, len(whole)))])
        first, writer = store.resume("s", path.parent)
        writer.user("and now?")
        writer.close()
        again = load(path)
        assert not violations(again.messages)
        assert not again.interrupted
        blocks = [block for message in first.messages for block in message["content"]]
        after = [block for message in again.messages for block in message["content"]]
        assert after == [*blocks, {"type": "text", "text": "and now?"}]
        path.read_text(encoding="utf-8")  # strict readers must not stumble over the healed tail


@PROPERTY
@given(logs, st.data())
def test_repeated_lines_change_nothing(log: list[Any], data: st.DataObject) -> None:
    with session(log) as (_, path):
        before = load(path)
        lines = path.read_bytes().splitlines(keepends=True)
        again = data.draw(st.lists(st.integers(0, len(lines) - 1), max_size=6))
        at = data.draw(st.integers(0, len(lines)))
        positions = [*range(at), *again, *range(at, len(lines))]
        seen_late = {i for place, i in enumerate(positions) if i not in positions[:place] and i >= at}
        path.write_bytes(b"".join(lines[i] for i in positions))
        after = load(path)
        assert_consistent(path, after)
        if not seen_late.intersection(again):  # only repeats of lines that were already there
            assert after.messages == before.messages
            assert after.usage == before.usage
            assert after.prompt_count == before.prompt_count


@PROPERTY
@given(logs, logs, logs, st.data())
def test_two_writers_at_once_lose_nothing(common: Any, one: Any, two: Any, data: st.DataObject) -> None:
    with session(common) as (store, path):
        start = path.read_bytes()
        tails = []
        for prefix, log in (("a", one), ("b", two)):
            path.write_bytes(start)
            _, writer = store.resume("s", path.parent)
            repaired = len(path.read_bytes())
            write_log(writer, log, prefix)
            writer.close()
            tails.append(path.read_bytes()[repaired:].splitlines(keepends=True))
            tails[-1].insert(0, path.read_bytes()[len(start) : repaired])
        mixed = [start]
        while tails[0] or tails[1]:
            choice = data.draw(st.booleans()) if tails[0] and tails[1] else not tails[0]
            mixed.append(tails[int(choice)].pop(0))
        path.write_bytes(b"".join(mixed))
        conversation = load(path)
        assert_consistent(path, conversation)
        reached = {uuid for sources in conversation.sources for uuid in sources}
        for branch in conversation.branches:
            other = load(path, leaf=branch.leaf)
            assert not violations(other.messages)
            reached |= {uuid for sources in other.sources for uuid in sources}
        written = {r["uuid"] for r in records(b"".join(mixed)) if r["type"] in ("user", "assistant")}
        # The same open calls were answered once by each writer; one answer of them is enough.
        repairs = {r["uuid"] for r in records(b"".join(mixed)) if r.get("checkrein", {}).get("repair")}
        assert written - repairs <= reached


@PROPERTY
@given(logs, st.binary(max_size=40), st.data())
def test_a_damaged_line_costs_only_itself(log: list[Any], noise: bytes, data: st.DataObject) -> None:
    with session(log) as (_, path):
        lines = path.read_bytes().splitlines(keepends=True)
        victim = data.draw(st.integers(0, len(lines) - 1))
        place = data.draw(st.integers(0, len(lines[victim]) - 1))
        keep_newline = data.draw(st.booleans())
        damaged = lines[victim][:place] + noise + (b"\n" if keep_newline else b"")
        path.write_bytes(b"".join([*lines[:victim], damaged, *lines[victim + 1 :]]))
        conversation = load(path)
        assert_consistent(path, conversation)
        reached = {uuid for sources in conversation.sources for uuid in sources}
        reported = {d.origin.line for d in conversation.diagnostics}
        for at, line in enumerate(lines):
            record = json.loads(line)
            if at == victim or record["type"] not in ("user", "assistant"):
                continue
            # A result whose call was in the damaged line has nothing to answer: it is named instead.
            assert record["uuid"] in reached or {at, at + 1, at + 2} & reported


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats()
    | st.sampled_from(["", "a", "b", "user", "text"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "id", "name", "text", "tool_use_id", "input", "x"]), inner, max_size=4
        )
    ),
    max_leaves=8,
)
blocks = st.one_of(
    json_values,
    st.fixed_dictionaries({"type": st.just("tool_use"), "id": st.sampled_from("abc"), "name": st.just("T")}),
    st.fixed_dictionaries({"type": st.just("tool_result"), "tool_use_id": st.sampled_from("abcd")}),
    st.fixed_dictionaries({"type": st.just("text"), "text": st.sampled_from(["", " ", "hello"])}),
)
entries = st.fixed_dictionaries(
    {
        "type": st.sampled_from(
            ["user", "assistant", "system", "checkrein", "custom-title", "tag", "progress", 3]
        ),
        "uuid": st.sampled_from(["u1", "u2", "u3", "u4", "u5", "u6", None, 7]),
        "parentUuid": st.sampled_from(["u1", "u2", "u3", "u4", "gone", None, 1]),
        "message": st.one_of(
            json_values,
            st.fixed_dictionaries(
                {
                    "id": st.sampled_from(["m1", "m2", None]),
                    "content": st.lists(blocks, max_size=4) | st.sampled_from(["", "hi"]),
                    "usage": json_values,
                }
            ),
        ),
    },
    optional={
        "isSidechain": json_values,
        "isMeta": json_values,
        "timestamp": json_values,
        "checkrein": json_values
        | st.fixed_dictionaries(
            {
                "event": st.sampled_from(
                    ["tool_started", "rewound", "state", "result", "checkpoint", "opened"]
                )
            },
            optional={
                "to": st.sampled_from(["u1", "u2", "zz", None, 4]),
                "toolUseId": json_values,
                "state": json_values,
            },
        ),
        "customTitle": json_values,
        "tag": json_values,
        "forkedFrom": json_values,
        "logicalParentUuid": st.sampled_from(["u1", "u5", "gone", 2]),
        "cwd": json_values,
    },
)


@settings(PROPERTY, max_examples=200 * MORE)
@given(st.lists(entries | json_values, max_size=10))
def test_no_content_of_a_file_raises(found: list[Any]) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "s.jsonl"
        path.write_text("".join(json.dumps(entry) + "\n" for entry in found))
        conversation = load(path)
        assert_consistent(path, conversation)
        for branch in conversation.branches:
            assert not violations(load(path, leaf=branch.leaf).messages)


@settings(PROPERTY, max_examples=60)
@given(st.binary(max_size=400))
def test_noise_is_an_empty_conversation_with_a_reason(noise: bytes) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "s.jsonl"
        path.write_bytes(noise)
        conversation = load(path)
        assert_consistent(path, conversation)
        if noise.strip() and not records(noise + b"\n"):
            assert conversation.diagnostics

"""Whatever ids calls have: each wire gets ids that it takes, distinct, the same in every request, and each
result names its call."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.llm import anthropic_body, openai_chat_body, openai_responses_body
from checkrein.llm.bodies import MessageBytes
from checkrein.llm.content import Message, Text, ToolResult, ToolUse
from checkrein.llm.openai_chat_body import ChatDialect
from checkrein.llm.port import BlockCompleted, BlockStarted, CacheMark, Cancel, Request, collect, user
from checkrein.llm.tool_ids import DistinctCalls
from checkrein.testing import Call, ScriptedModel, Turn

WIRES = ["anthropic", "chat", "responses"]
TAKEN = {
    "anthropic": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
    "chat": re.compile(r"[!-~]{1,40}"),
    "responses": re.compile(r"[a-zA-Z0-9_-]{1,64}"),
}
"""What the services accept."""

ids = st.one_of(
    st.sampled_from(
        ["", "a", "call_0", "toolu_01", "functions.Bash:0", "x" * 41, "x" * 65, "é", "a b", "\n"]
    ),
    st.text(max_size=80),
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    """Each reply's calls get their results, in order, in the next message."""
    messages = [user("go")]
    for _ in range(draw(st.integers(1, 5))):
        calls = tuple(ToolUse(draw(ids), "Bash", {"n": n}) for n in range(draw(st.integers(0, 4))))
        messages.append(Message("assistant", (Text("t"), *calls)))
        results = (ToolResult(call.id, f"result {number}") for number, call in enumerate(calls))
        messages.append(Message("user", (*results, Text("on"))))
    return tuple(messages)


def new_bytes(wire: str) -> MessageBytes:
    if wire == "anthropic":
        return MessageBytes(anthropic_body.encode_message)
    if wire == "chat":
        return MessageBytes(openai_chat_body.encode_message)
    return MessageBytes(openai_responses_body.encode_message)


def body(wire: str, messages: tuple[Message, ...], kept: MessageBytes, mark: bool = False) -> Any:
    marks = (CacheMark("messages", -1), CacheMark("messages", 0)) if mark else ()
    request = Request(model="m", messages=messages, marks=marks)
    if wire == "anthropic":
        return json.loads(anthropic_body.encode(request, kept))
    if wire == "chat":
        return json.loads(openai_chat_body.encode(request, kept, ChatDialect()))
    return json.loads(openai_responses_body.encode(request, kept))


def exchanges(wire: str, sent: Any) -> list[tuple[list[str], list[str]]]:
    """The ids of the calls of each reply, and of the results that follow."""
    found: list[tuple[list[str], list[str]]] = [([], [])]
    for kind, id in _ids(wire, sent):
        if kind == "call" and found[-1][1]:
            found.append(([], []))
        found[-1][0 if kind == "call" else 1].append(id)
    return found


def _ids(wire: str, sent: Any) -> list[tuple[str, str]]:
    if wire == "responses":
        known = {"function_call": "call", "function_call_output": "result"}
        return [(known[one["type"]], one["call_id"]) for one in sent["input"] if one["type"] in known]
    found = []
    for message in sent["messages"]:
        if wire == "chat":
            found += [("call", call["id"]) for call in message.get("tool_calls", ())]
            found += [("result", message["tool_call_id"])] if message["role"] == "tool" else []
            continue
        for block in message["content"]:
            if block["type"] == "tool_use":
                found.append(("call", block["id"]))
            elif block["type"] == "tool_result":
                found.append(("result", block["tool_use_id"]))
    return found


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=120, derandomize=True, deadline=None)
@given(messages=conversations())
def test_every_wire_takes_them(wire: str, messages: tuple[Message, ...]) -> None:
    sent = body(wire, messages, new_bytes(wire))
    calls = [id for exchange in exchanges(wire, sent) for id in exchange[0]]
    assert all(TAKEN[wire].fullmatch(id) for id in calls)
    assert len(set(calls)) == len(calls)
    for called, answered in exchanges(wire, sent):
        assert answered == called


@pytest.mark.parametrize("wire", WIRES)
@settings(max_examples=60, derandomize=True, deadline=None)
@given(messages=conversations(), data=st.data())
def test_they_stay_the_same_in_every_request(
    wire: str, messages: tuple[Message, ...], data: st.DataObject
) -> None:
    kept = new_bytes(wire)
    whole = _ids(wire, body(wire, messages, new_bytes(wire)))
    for _ in range(4):  # also after a rewind
        count = data.draw(st.integers(1, len(messages)))
        found = _ids(wire, body(wire, messages[:count], kept, mark=True))
        assert found == whole[: len(found)]


@pytest.mark.parametrize("wire", WIRES)
def test_ids_that_fit_stay(wire: str) -> None:
    call = ToolUse("toolu_01AbC-9", "Bash", {})
    messages = (user("go"), Message("assistant", (call,)), Message("user", (ToolResult(call.id, "r"),)))
    assert _ids(wire, body(wire, messages, new_bytes(wire))) == [("call", call.id), ("result", call.id)]


def test_a_server_of_the_chat_api_gets_its_own_ids_back() -> None:
    call = ToolUse("functions.Bash:0", "Bash", {})
    assert _ids("chat", body("chat", (user("go"), Message("assistant", (call,))), new_bytes("chat"))) == [
        ("call", "functions.Bash:0")
    ]


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.lists(st.lists(ids, max_size=3), min_size=1, max_size=4))
def test_calls_of_a_model_get_ids_of_their_own(replies: list[list[str]]) -> None:
    turns = [Turn(tool_calls=tuple(Call("Bash", id=id) for id in calls)) for calls in replies]
    called: set[str] = set()
    model = DistinctCalls(ScriptedModel(turns), called)
    found: list[str] = []
    for calls in replies:
        events = list(model.stream(Request(model="m", messages=(user("x"),)), Cancel()))
        reply = collect(events)
        assert [e.id for e in events if isinstance(e, BlockStarted)] == [c.id for c in reply.tool_calls]
        assert [e.block for e in events if isinstance(e, BlockCompleted)] == list(reply.content)
        for given_id, call in zip(calls, reply.tool_calls, strict=True):
            assert call.id == given_id or not given_id or given_id in found
            found.append(call.id)
    assert len(set(found)) == len(found)
    assert "" not in found

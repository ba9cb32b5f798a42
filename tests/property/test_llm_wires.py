"""Each wire carries requests and replies without change, apart from what it has no place for."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.llm import anthropic_body, openai_chat_body, openai_responses_body
from checkrein.llm.anthropic import AnthropicModel
from checkrein.llm.bodies import MessageBytes
from checkrein.llm.content import Base64, Block, Image, Message, Text, Thinking, ToolResult, ToolUse, Url
from checkrein.llm.openai_chat import ChatModel
from checkrein.llm.openai_chat_body import ChatDialect
from checkrein.llm.openai_responses import ResponsesModel
from checkrein.llm.port import CacheMark, Cancel, Model, Request, SystemBlock, ToolSpec, collect, user
from checkrein.llm.script import Script
from checkrein.llm.server import ScriptedServer, WireName, read_request

TEXT = st.text(min_size=1, max_size=12)
NAME = st.text("abcXYZ_-", min_size=1, max_size=8)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
OBJECT = st.dictionaries(TEXT, JSON, max_size=3)
IMAGE = st.builds(
    Image,
    st.builds(Base64, st.just("image/png"), st.text("abc+/", max_size=8)) | st.just(Url("https://x/y.png")),
)
USE = st.builds(ToolUse, NAME, NAME, OBJECT)
SIGNATURES = {"anthropic": "c2ln", "responses": "openai-responses:rs_1:c2ln"}


def results(wire: str) -> st.SearchStrategy[ToolResult]:
    rich = st.lists(st.builds(Text, TEXT) | IMAGE, min_size=1, max_size=2).map(tuple)
    content = TEXT if wire == "chat" else TEXT | rich
    failed = st.booleans() if wire == "anthropic" else st.just(False)
    return st.builds(ToolResult, NAME, content, failed)


def messages(wire: str) -> st.SearchStrategy[tuple[Message, ...]]:
    """User and assistant in turns, tool results before other content: what a session is made of."""
    said = st.lists(st.builds(Text, TEXT) | IMAGE, min_size=1, max_size=2)
    if wire == "chat":
        said = st.lists(st.builds(Text, TEXT), min_size=1, max_size=1) | st.tuples(
            st.builds(Text, TEXT), IMAGE
        ).map(list)
    asked = st.tuples(st.lists(results(wire), max_size=2), said).map(lambda parts: (*parts[0], *parts[1]))
    thought: st.SearchStrategy[list[Block]] = st.just([])
    if wire != "chat":
        thought = st.lists(st.builds(Thinking, TEXT, st.just(SIGNATURES[wire])), max_size=1)  # type: ignore[assignment]
    answered = st.tuples(thought, st.lists(st.builds(Text, TEXT), max_size=1), st.lists(USE, max_size=2)).map(
        lambda parts: (*parts[0], *parts[1], *parts[2])
    )
    exchange = st.tuples(asked, answered.filter(bool)).map(
        lambda pair: [Message("user", pair[0]), Message("assistant", pair[1])]
    )
    return st.tuples(st.lists(exchange, max_size=3), asked).map(
        lambda parts: (*(m for pair in parts[0] for m in pair), Message("user", parts[1]))
    )


def requests(wire: str) -> st.SearchStrategy[Request]:
    fields: dict[str, st.SearchStrategy[Any]] = {
        "model": NAME,
        "messages": messages(wire),
        "system": st.lists(st.builds(SystemBlock, TEXT), max_size=1).map(tuple),
        "tools": st.lists(st.builds(ToolSpec, NAME, TEXT, OBJECT), min_size=1, max_size=2).map(tuple),
        "max_tokens": st.integers(1, 10**6),
        "temperature": st.none() | st.sampled_from([0.0, 0.5, 1.0]),
        "effort": st.sampled_from([None, "low", "max"]),
        "tool_choice": st.sampled_from(["auto", "any", "none", "Bash"]),
        "output_schema": st.none() | OBJECT,
        "user_id": st.none() | NAME,
    }
    if wire != "responses":
        fields["stop"] = st.lists(TEXT, max_size=2).map(tuple)
    if wire == "anthropic":
        fields["marks"] = st.lists(
            st.builds(CacheMark, st.sampled_from(["tools"]), st.just(0)), max_size=1
        ).map(tuple)
        fields["thinking"] = st.sampled_from([None, "adaptive", "disabled", 2048])
    else:
        fields["cache_key"] = st.none() | NAME
        fields["parallel_tools"] = st.booleans()
    return st.builds(Request, **fields)


def has_distinct_calls(request: Request) -> bool:
    """Ids that repeat become others; tests/property/test_tool_ids.py has those."""
    ids = [
        block.id for message in request.messages for block in message.content if isinstance(block, ToolUse)
    ]
    return len(ids) == len(set(ids))


def encode(wire: str, request: Request) -> bytes:
    if wire == "anthropic":
        return anthropic_body.encode(request, MessageBytes(anthropic_body.encode_message))
    if wire == "chat":
        dialect = ChatDialect(cache_key=True)
        return openai_chat_body.encode(request, MessageBytes(openai_chat_body.encode_message), dialect)
    return openai_responses_body.encode(request, MessageBytes(openai_responses_body.encode_message))


@pytest.mark.parametrize("wire", ["anthropic", "chat", "responses"])
@settings(max_examples=80, derandomize=True, deadline=None)
@given(data=st.data())
def test_requests_survive_the_wire(wire: WireName, data: st.DataObject) -> None:
    request = data.draw(requests(wire).filter(has_distinct_calls))
    assert read_request(wire, encode(wire, request)) == request


class Play:
    """One endpoint for many scripts: starting one for each example would take most of the time."""

    def __init__(self, wire: str) -> None:
        self.server = ScriptedServer([])
        url = self.server.url
        self.model: Model = AnthropicModel(base_url=url, env={})
        if wire != "anthropic":
            self.model = (ChatModel if wire == "chat" else ResponsesModel)(base_url=f"{url}/v1", env={})

    def __call__(self, turn: dict[str, Any]) -> Any:
        self.server.script = Script([turn])
        return collect(self.model.stream(Request(model="m", messages=(user("x"),)), Cancel()))


@pytest.fixture(scope="module", params=["anthropic", "chat", "responses"])
def play(request: pytest.FixtureRequest) -> Iterator[Play]:
    player = Play(request.param)
    yield player
    player.server.close()


@settings(max_examples=60, derandomize=True, deadline=None)
@given(
    text=st.text(max_size=40),
    thinking=st.text(max_size=20),
    calls=st.lists(st.tuples(NAME, OBJECT), max_size=3),
    chunk=st.integers(0, 5),
)
def test_replies_survive_the_wire(
    play: Play, text: str, thinking: str, calls: list[tuple[str, dict[str, Any]]], chunk: int
) -> None:
    turn = {
        "text": text,
        "thinking": thinking,
        "tool_calls": [{"name": name, "input": value} for name, value in calls],
        "chunk": chunk,
    }
    reply = play(turn)
    assert reply.text == text
    assert "".join(block.thinking for block in reply.content if isinstance(block, Thinking)) == thinking
    assert [(call.name, call.input) for call in reply.tool_calls] == calls
    assert reply.stop_reason == ("tool_use" if calls else "end_turn")

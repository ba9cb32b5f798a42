"""Request bodies: stable bytes, extension from turn to turn, cost that does not grow with the square."""

import json
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from checkrein.llm import anthropic_body, openai_chat_body, openai_responses_body
from checkrein.llm.bodies import MessageBytes
from checkrein.llm.content import (
    Base64,
    Document,
    Image,
    Message,
    RedactedThinking,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
)
from checkrein.llm.openai_chat_body import ChatDialect
from checkrein.llm.port import CacheMark, Request, SystemBlock, ToolSpec, assistant, user

Encode = Callable[[Request], bytes]
PICTURE = Image(Base64("image/png", "iVBORw0K"))
TOOL = ToolSpec("Bash", "Run it.", {"type": "object", "properties": {"command": {"type": "string"}}})


def encoder(wire: str) -> Encode:
    if wire == "anthropic":
        kept = MessageBytes(anthropic_body.encode_message)
        return lambda request: anthropic_body.encode(request, kept)
    if wire == "chat":
        kept = MessageBytes(openai_chat_body.encode_message)
        return lambda request: openai_chat_body.encode(request, kept, ChatDialect())
    kept = MessageBytes(openai_responses_body.encode_message)
    return lambda request: openai_responses_body.encode(request, kept)


@pytest.fixture
def encode(wire: str) -> Encode:
    return encoder(wire)


def body(encode: Encode, request: Request) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(encode(request))
    return value


def conversation(turns: int) -> list[Message]:
    messages = [user("start")]
    for turn in range(turns):
        messages.append(
            assistant(Text(f"step {turn}"), ToolUse(f"c{turn}", "Bash", {"command": f"echo {turn}"}))
        )
        messages.append(user(ToolResult(f"c{turn}", f"out {turn}")))
    return messages


def request(messages: list[Message], **fields: Any) -> Request:
    return Request(model="m", messages=tuple(messages), system=(SystemBlock("sys"),), tools=(TOOL,), **fields)


def test_each_body_extends_the_one_before(encode: Encode) -> None:
    messages = conversation(20)
    bodies = [encode(request(messages[:count])) for count in range(1, len(messages) + 1)]
    for shorter, longer in pairwise(bodies):
        assert longer.startswith(shorter[: -len("]}")])


def test_same_request_same_bytes_whatever_was_kept(wire: str, encode: Encode) -> None:
    messages = conversation(5)
    first = encode(request(messages))
    assert encode(request(messages)) == first
    copies = [msgspec.json.decode(msgspec.json.encode(message), type=Message) for message in messages]
    assert encode(request(copies)) == first
    assert encoder(wire)(request(messages)) == first


def test_other_conversations_do_not_disturb(encode: Encode) -> None:
    one, other = conversation(3), conversation(3)
    expected = encode(request(one))
    for _ in range(3):
        assert encode(request(other[:3])) == encode(request(other[:3]))
        assert encode(request(one)) == expected
    changed = [*one[:2], user("else"), *one[3:]]
    assert b"else" in encode(request(changed))
    assert encode(request(one)) == expected


def test_messages_are_encoded_once() -> None:
    calls: list[Message] = []

    def count(message: Message) -> bytes:
        calls.append(message)
        return b"{}"

    kept = MessageBytes(count)
    messages = conversation(500)
    for end in range(1, len(messages) + 1, 2):
        kept.of(tuple(messages[:end]))
    assert calls == messages


def test_many_turns_are_cheap(encode: Encode) -> None:
    """500 turns with a long history: the last hundred cost little more than the bytes themselves."""
    messages = conversation(500)
    start = time.process_time()
    for end in range(1, len(messages), 2):
        encode(request(messages[:end]))
    assert time.process_time() - start < 2.0


def test_anthropic_marks() -> None:
    encode = encoder("anthropic")
    messages = conversation(2)
    marks = (
        CacheMark("tools"),
        CacheMark("system", 0, "1h"),
        CacheMark("messages"),
        CacheMark("messages", 1),
    )
    value = body(encode, request(messages, marks=marks))
    assert value["tools"][-1]["cache_control"] == {"type": "ephemeral"}
    assert value["system"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert value["messages"][-1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert value["messages"][1]["content"][-1]["cache_control"] == {"type": "ephemeral"}
    assert "cache_control" not in json.dumps(value["messages"][2:4])
    plain = body(encode, request(messages))
    assert "cache_control" not in json.dumps(plain)


def test_anthropic_fields() -> None:
    value = body(
        encoder("anthropic"),
        Request(
            model="m",
            messages=(user("x"),),
            tools=(TOOL,),
            max_tokens=5,
            temperature=0.5,
            thinking=2048,
            thinking_display="summarized",
            effort="high",
            stop=("END",),
            tool_choice="Bash",
            parallel_tools=False,
            output_schema={"type": "object"},
            user_id="u",
            extra={"service_tier": "auto"},
        ),
    )
    assert value["thinking"] == {"type": "enabled", "budget_tokens": 2048, "display": "summarized"}
    assert value["output_config"] == {
        "effort": "high",
        "format": {"type": "json_schema", "schema": {"type": "object"}},
    }
    assert value["tool_choice"] == {"type": "tool", "name": "Bash", "disable_parallel_tool_use": True}
    assert (value["stop_sequences"], value["temperature"], value["max_tokens"]) == (["END"], 0.5, 5)
    assert (value["metadata"], value["service_tier"]) == ({"user_id": "u"}, "auto")
    assert list(value)[-1] == "messages"


def test_anthropic_leaves_out_what_the_api_refuses() -> None:
    messages = (
        user("x", ""),
        assistant(Thinking("foreign", "openai-responses:rs_1:abc"), Thinking("unsigned", ""), Text("")),
        assistant(Thinking("own", "c2ln"), RedactedThinking("zzz"), ToolUse("c", "Bash", {}, broken="{oops")),
        user(ToolResult("c", (Text("see"), PICTURE), is_error=True)),
    )
    value = body(encoder("anthropic"), Request(model="m", messages=messages))
    assert [entry["role"] for entry in value["messages"]] == ["user", "assistant", "user"]
    assert value["messages"][0]["content"] == [{"type": "text", "text": "x"}]
    assert [block["type"] for block in value["messages"][1]["content"]] == [
        "thinking",
        "redacted_thinking",
        "tool_use",
    ]
    assert value["messages"][1]["content"][2] == {"type": "tool_use", "id": "c", "name": "Bash", "input": {}}
    source = {"type": "base64", "media_type": "image/png", "data": "iVBORw0K"}
    (result,) = value["messages"][2]["content"]
    assert result["is_error"] is True
    assert result["content"] == [{"type": "text", "text": "see"}, {"type": "image", "source": source}]


def test_chat_shapes() -> None:
    messages = (
        user("look", PICTURE, Document(Base64("application/pdf", "JVBE"), "a.pdf")),
        assistant(
            Thinking("hm", ""),
            Text("ok"),
            ToolUse("c1", "Bash", {"command": "ls"}),
            ToolUse("c2", "Bash", {}),
        ),
        user(ToolResult("c1", "out"), ToolResult("c2", (Text("pic"), PICTURE)), Text("go on")),
    )
    value = body(
        encoder("chat"),
        request(
            list(messages), tool_choice="any", parallel_tools=False, effort="max", output_schema={"a": 1}
        ),
    )
    system, first, said, one, two, last = value["messages"]
    assert system == {"role": "system", "content": "sys"}
    assert [part["type"] for part in first["content"]] == ["text", "image_url", "file"]
    assert first["content"][1]["image_url"]["url"] == "data:image/png;base64,iVBORw0K"
    assert (said["content"], said["tool_calls"][0]["function"]["arguments"]) == ("ok", '{"command":"ls"}')
    assert "reasoning_content" not in said
    assert (one["role"], one["tool_call_id"], one["content"]) == ("tool", "c1", "out")
    assert (two["tool_call_id"], two["content"]) == ("c2", "pic")
    assert [part["type"] for part in last["content"]] == ["image_url", "text"]
    assert (value["tool_choice"], value["parallel_tool_calls"], value["reasoning_effort"]) == (
        "required",
        False,
        "max",
    )
    assert value["response_format"]["json_schema"]["schema"] == {"a": 1}
    assert value["stream_options"] == {"include_usage": True}


def test_chat_dialects() -> None:
    dialect = ChatDialect("max_completion_tokens", "reasoning_content", cache_key=True)
    kept = MessageBytes(lambda m: openai_chat_body.encode_message(m, "reasoning_content"))
    asked = Request(
        model="m", messages=(user("x"), assistant(Thinking("hm", ""), Text("a"))), cache_key="k", max_tokens=9
    )
    value = json.loads(openai_chat_body.encode(asked, kept, dialect))
    assert (value["max_completion_tokens"], value["prompt_cache_key"]) == (9, "k")
    assert value["messages"][1]["reasoning_content"] == "hm"


def test_responses_shapes() -> None:
    messages = [
        user("look", PICTURE),
        assistant(
            Thinking("sum", "openai-responses:rs_1:secret:with:colons"),
            Thinking("foreign", "c2ln"),
            Text("ok"),
            ToolUse("c1", "Bash", {"command": "ls"}),
        ),
        user(ToolResult("c1", (Text("pic"), PICTURE))),
    ]
    value = body(encoder("responses"), request(messages, effort="low", tool_choice="Bash", cache_key="k"))
    kinds = [item["type"] for item in value["input"]]
    assert kinds == ["message", "reasoning", "message", "function_call", "function_call_output"]
    assert value["input"][1] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "sum"}],
        "encrypted_content": "secret:with:colons",
    }
    assert [part["type"] for part in value["input"][4]["output"]] == ["input_text", "input_image"]
    assert (value["instructions"], value["store"], value["prompt_cache_key"]) == ("sys", False, "k")
    assert value["reasoning"] == {"summary": "auto", "effort": "low"}
    assert value["include"] == ["reasoning.encrypted_content"]
    assert value["tool_choice"] == {"type": "function", "name": "Bash"}
    assert "reasoning" not in body(encoder("responses"), request(messages))

"""The scripted endpoint as the vendors' own clients read it. Runs where these are installed."""

from collections.abc import Iterator

import pytest

from checkrein.llm.server import ScriptedServer

TURN = {
    "thinking": "hm",
    "text": "hello",
    "chunk": 2,
    "tool_calls": [
        {"name": "Bash", "input": {"command": "ls"}, "id": "c1"},
        {"name": "Read", "input": {}, "id": "c2"},
    ],
    "usage": {"input": 7, "output": 11, "cache_read": 5},
    "repeat": 0,
}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer([TURN]) as started:
        yield started


@pytest.mark.parametrize("streamed", [True, False])
def test_anthropic_client(server: ScriptedServer, streamed: bool) -> None:
    anthropic = pytest.importorskip("anthropic")
    client = anthropic.Anthropic(api_key="k", base_url=server.url, max_retries=0)
    asked = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    if streamed:
        with client.messages.stream(**asked) as stream:
            message = stream.get_final_message()
    else:
        message = client.messages.create(**asked)
    assert [block.type for block in message.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert message.content[1].text == "hello"
    assert message.content[2].input == {"command": "ls"}
    assert message.stop_reason == "tool_use"
    assert (message.usage.input_tokens, message.usage.cache_read_input_tokens) == (7, 5)
    assert message.usage.output_tokens == 11


def test_openai_chat_client(server: ScriptedServer) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
    asked = {"model": "m", "messages": [{"role": "user", "content": "hi"}]}
    whole = client.chat.completions.create(**asked)
    assert whole.choices[0].message.tool_calls[0].function.arguments == '{"command":"ls"}'
    chunks = list(
        client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True})
    )
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    calls = [call for c in chunks if c.choices for call in c.choices[0].delta.tool_calls or []]
    assert text == "hello"
    assert [call.id for call in calls if call.id] == ["c1", "c2"]
    assert "".join(call.function.arguments for call in calls if call.index == 0) == '{"command":"ls"}'
    assert chunks[-1].usage.prompt_tokens == 12
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "tool_calls"


def test_openai_responses_client(server: ScriptedServer) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
    whole = client.responses.create(model="m", input="hi")
    assert whole.output_text == "hello"
    with client.responses.stream(model="m", input="hi") as stream:
        for _ in stream:
            pass
        final = stream.get_final_response()
    assert [item.type for item in final.output] == ["reasoning", "message", "function_call", "function_call"]
    assert final.output[2].arguments == '{"command":"ls"}'
    assert final.usage.input_tokens == 12

"""The endpoint as other clients see it: plain answers, token counts, models, mistakes."""

import http.client
import json
from typing import Any

import pytest

from checkrein.llm.server import ScriptedServer


def post(
    server: ScriptedServer, path: str, body: Any, headers: dict[str, str] | None = None
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=5)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    connection.request("POST", path, data, headers or {})
    answer = connection.getresponse()
    value = json.loads(answer.read())
    connection.close()
    return answer.status, value


TURN = {
    "text": "hi",
    "thinking": "hm",
    "tool_calls": [{"name": "Bash", "input": {"command": "ls"}, "id": "c1"}],
}
ASK = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hello"}]}


def test_messages_without_streaming() -> None:
    with ScriptedServer([TURN]) as server:
        status, value = post(server, "/v1/messages", ASK)
    assert status == 200
    assert [block["type"] for block in value["content"]] == ["thinking", "text", "tool_use"]
    assert value["content"][2] == {"type": "tool_use", "id": "c1", "name": "Bash", "input": {"command": "ls"}}
    assert (value["stop_reason"], value["model"], value["type"]) == ("tool_use", "m", "message")
    assert value["usage"]["input_tokens"] == len(json.dumps(ASK)) // 4


def test_chat_without_streaming() -> None:
    with ScriptedServer([TURN]) as server:
        _, value = post(server, "/v1/chat/completions", ASK)
    (choice,) = value["choices"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] == "hi"
    assert choice["message"]["reasoning_content"] == "hm"
    assert choice["message"]["tool_calls"][0]["function"] == {"name": "Bash", "arguments": '{"command":"ls"}'}


def test_responses_without_streaming() -> None:
    with ScriptedServer([TURN]) as server:
        _, value = post(server, "/v1/responses", {"model": "m", "input": "hello"})
        assert server.requests[0].request.messages[0].content[0].text == "hello"  # type: ignore[union-attr]
    assert [item["type"] for item in value["output"]] == ["reasoning", "message", "function_call"]
    assert value["status"] == "completed"


def test_count_tokens_and_models() -> None:
    with ScriptedServer([]) as server:
        status, value = post(server, "/v1/messages/count_tokens", ASK)
        assert (status, value) == (200, {"input_tokens": len(json.dumps(ASK)) // 4})
        assert server.requests == []
        connection = http.client.HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=5)
        connection.request("GET", "/v1/models")
        assert json.loads(connection.getresponse().read())["data"][0]["id"] == "scripted"
        connection.close()


def test_leaving_the_script_is_a_refusal_and_is_kept() -> None:
    with ScriptedServer([{"text": "x", "expect": {"text": "bye"}}]) as server:
        status, value = post(server, "/v1/messages", ASK)
        assert status == 400
        assert "should hold 'bye'" in value["error"]["message"]
        status, _ = post(server, "/v1/messages", ASK)
        assert status == 400
        assert len(server.failures) == 2


@pytest.mark.parametrize("body", [b"{", b"[]", b'{"stream": true}'])
def test_bodies_that_are_no_requests(body: bytes) -> None:
    with ScriptedServer([{"text": "x"}]) as server:
        status, value = post(server, "/v1/messages", body)
    assert (status, value["error"]["type"]) == (400, "invalid_request_error")


def test_unknown_path() -> None:
    with ScriptedServer([]) as server:
        assert post(server, "/v2/else", {})[0] == 404


def test_chunked_request_body_and_expect_continue() -> None:
    with ScriptedServer([{"text": "x"}]) as server:
        connection = http.client.HTTPConnection("127.0.0.1", int(server.url.rpartition(":")[2]), timeout=5)
        data = json.dumps(ASK).encode()
        connection.request("POST", "/v1/messages?beta=true", iter([data[:9], data[9:]]), encode_chunked=True)
        assert json.loads(connection.getresponse().read())["content"][0]["text"] == "x"
        connection.close()


def test_credentials_are_not_kept() -> None:
    with ScriptedServer([{"text": "x"}]) as server:
        post(
            server,
            "/v1/messages",
            ASK,
            {"x-api-key": "hunter2", "Authorization": "Bearer hunter2", "x-a": "b"},
        )
        headers = server.requests[0].headers
    assert "hunter2" not in str(headers)
    assert headers["x-a"] == "b"


def test_notice() -> None:
    seen: list[str] = []
    with ScriptedServer([{"text": "x"}], notice=lambda asked: seen.append(asked.wire)) as server:
        post(server, "/v1/messages", ASK)
    assert seen == ["anthropic"]

"""WebSearch from the command line: the service's own search, or the user's endpoint, through the gate."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from checkrein.llm.port import Hit
from checkrein.testing import Call, Fault, ScriptedServer, Turn
from support.lines import MODELS, Ran, checkrein, service
from support.sessions import home

Write = Callable[[str, object], Path]
DONE = Turn(text="done")
HITS = (
    Hit("One \x1b[31mred\x1b[0m", "https://one.example/a"),
    Hit("Key sk-ant-api03-abcdefghijklmnopqrstuvwxyz", "https://docs.two.example/b"),
    Hit("Twice", "https://one.example/a"),
    Hit("Not of the web", "file:///etc/passwd"),
)


def search(**input: Any) -> Turn:
    return Turn(tool_calls=(Call("WebSearch", {"query": "what is it", **input}),))


def run(project: Path, server: ScriptedServer, wire: str, *words: str, **env: str) -> Ran:
    model = ("--model", MODELS[wire], "--output-format", "stream-json", "--verbose")
    return checkrein(project, "-p", "go", *model, *words, env=service(server, **env))


def result(ran: Ran) -> dict[str, Any]:
    (frame,) = [f for f in ran.of("user") if "tool_use_result" in f]
    return frame


@pytest.mark.parametrize("wire", ["anthropic", "responses"])
def test_the_service_searches(project: Path, wire: str) -> None:
    found = Turn(text="It is a thing.", hits=HITS)
    with ScriptedServer((search(allowed_domains=["one.example", "two.example"]), found, DONE)) as server:
        ran = run(project, server, wire, "--allowedTools", "WebSearch")
        aside = json.loads(server.requests[1].body)
    (tool,) = aside["tools"]
    assert tool["type"].startswith("web_search")
    assert "what is it" in json.dumps(aside)
    domains = tool.get("allowed_domains") or tool["filters"]["allowed_domains"]
    assert domains == ["one.example", "two.example"]
    frame = result(ran)
    said = frame["message"]["content"][0]["content"]
    assert "1. One [31mred [0m\n   https://one.example/a" in said
    assert "2. Key " in said
    assert "It is a thing." in said
    assert "abcdefghijklmnop" not in json.dumps(frame)
    assert "\\u001b" not in json.dumps(frame)
    structured = frame["tool_use_result"]
    assert [one["url"] for one in structured["results"]] == [
        "https://one.example/a",
        "https://docs.two.example/b",
    ]
    assert (structured["query"], structured["searchCount"]) == ("what is it", 1)
    end = ran.of("result")[0]
    assert end["usage"]["server_tool_use"]["web_search_requests"] == 1
    assert sum(used["webSearchRequests"] for used in end["modelUsage"].values()) == 1
    assert end["total_cost_usd"] >= (0.01 if wire == "anthropic" else 0), "the session pays for the search"


def test_a_call_and_a_session_have_their_limits(project: Path) -> None:
    found = Turn(text="It is a thing.", hits=HITS)
    with ScriptedServer((search(), found, DONE)) as server:
        run(project, server, "anthropic", "--allowedTools", "WebSearch")
        (tool,) = json.loads(server.requests[1].body)["tools"]
    assert tool["max_uses"] == 8
    many = Turn(tool_calls=search().tool_calls * 200)
    with ScriptedServer((many, search(), DONE)) as server:
        ran = run(project, server, "chat", "--allowedTools", "WebSearch")
    last = [f for f in ran.of("user") if "tool_use_result" in f][-1]["message"]["content"][0]["content"]
    assert "The session has used its 200 searches." in last


def test_without_approval_nothing_is_searched(project: Path) -> None:
    with ScriptedServer((search(), DONE)) as server:
        ran = run(project, server, "anthropic")
        assert len(server.requests) == 2
    assert [one["tool_name"] for one in ran.of("result")[0]["permission_denials"]] == ["WebSearch"]


def test_a_rule_refuses_it(project: Path, write: Write) -> None:
    write(".claude/settings.json", {"permissions": {"deny": ["WebSearch"]}})
    with ScriptedServer((search(), DONE)) as server:
        run(project, server, "anthropic", "--permission-mode", "bypassPermissions")
        assert len(server.requests) == 2


def test_a_wire_without_search_says_so(project: Path) -> None:
    with ScriptedServer((search(), DONE)) as server:
        ran = run(project, server, "chat", "--allowedTools", "WebSearch")
    assert "There is no web search here" in result(ran)["message"]["content"][0]["content"]


@pytest.mark.parametrize(
    ("turns", "input", "said"),
    [
        ((Turn(fault=Fault(status=401)),), {}, "Check the key or token"),
        ((Turn(text="nothing"),), {}, "Nothing was found for what is it."),
        ((), {"allowed_domains": ["a"], "blocked_domains": ["b"]}, "not both"),
        ((), {"query": "  "}, "Give a `query`"),
    ],
)
def test_what_goes_wrong(project: Path, turns: tuple[Turn, ...], input: dict[str, Any], said: str) -> None:
    with ScriptedServer((search(**input), *turns, DONE)) as server:
        ran = run(project, server, "anthropic", "--allowedTools", "WebSearch")
    assert said in result(ran)["message"]["content"][0]["content"]
    assert ran.of("result")[0]["result"] == "done"


ANSWER: dict[str, Any] = {
    "results": [
        {"title": "From the endpoint", "url": "https://three.example/c", "content": "A snippet."},
        {"title": "Blocked", "url": "https://sub.bad.example/d"},
        {"title": "x" * 900, "url": "https://four.example/e", "content": "y" * 5000},
        *({"title": f"n{n}", "url": f"https://n.example/{n}"} for n in range(100)),
    ]
}


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    asked: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append({"path": self.path, "headers": dict(self.headers)})
            body = b"<html>no" if "broken" in self.path else json.dumps(ANSWER).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize("wire", ["anthropic", "chat"])
def test_the_users_endpoint_searches(project: Path, endpoint: Any, wire: str) -> None:
    url, asked = endpoint
    config = home() / "config.toml"
    config.parent.mkdir(parents=True, exist_ok=True)
    config.write_text(
        f'[search]\nurl = "{url}/search?format=json&q={{query}}"\napi_key = "s3cret"\nkey_header = "X-Key"\n'
    )
    with ScriptedServer((search(blocked_domains=["bad.example"]), DONE)) as server:
        ran = run(project, server, wire, "--allowedTools", "WebSearch")
        assert len(server.requests) == 2
    (one,) = asked
    assert one["path"] == "/search?format=json&q=what%20is%20it"
    assert one["headers"]["X-Key"] == "s3cret"
    said = result(ran)["message"]["content"][0]["content"]
    assert "1. From the endpoint\n   https://three.example/c\n   A snippet." in said
    assert "bad.example" not in said
    assert len(result(ran)["tool_use_result"]["results"]) == 20
    assert len(said) < 4_000
    assert "s3cret" not in ran.out


def test_a_project_can_not_choose_the_endpoint(project: Path, write: Write, endpoint: Any) -> None:
    url, asked = endpoint
    write("checkrein.toml", f'[search]\nurl = "{url}/?q={{query}}"\n')
    with ScriptedServer((search(), DONE)) as server:
        run(project, server, "chat", "--allowedTools", "WebSearch", "--trust")
    assert asked == []


def test_an_endpoint_that_does_not_answer_with_json(project: Path, endpoint: Any) -> None:
    url, _ = endpoint
    with ScriptedServer((search(), DONE)) as server:
        words = ("--allowedTools", "WebSearch")
        ran = run(project, server, "chat", *words, CHECKREIN_SEARCH__URL=f"{url}/broken")
    assert "did not answer with JSON" in result(ran)["message"]["content"][0]["content"]

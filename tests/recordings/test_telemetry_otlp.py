"""Spans on their way to a collector: the whole command line, the real exporter, a loopback server."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

PROMPT, SECRET = "A PROMPT NOBODY ELSE READS", "hunter2-in-a-command"
CALL = {"tool_calls": [{"name": "Bash", "input": {"command": f"echo {SECRET}"}, "id": "call_1"}]}


class Collector:
    """Takes spans as a collector does, and keeps what was posted."""

    def __init__(self, status: int = 200) -> None:
        self.posts: list[tuple[str, dict[str, str], bytes]] = []
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                collector.posts.append((self.path, dict(self.headers), body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def requests(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for _, _, body in self.posts]

    @property
    def spans(self) -> list[Any]:
        return [
            span
            for request in self.requests
            for resource in request.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()


Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def checkrein(project: Path, tmp_path: Path) -> Run:
    def run(*turns: dict[str, Any], **variables: str) -> subprocess.CompletedProcess[str]:
        script = tmp_path / "script.jsonl"
        script.write_text("\n".join(json.dumps(turn) for turn in turns or ({"text": "THE ANSWER"},)))
        env = {name: value for name, value in os.environ.items() if not name.startswith("OTEL_")}
        env |= {"CHECKREIN_TELEMETRY__OTEL": "true", "NO_PROXY": "127.0.0.1", **variables}
        argv = [sys.executable, "-m", "checkrein", "-p", PROMPT, "--model", f"scripted:{script}"]
        return subprocess.run(
            argv, cwd=project, env=env, capture_output=True, text=True, timeout=60, check=False
        )

    return run


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: one.value for one in span.attributes}


def test_a_session_arrives_as_spans(checkrein: Run, collector: Collector) -> None:
    usage = {"input": 10, "cache_read": 5, "output": 3}
    done = checkrein(
        {**CALL, "usage": usage}, {"text": "THE ANSWER"}, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "THE ANSWER", "")
    assert {path for path, _, _ in collector.posts} == {"/v1/traces"}
    by_name = {span.name.split(" ")[0]: span for span in collector.spans}
    assert sorted(span.name.split(" ")[0] for span in collector.spans) == [
        "chat",
        "chat",
        "execute_tool",
        "invoke_agent",
    ]
    root = by_name["invoke_agent"]
    assert {span.trace_id for span in collector.spans} == {root.trace_id}
    assert {span.parent_span_id for span in collector.spans if span is not root} >= {root.span_id}
    assert attributes(by_name["execute_tool"])["gen_ai.tool.name"].string_value == "Bash"
    chats = [attributes(span) for span in collector.spans if span.name.startswith("chat")]
    assert chats[0]["gen_ai.usage.input_tokens"].int_value == 15
    assert attributes(root)["checkrein.result"].string_value == "success"
    (resource,) = {r.SerializeToString() for one in collector.requests for r in _resources(one)}
    assert b"checkrein" in resource


def _resources(request: ExportTraceServiceRequest) -> list[Any]:
    return [found.resource for found in request.resource_spans]


def test_nothing_that_was_said_is_sent(checkrein: Run, collector: Collector) -> None:
    checkrein(CALL, {"text": "THE ANSWER"}, OTEL_EXPORTER_OTLP_ENDPOINT=collector.url)
    sent = b"".join(body for _, _, body in collector.posts)
    assert sent
    for word in (PROMPT, SECRET, "THE ANSWER", os.environ["HOME"]):
        assert word.encode() not in sent


def test_the_users_own_words_for_it(checkrein: Run, collector: Collector) -> None:
    checkrein(
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=f"{collector.url}/elsewhere",
        OTEL_EXPORTER_OTLP_HEADERS="x-team=mine",
        OTEL_SERVICE_NAME="nightly",
    )
    ((path, headers, body),) = collector.posts
    assert path == "/elsewhere"
    assert headers["x-team"] == "mine"
    assert b"nightly" in body


@pytest.mark.parametrize(
    "variables",
    [{"OTEL_TRACES_EXPORTER": "none"}, {"OTEL_SDK_DISABLED": "true"}, {"CHECKREIN_TELEMETRY__OTEL": ""}],
)
def test_switched_off(checkrein: Run, collector: Collector, variables: dict[str, str]) -> None:
    done = checkrein(**{"OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, **variables})
    assert (done.returncode, done.stdout.strip()) == (0, "THE ANSWER")
    assert collector.posts == []


def test_on_the_screen(checkrein: Run) -> None:
    done = checkrein(OTEL_TRACES_EXPORTER="console")
    assert done.stdout.strip() == "THE ANSWER"
    assert "invoke_agent checkrein" in done.stderr


def test_a_collector_that_is_not_there_costs_little_and_changes_nothing(checkrein: Run) -> None:
    began = time.monotonic()
    done = checkrein(OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert (done.returncode, done.stdout.strip()) == (0, "THE ANSWER")
    assert time.monotonic() - began < 20


def test_a_collector_that_refuses_changes_nothing(checkrein: Run) -> None:
    refusing = Collector(status=400)
    done = checkrein(OTEL_EXPORTER_OTLP_ENDPOINT=refusing.url)
    refusing.close()
    assert (done.returncode, done.stdout.strip()) == (0, "THE ANSWER")
    assert len(refusing.posts) == 1


def test_every_session_of_a_program_is_sent_when_it_closes(
    project: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    code = f"""
import urllib.request
from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.testing import ScriptedModel, Turn
for _ in range(2):
    with Session(".", model=ScriptedModel([Turn(text="ok")]), options=Options(persist=False)) as session:
        list(session.run("go"))
    urllib.request.urlopen(urllib.request.Request({collector.url!r} + "/closed", data=b"x", method="POST"))
"""
    env = {**os.environ, "CHECKREIN_TELEMETRY__OTEL": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url}
    env |= {"NO_PROXY": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=project, env=env, timeout=60, check=False)
    assert done.returncode == 0
    assert [path for path, _, _ in collector.posts] == ["/v1/traces", "/closed", "/v1/traces", "/closed"]

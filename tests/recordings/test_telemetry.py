"""A session as spans."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk")

from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from checkrein.runtime.session.options import Options
from checkrein.runtime.session.session import Session
from checkrein.runtime.session.telemetry import Telemetry, is_wanted
from checkrein.runtime.turn.retry import RetryPolicy
from checkrein.testing import Call, Fault, ScriptedModel, Turn


def spans_of(project: Path, *turns: Turn) -> list[ReadableSpan]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    options = Options(trust=True, persist=False, retry=RetryPolicy(attempts=2, scale=0.001))
    with Session(project, model=ScriptedModel(turns, idle=5), options=options) as session:
        session.consumers.append(Telemetry(provider.get_tracer("test")).take)
        list(session.run("SECRET PROMPT"))
    return list(exporter.get_finished_spans())


def test_a_run_its_requests_and_its_tools(project: Path) -> None:
    calls = (Call("Bash", {"command": "echo k"}), Call("Bash", {"command": "touch refused"}))
    spans = spans_of(project, Turn(tool_calls=calls, usage={"input": 10, "cache_read": 5}), Turn(text="done"))
    by_name: dict[str, list[ReadableSpan]] = {}
    for span in spans:
        by_name.setdefault(span.name.split(" ")[0], []).append(span)
    assert {name: len(found) for name, found in by_name.items()} == {
        "invoke_agent": 1,
        "chat": 2,
        "execute_tool": 1,
    }
    (root,) = by_name["invoke_agent"]
    assert root.attributes is not None
    assert root.attributes["checkrein.result"] == "success"
    assert root.context is not None
    for span in (*by_name["chat"], *by_name["execute_tool"]):
        assert span.parent is not None
        assert span.parent.span_id == root.context.span_id
    first = by_name["chat"][0].attributes
    assert first is not None
    assert first["gen_ai.usage.input_tokens"] == 15
    assert first["gen_ai.usage.cache_read.input_tokens"] == 5
    assert first["gen_ai.response.finish_reasons"] == ("tool_use",)
    assert [event.name for event in root.events] == ["permission_denied"]
    assert "SECRET" not in str([(span.name, span.attributes, span.events) for span in spans])
    assert "echo k" not in str([span.attributes for span in spans])


def test_what_fails_is_marked(project: Path) -> None:
    spans = spans_of(project, Turn(fault=Fault(status=401)))
    assert {span.name.split(" ")[0]: span.status.is_ok for span in spans} == {
        "chat": False,
        "invoke_agent": False,
    }


def test_a_consumer_that_fails_does_not_disturb(project: Path) -> None:
    options = Options(trust=True, persist=False)
    with Session(project, model=ScriptedModel([Turn(text="done")]), options=options) as session:
        session.consumers.append(lambda event: 1 / 0)
        list(session.run("go"))
        assert session.result is not None
        assert session.result.text == "done"


@pytest.mark.parametrize(("value", "wanted"), [("true", True), ("1", True), ("", False), ("false", False)])
def test_the_switch(value: str, wanted: bool) -> None:
    assert is_wanted({"CHECKREIN_TELEMETRY__OTEL": value}) is wanted

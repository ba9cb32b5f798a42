"""A session as OpenTelemetry spans, by the conventions for generative AI. Needs the extra `otel`.

One span for each run (`invoke_agent`), below it one for each request (`chat`) and each tool call
(`execute_tool`). It only consumes events. Messages and the inputs of tools are not in
the spans.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import UsageError
from checkrein.runtime.session.events import (
    CacheBreak,
    Compacted,
    Event,
    Finished,
    PermissionDenied,
    ReplyCompleted,
    RequestSent,
    Retrying,
    SessionStarted,
    ToolFinished,
    ToolStarted,
    Transition,
)

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SpanExporter
    from opentelemetry.trace import Span, Tracer

_OTLP = "opentelemetry.exporter.otlp.proto.http.trace_exporter"
_TIMEOUTS = ("OTEL_EXPORTER_OTLP_TIMEOUT", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT")
_FLUSH_MS = 2_000
_SWITCH = "CHECKREIN_TELEMETRY__OTEL"
Attributes = dict[str, Any]
_MADE: list[TracerProvider] = []
"""The provider that this process made, when the program has none."""


def is_wanted(env: Mapping[str, str]) -> bool:
    return env.get(_SWITCH, "").strip().lower() in ("1", "true", "yes", "on")


def telemetry(env: Mapping[str, str] | None = None) -> Telemetry:
    """A consumer on the program's own tracer provider; without one, on a provider that exports as the
    `OTEL_*` variables say."""
    try:
        from opentelemetry import trace
    except ImportError as error:
        raise UsageError(
            f"{_SWITCH} is set, but OpenTelemetry is not installed.",
            kind="extra_missing",
            hint="Install it with `pip install 'checkrein[otel]'`.",
        ) from error
    close = _provide(os.environ if env is None else env)
    return Telemetry(trace.get_tracer("checkrein"), close)


def _provide(env: Mapping[str, str]) -> Callable[[], None]:
    """Set up exporting if the program did not. Returns a function that sends the rest. One provider serves
    all sessions of a process."""
    from opentelemetry import trace

    if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):
        exporter = _exporter(env)
        if exporter is None:
            return lambda: None
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        made = TracerProvider(resource=Resource.create(_service(env)))
        made.add_span_processor(BatchSpanProcessor(exporter))
        trace.set_tracer_provider(made)
        _MADE.append(made)

    def flush() -> None:
        for provider in _MADE:
            provider.force_flush(_FLUSH_MS)

    return flush


def _exporter(env: Mapping[str, str]) -> SpanExporter | None:
    """The exporter that the `OTEL_*` variables name. Without a timeout of theirs it soon gives up on a
    collector that does not answer: the end of a session waits for it."""
    wanted = env.get("OTEL_TRACES_EXPORTER", "otlp").strip().lower()
    if wanted == "none" or env.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    if wanted == "console":
        import sys

        from opentelemetry.sdk.trace.export import ConsoleSpanExporter

        return ConsoleSpanExporter(out=sys.stderr)
    timed = any(env.get(name) for name in _TIMEOUTS)
    made: SpanExporter = import_module(_OTLP).OTLPSpanExporter(timeout=None if timed else _FLUSH_MS / 1000)
    return made


def _service(env: Mapping[str, str]) -> Attributes:
    """The service name of the spans, unless the user sets one."""
    if env.get("OTEL_SERVICE_NAME") or "service.name=" in env.get("OTEL_RESOURCE_ATTRIBUTES", ""):
        return {}
    import checkrein

    return {"service.name": "checkrein", "service.version": checkrein.__version__}


class Telemetry:
    """`take` needs every event of a session, in order. `close` sends the rest."""

    def __init__(self, tracer: Tracer, close: Callable[[], None] = lambda: None) -> None:
        self._tracer = tracer
        self.close = close
        self._run: Span | None = None
        self._chats: dict[str | None, Span] = {}
        self._tools: dict[str, Span] = {}

    def take(self, event: Event) -> None:
        match event:
            case SessionStarted():
                self._begin(event)
            case RequestSent():
                self._end_chat(event.agent_id, "no answer")
                named = {"gen_ai.operation.name": "chat", "gen_ai.request.model": event.model}
                self._chats[event.agent_id] = self._open(f"chat {event.model}", named, client=True)
            case ReplyCompleted():
                self._answered(event)
            case Retrying() if event.agent_id in self._chats:
                retry: Attributes = {"attempt": event.attempt, "error": event.error}
                self._chats[event.agent_id].add_event("retry", retry)
            case Transition():
                self._end_chat(event.agent_id, event.detail or event.name)
            case ToolStarted():
                named = {
                    "gen_ai.operation.name": "execute_tool",
                    "gen_ai.tool.name": event.name,
                    "gen_ai.tool.call.id": event.id,
                    "gen_ai.tool.type": "function",
                }
                self._tools[event.id] = self._open(f"execute_tool {event.name}", named)
            case ToolFinished():
                self._ended(event)
            case PermissionDenied():
                self._note("permission_denied", {"tool": event.denial.tool_name, "by": event.by})
            case CacheBreak():
                self._note("cache_break", {"reason": event.reason, "tokens": event.tokens})
            case Compacted():
                tokens = {"before": event.tokens_before, "after": event.tokens_after}
                self._note("compacted", {"trigger": event.trigger, "stage": event.stage, **tokens})
            case Finished():
                self._finish(event)

    def _begin(self, event: SessionStarted) -> None:
        if self._run is not None:
            self._run.end()
        self._run = self._tracer.start_span(
            "invoke_agent checkrein",
            attributes={
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "checkrein",
                "gen_ai.conversation.id": event.session_id,
                "gen_ai.request.model": event.model,
                "checkrein.mode": event.mode,
                "checkrein.source": event.source,
            },
        )

    def _open(self, name: str, attributes: Attributes, client: bool = False) -> Span:
        from opentelemetry import trace

        parent = trace.set_span_in_context(self._run) if self._run is not None else None
        kind = trace.SpanKind.CLIENT if client else trace.SpanKind.INTERNAL
        return self._tracer.start_span(name, parent, kind, attributes)

    def _answered(self, event: ReplyCompleted) -> None:
        span = self._chats.pop(event.agent_id, None)
        if span is None:
            return
        reply, usage = event.reply, event.reply.usage
        span.set_attributes(
            {
                "gen_ai.response.id": reply.id,
                "gen_ai.response.model": reply.model,
                "gen_ai.response.finish_reasons": [reply.stop_reason],
                "gen_ai.usage.input_tokens": usage.prompt,
                "gen_ai.usage.output_tokens": usage.output,
                "gen_ai.usage.cache_read.input_tokens": usage.cache_read,
                "gen_ai.usage.cache_creation.input_tokens": usage.cache_creation,
            }
        )
        if event.cost_usd is not None:
            span.set_attribute("checkrein.cost_usd", event.cost_usd)
        span.end()

    def _end_chat(self, agent_id: str | None, why: str) -> None:
        """End a request that got no reply. Each conversation has one request at a time."""
        span = self._chats.pop(agent_id, None)
        if span is not None:
            _fail(span, why)
            span.end()

    def _ended(self, event: ToolFinished) -> None:
        span = self._tools.pop(event.id, None)
        if span is None:
            return
        if event.is_error:
            _fail(span, "the tool answered with an error")
        span.end()

    def _note(self, name: str, attributes: Attributes) -> None:
        if self._run is not None:
            self._run.add_event(name, attributes)

    def _finish(self, event: Finished) -> None:
        result, span = event.result, self._run
        for agent_id in tuple(self._chats):
            self._end_chat(agent_id, result.terminal_reason)
        for open_tool in self._tools.values():
            open_tool.end()
        self._tools.clear()
        self._run = None
        if span is None:
            return
        span.set_attributes(
            {
                "gen_ai.usage.input_tokens": result.usage.prompt,
                "gen_ai.usage.output_tokens": result.usage.output,
                "checkrein.requests": result.requests,
                "checkrein.cost_usd": result.cost_usd,
                "checkrein.result": result.subtype,
            }
        )
        if result.is_error:
            _fail(span, result.terminal_reason)
        span.end()


def _fail(span: Span, why: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.ERROR, why))
    span.set_attribute("error.type", why)

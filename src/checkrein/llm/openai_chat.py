"""The Chat Completions API, streaming: OpenAI, and also vLLM, llama.cpp, Ollama, OpenRouter."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from checkrein.base.ids import short_id
from checkrein.llm.blocks import Blocks
from checkrein.llm.bodies import MessageBytes, encode_json
from checkrein.llm.cancel import Cancel
from checkrein.llm.connection import Timeouts
from checkrein.llm.content import ToolUse
from checkrein.llm.openai_chat_body import ChatDialect, encode, encode_message
from checkrein.llm.port import Finished, ModelEvent, Request, Started, StopReason, Usage, UsageReport
from checkrein.llm.sse import SseEvent
from checkrein.llm.stream import decode_event, error_event, stream
from checkrein.llm.values import count, part, text
from checkrein.llm.wire import Wire

if TYPE_CHECKING:
    from checkrein.llm.credential import Credential

BASE_URL = "https://api.openai.com/v1"

_STOPS: dict[str, StopReason] = {
    "stop": "end_turn",
    "eos": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
}


class ChatModel:
    def __init__(
        self,
        *,
        api_key: str | None = None,
        credential: Credential | None = None,
        base_url: str = BASE_URL,
        dialect: ChatDialect | None = None,
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
        env: Mapping[str, str] | None = None,
        start: str | None = None,
    ) -> None:
        sent = dict(headers or {})
        if api_key:
            sent["authorization"] = f"Bearer {api_key}"
        self._credential = credential
        self._dialect = dialect or ChatDialect()
        self._wire = Wire(base_url, sent, timeouts=timeouts, env=env, start=start)
        self._secrets = (api_key,) if api_key else ()
        self._messages = MessageBytes(partial(encode_message, reasoning_field=self._dialect.reasoning_field))

    def __repr__(self) -> str:
        return f"ChatModel({self._wire.endpoint})"

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        body = encode(request, self._messages, self._dialect)
        credential = self._credential
        if credential is None:
            return stream(self._wire, self._dialect.path, body, ChatReader(), cancel, secrets=self._secrets)
        from checkrein.llm.credential import Outgoing, with_renewal

        asked = Outgoing(self._wire.endpoint.authority, self._wire.endpoint.path + self._dialect.path, body)

        def once() -> Iterator[ModelEvent]:
            headers = credential.headers(asked)
            return stream(
                self._wire, self._dialect.path, body, ChatReader(), cancel, headers, credential.secrets()
            )

        return with_renewal(once, credential)

    def close(self) -> None:
        self._wire.close()


class ChatReader:
    """Reads the chunks of one response.

    Servers number parallel tool calls in different ways. The reader finds a call by its `index`; a new `id`
    under a known index is a new call. A call ends with the message, or when the next call starts and its
    arguments are a whole object.
    """

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.done = False
        self._started = False
        self._calls: dict[int, tuple[int, str]] = {}
        self._opened = 0
        self._usage: Usage | None = None
        self._stop = ""
        self._refused = False

    def read(self, event: SseEvent) -> list[ModelEvent]:
        if event.data.strip() == b"[DONE]":
            return self._finish()
        value = decode_event(event)
        if value.get("error"):
            raise error_event(event.data)
        events: list[ModelEvent] = []
        if not self._started:
            self._started = True
            events.append(Started(text(value.get("id")), text(value.get("model"))))
        for choice in value.get("choices") or []:
            events += self.delta(choice.get("delta") or {})
            self._stop = text(choice.get("finish_reason")) or self._stop
        if value.get("usage"):
            self._usage = usage_of(value["usage"])
            events.append(UsageReport(self._usage))
        return events

    def end(self) -> list[ModelEvent]:
        """Some servers leave out their last line. With a finish reason the answer is still whole."""
        return self._finish() if self._stop else []

    def _finish(self) -> list[ModelEvent]:
        if not self._started:
            return []
        self.done = True
        events = self.blocks.close_all()
        reason = _STOPS.get(self._stop, "unknown")
        if reason == "end_turn" and any(isinstance(block, ToolUse) for block in self.blocks.completed):
            reason = "tool_use"
        if self._refused and reason == "end_turn":
            reason = "refusal"
        return [*events, Finished(reason, self._usage or Usage(), self._stop)]

    def delta(self, delta: dict[str, Any]) -> list[ModelEvent]:
        """The events of one message delta."""
        events = self._say("thinking", delta.get("reasoning_content") or delta.get("reasoning"))
        events += self._say("text", delta.get("content"))
        if delta.get("refusal"):
            self._refused = True
            events += self._say("text", delta["refusal"])
        for call in delta.get("tool_calls") or []:
            events += self._call(call)
        return events

    def _say(self, kind: Any, said: str | None) -> list[ModelEvent]:
        if not said:
            return []
        events: list[ModelEvent] = []
        if not self.blocks.is_open(kind):
            events += self.blocks.close_all()
            self._calls.clear()
            events += self.blocks.open(kind, kind)
        return events + self.blocks.add(kind, said)

    def _call(self, call: dict[str, Any]) -> list[ModelEvent]:
        function = call.get("function") or {}
        index = call.get("index")
        if index is None:
            index = len(self._calls) if call.get("id") else max(self._calls)
        known = self._calls.get(index)
        events: list[ModelEvent] = []
        if known is None or (call.get("id") and known[1] and call["id"] != known[1]):
            events += self._end_whole_blocks()
            self._opened += 1
            known = self._calls[index] = (self._opened, call.get("id") or "")
            events += self.blocks.open(
                self._opened, "tool_use", known[1] or short_id("call_"), function["name"]
            )
        arguments = function.get("arguments") or ""
        said = arguments if isinstance(arguments, str) else encode_json(arguments).decode()
        return events + self.blocks.add(known[0], said)

    def _end_whole_blocks(self) -> list[ModelEvent]:
        events: list[ModelEvent] = []
        for kind in ("thinking", "text"):
            if self.blocks.is_open(kind):
                events += self.blocks.close(kind)
        for key, _ in self._calls.values():
            if self.blocks.is_open(key) and self.blocks.has_whole_arguments(key):
                events += self.blocks.close(key)
        return events


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """The API's usage object as ours. It counts cached tokens only once."""
    usage = part(usage)
    prompt = count(usage.get("prompt_tokens"))
    details = part(usage.get("prompt_tokens_details"))
    cached = count(details.get("cached_tokens")) or count(usage.get("prompt_cache_hit_tokens"))
    written = count(details.get("cache_write_tokens"))
    reasoning = count(part(usage.get("completion_tokens_details")).get("reasoning_tokens"))
    return Usage(
        input=max(0, prompt - cached - written),
        output=count(usage.get("completion_tokens")),
        cache_read=cached,
        cache_creation=written,
        reasoning=reasoning,
    )

"""The Responses API, streaming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace

from checkrein.llm.blocks import Blocks
from checkrein.llm.bodies import MessageBytes, encode_json
from checkrein.llm.cancel import Cancel
from checkrein.llm.connection import Timeouts
from checkrein.llm.content import ToolUse
from checkrein.llm.openai_chat import BASE_URL
from checkrein.llm.openai_responses_body import SIGNATURE, encode, encode_message
from checkrein.llm.port import (
    Finished,
    Hit,
    ModelEvent,
    Request,
    Searched,
    Started,
    StopReason,
    Usage,
    UsageReport,
)
from checkrein.llm.sse import SseEvent
from checkrein.llm.stream import decode_event, error_event, stream
from checkrein.llm.values import count, part, text
from checkrein.llm.wire import Wire

_INCOMPLETE: dict[str, StopReason] = {"max_output_tokens": "max_tokens", "content_filter": "refusal"}


class ResponsesModel:
    searches = True

    def __init__(
        self,
        *,
        api_key: str | None = None,
        base_url: str = BASE_URL,
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
        env: Mapping[str, str] | None = None,
        start: str | None = None,
    ) -> None:
        sent = dict(headers or {})
        if api_key:
            sent["authorization"] = f"Bearer {api_key}"
        self._wire = Wire(base_url, sent, timeouts=timeouts, env=env, start=start)
        self._secrets = (api_key,) if api_key else ()
        self._messages = MessageBytes(encode_message)

    def __repr__(self) -> str:
        return f"ResponsesModel({self._wire.endpoint})"

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        body = encode(request, self._messages)
        return stream(self._wire, "/responses", body, ResponsesReader(), cancel, secrets=self._secrets)

    def close(self) -> None:
        self._wire.close()


class ResponsesReader:
    """Reads the events of one response. An output item is one block. It skips items of types that the port
    does not know."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.done = False
        self._refused = False
        self._searches = 0

    def read(self, event: SseEvent) -> list[ModelEvent]:
        if event.data.strip() == b"[DONE]":
            return []
        value = decode_event(event)
        match value["type"]:
            case (
                "response.output_text.delta"
                | "response.function_call_arguments.delta"
                | "response.reasoning_summary_text.delta"
                | "response.reasoning_text.delta"
            ):
                return self._add(value["output_index"], value["delta"])
            case "response.refusal.delta":
                self._refused = True
                return self._add(value["output_index"], value["delta"])
            case "response.reasoning_summary_part.added" if value.get("summary_index"):
                return self._add(value["output_index"], "\n\n")
            case "response.output_item.added":
                return self._open(value["output_index"], value["item"])
            case "response.output_item.done":
                return self._close(value["output_index"], value["item"])
            case "response.created":
                response = value["response"]
                return [Started(text(response["id"]), text(response.get("model")))]
            case "response.completed" | "response.incomplete":
                return self._finish(value["response"])
            case "response.failed":
                raise error_event(encode_json({"error": value["response"].get("error") or {}}))
            case "error":
                raise error_event(event.data)
        return []

    def end(self) -> list[ModelEvent]:
        return []

    def _open(self, index: int, item: dict[str, Any]) -> list[ModelEvent]:
        match item["type"]:
            case "message":
                return self.blocks.open(index, "text")
            case "reasoning":
                return self.blocks.open(index, "thinking")
            case "function_call":
                return self.blocks.open(
                    index, "tool_use", text(item.get("call_id") or ""), text(item["name"])
                )
        return []

    def _add(self, index: int, said: str) -> list[ModelEvent]:
        return self.blocks.add(index, said) if self.blocks.is_open(index) else []

    def _close(self, index: int, item: dict[str, Any]) -> list[ModelEvent]:
        self._searches += item["type"] == "web_search_call"
        events: list[ModelEvent] = [Searched(hits)] if (hits := tuple(_hits(item))) else []
        if not self.blocks.is_open(index):
            return events
        if item["type"] == "reasoning" and item.get("encrypted_content"):
            self.blocks.sign(index, f"{SIGNATURE}{item['id']}:{item['encrypted_content']}")
        elif item["type"] == "function_call" and self.blocks.is_empty(index):
            events += self.blocks.add(index, item.get("arguments") or "")  # some servers send no deltas
        return events + self.blocks.close(index)

    def _finish(self, response: dict[str, Any]) -> list[ModelEvent]:
        self.done = True
        events = self.blocks.close_all()
        usage = replace(usage_of(part(response.get("usage"))), searches=self._searches)
        reason: StopReason = "end_turn"
        raw = str(response.get("status") or "")
        if response.get("status") == "incomplete":
            raw = str((response.get("incomplete_details") or {}).get("reason") or "")
            reason = _INCOMPLETE.get(raw, "unknown")
        elif any(isinstance(block, ToolUse) for block in self.blocks.completed):
            reason = "tool_use"
        elif self._refused:
            reason = "refusal"
        return [*events, UsageReport(usage), Finished(reason, usage, raw)]


def _hits(item: dict[str, Any]) -> Iterator[Hit]:
    """The addresses that a search used, and those that a message names."""
    if item["type"] == "web_search_call":
        for source in (item.get("action") or {}).get("sources") or ():
            if source.get("url"):
                yield Hit(source.get("title") or source["url"], source["url"])
    elif item["type"] == "message":
        for part in item.get("content") or ():
            for note in part.get("annotations") or ():
                if note.get("type") == "url_citation" and note.get("url"):
                    yield Hit(note.get("title") or note["url"], note["url"])


def usage_of(usage: Mapping[str, Any]) -> Usage:
    prompt = count(usage.get("input_tokens"))
    details = part(usage.get("input_tokens_details"))
    cached = count(details.get("cached_tokens"))
    written = count(details.get("cache_write_tokens"))
    return Usage(
        input=max(0, prompt - cached - written),
        output=count(usage.get("output_tokens")),
        cache_read=cached,
        cache_creation=written,
        reasoning=count(part(usage.get("output_tokens_details")).get("reasoning_tokens")),
    )

"""The Anthropic Messages API, streaming."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from checkrein.llm.anthropic_body import betas, encode, encode_message
from checkrein.llm.blocks import Blocks, Kind
from checkrein.llm.bodies import MessageBytes, encode_json
from checkrein.llm.cancel import Cancel
from checkrein.llm.connection import Timeouts
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
from checkrein.llm.stream import decode_event, error_event, stream
from checkrein.llm.values import count, part, text
from checkrein.llm.wire import Wire

if TYPE_CHECKING:
    from checkrein.llm.credential import Credential
    from checkrein.llm.sse import SseEvent

_BASE_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"
_PATH = "/v1/messages"

_STOPS: dict[str, StopReason] = {
    "end_turn": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "stop_sequence": "stop_sequence",
    "refusal": "refusal",
    "pause_turn": "pause_turn",
    "model_context_window_exceeded": "window_exceeded",
}
_KINDS: dict[str, Kind] = {
    "text": "text",
    "thinking": "thinking",
    "redacted_thinking": "redacted_thinking",
    "tool_use": "tool_use",
}


class AnthropicModel:
    """`api_key` goes into `x-api-key`, `auth_token` into `authorization`. Either may be absent when the
    endpoint does not need it. A `credential` makes the headers of each request."""

    searches = True

    def __init__(
        self,
        *,
        api_key: str | None = None,
        auth_token: str | None = None,
        credential: Credential | None = None,
        base_url: str = _BASE_URL,
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
        env: Mapping[str, str] | None = None,
        start: str | None = None,
    ) -> None:
        sent = {"anthropic-version": _VERSION, **(headers or {})}
        if api_key:
            sent["x-api-key"] = api_key
        if auth_token:
            sent["authorization"] = f"Bearer {auth_token}"
        self._wire = Wire(base_url, sent, timeouts=timeouts, env=env, start=start)
        self._secrets = tuple(secret for secret in (api_key, auth_token) if secret)
        self._credential = credential
        self._messages = MessageBytes(encode_message)

    def __repr__(self) -> str:
        return f"AnthropicModel({self._wire.endpoint})"

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        switched = betas(request)
        headers = {"anthropic-beta": ",".join(switched)} if switched else None
        body = encode(request, self._messages)
        credential = self._credential
        if credential is None:
            return stream(self._wire, _PATH, body, MessagesReader(), cancel, headers, self._secrets)
        from checkrein.llm.credential import Outgoing, joined, with_renewal

        asked = Outgoing(self._wire.endpoint.authority, self._wire.endpoint.path + _PATH, body)

        def once() -> Iterator[ModelEvent]:
            sent = joined(headers or {}, credential.headers(asked))
            return stream(self._wire, _PATH, body, MessagesReader(), cancel, sent, credential.secrets())

        return with_renewal(once, credential)

    def close(self) -> None:
        self._wire.close()


class MessagesReader:
    """Reads the events of one response. It skips block types that the port does not know."""

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.done = False
        self._started = False
        self._usage: dict[str, Any] = {}
        self._stop = ""
        self._sequence: str | None = None

    def read(self, event: SseEvent) -> list[ModelEvent]:
        value = decode_event(event)
        match value["type"]:
            case "content_block_delta":
                return self._delta(value["index"], value["delta"])
            case "content_block_start":
                return self._start(value["index"], value["content_block"])
            case "content_block_stop":
                return self.blocks.close(value["index"]) if self.blocks.is_open(value["index"]) else []
            case "message_start":
                message = value["message"]
                self._started = True
                return [
                    Started(text(message["id"]), text(message["model"])),
                    self._report(message.get("usage")),
                ]
            case "message_delta":
                self._stop = text(value["delta"].get("stop_reason")) or self._stop
                self._sequence = text(value["delta"].get("stop_sequence")) or None
                return [self._report(value.get("usage"))]
            case "message_stop":
                if not self._started:
                    raise ValueError("the end before the start")
                self.done = True
                reason = _STOPS.get(self._stop, "unknown")
                return [
                    *self.blocks.close_all(),
                    Finished(reason, usage_of(self._usage), self._stop, self._sequence),
                ]
            case "error":
                raise error_event(event.data)
            case _:
                return []

    def end(self) -> list[ModelEvent]:
        return []

    def _start(self, index: int, block: dict[str, Any]) -> list[ModelEvent]:
        if block["type"] == "web_search_tool_result":
            return [_searched(block.get("content"))]
        kind = _KINDS.get(block["type"])
        if kind is None:
            return []
        events = self.blocks.open(index, kind, text(block.get("id")), text(block.get("name")))
        if kind == "redacted_thinking":
            self.blocks.sign(index, block["data"])
        elif kind == "tool_use":
            if block.get("input"):
                events += self.blocks.add(index, encode_json(block["input"]).decode())
        else:
            events += self.blocks.add(index, block.get(kind) or "")
            self.blocks.sign(index, block.get("signature") or "")
        return events

    def _delta(self, index: int, delta: dict[str, Any]) -> list[ModelEvent]:
        if not self.blocks.is_open(index):
            return []
        match delta["type"]:
            case "text_delta":
                return self.blocks.add(index, delta["text"])
            case "input_json_delta":
                return self.blocks.add(index, delta["partial_json"])
            case "thinking_delta":
                return self.blocks.add(index, delta["thinking"])
            case "signature_delta":
                self.blocks.sign(index, delta["signature"])
        return []

    def _report(self, usage: object) -> UsageReport:
        self._usage |= {key: value for key, value in part(usage).items() if value is not None}
        return UsageReport(usage_of(self._usage))


def _searched(content: Any) -> Searched:
    if not isinstance(content, list):
        return Searched(error=str((content or {}).get("error_code") or "unknown"))
    found = [one for one in content if isinstance(one, dict) and one.get("url")]
    return Searched(tuple(Hit(str(one.get("title") or one["url"]), str(one["url"])) for one in found))


def usage_of(usage: Mapping[str, Any]) -> Usage:
    """The API's usage object as ours."""
    return Usage(
        input=count(usage.get("input_tokens")),
        output=count(usage.get("output_tokens")),
        cache_read=count(usage.get("cache_read_input_tokens")),
        cache_creation=count(usage.get("cache_creation_input_tokens")),
        cache_creation_1h=count(part(usage.get("cache_creation")).get("ephemeral_1h_input_tokens")),
        searches=count(part(usage.get("server_tool_use")).get("web_search_requests")),
    )

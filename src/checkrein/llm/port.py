"""The model port: a Request goes in, a stream of ModelEvents comes out.

Everything above this layer knows only this module (and `content`, `cancel`, `failures`, which it exports).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, Protocol

from msgspec import Struct

from checkrein.llm.cancel import Cancel
from checkrein.llm.content import (
    Base64,
    Block,
    Document,
    Image,
    Message,
    RedactedThinking,
    Role,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    Url,
    assistant,
    text_of,
    user,
)
from checkrein.llm.failures import CredentialRefusedError, FailureKind, Limits, ModelRequestError

__all__ = [
    "Base64",
    "Block",
    "BlockCompleted",
    "BlockStarted",
    "CacheMark",
    "Cancel",
    "CredentialRefusedError",
    "Document",
    "Effort",
    "FailureKind",
    "Finished",
    "Hit",
    "Image",
    "Limits",
    "Message",
    "Model",
    "ModelEvent",
    "ModelRequestError",
    "RedactedThinking",
    "Reply",
    "Request",
    "Role",
    "Search",
    "Searched",
    "Started",
    "StopReason",
    "SystemBlock",
    "Text",
    "TextDelta",
    "Thinking",
    "ThinkingDelta",
    "ToolCallDelta",
    "ToolResult",
    "ToolSpec",
    "ToolUse",
    "Url",
    "Usage",
    "UsageReport",
    "assistant",
    "collect",
    "text_of",
    "user",
]

Effort = Literal["low", "medium", "high", "xhigh", "max"]
StopReason = Literal[
    "end_turn",
    "tool_use",
    "max_tokens",
    "stop_sequence",
    "refusal",
    "pause_turn",
    "window_exceeded",
    "unknown",
]


class SystemBlock(Struct, frozen=True):
    text: str


class ToolSpec(Struct, frozen=True):
    """A tool as the model sees it. `schema` is the JSON Schema of its input; its key order is kept."""

    name: str
    description: str
    schema: dict[str, Any]


class CacheMark(Struct, frozen=True):
    """Ask the endpoint to cache the prompt up to and including this entry.

    `index` counts the entries of that section; -1 is the last one. `block` is the block of a message that
    carries the mark. Wires without marks ignore them."""

    section: Literal["tools", "system", "messages"]
    index: int = -1
    ttl: Literal["5m", "1h"] = "5m"
    block: int = -1


class Search(Struct, frozen=True):
    """Let the service search the web while it answers: at most `most` times, only in `allowed` domains or
    not in `blocked` ones. Of the wires, Messages and Responses have it."""

    most: int = 8
    allowed: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


class Request(Struct, frozen=True, kw_only=True):
    """One call of a model. The same Request always becomes the same bytes on a wire. A Request that extends
    the messages of another extends its message bytes (marks apart).

    `thinking`: None keeps the model's default; "adaptive" and "disabled" name a mode; a number is a budget
    in tokens. `tool_choice`: "auto", "any", "none", or the name of the tool that must be called.
    `task_budget` is about how many tokens the whole task may take; the model paces itself by it.
    `cache_key` groups the requests of one session for endpoints that cache by key. `extra` goes into the
    body unchanged, for fields that only one endpoint understands.
    """

    model: str
    messages: tuple[Message, ...]
    system: tuple[SystemBlock, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    max_tokens: int = 32_000
    temperature: float | None = None
    thinking: Literal["adaptive", "disabled"] | int | None = None
    thinking_display: Literal["summarized", "omitted"] | None = None
    effort: Effort | None = None
    task_budget: int | None = None
    stop: tuple[str, ...] = ()
    tool_choice: str = "auto"
    parallel_tools: bool = True
    output_schema: dict[str, Any] | None = None
    marks: tuple[CacheMark, ...] = ()
    cache_key: str | None = None
    user_id: str | None = None
    betas: tuple[str, ...] = ()
    extra: dict[str, Any] = {}
    search: Search | None = None


class Usage(Struct, frozen=True, gc=False):
    """Tokens. `input` excludes what was read from or written to the cache; `cache_creation_1h` is the part of
    `cache_creation` that is kept for an hour; `reasoning` is the part of `output` that was thinking.
    `searches` counts the service's searches of the web."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_creation: int = 0
    cache_creation_1h: int = 0
    reasoning: int = 0
    searches: int = 0

    @property
    def prompt(self) -> int:
        """All tokens of the prompt, cached or not."""
        return self.input + self.cache_read + self.cache_creation

    @property
    def total(self) -> int:
        return self.prompt + self.output

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cache_read + other.cache_read,
            self.cache_creation + other.cache_creation,
            self.cache_creation_1h + other.cache_creation_1h,
            self.reasoning + other.reasoning,
            self.searches + other.searches,
        )

    def __sub__(self, earlier: Usage) -> Usage:
        """What was used since."""
        return Usage(
            self.input - earlier.input,
            self.output - earlier.output,
            self.cache_read - earlier.cache_read,
            self.cache_creation - earlier.cache_creation,
            self.cache_creation_1h - earlier.cache_creation_1h,
            self.reasoning - earlier.reasoning,
            self.searches - earlier.searches,
        )


class Started(Struct, frozen=True, tag="started", gc=False):
    """The endpoint accepted the request. `id` is its message id, `model` the model that really answers."""

    id: str
    model: str


class BlockStarted(Struct, frozen=True, tag="block_started", gc=False):
    """`id` and `name` are set for tool calls."""

    index: int
    kind: Literal["text", "thinking", "redacted_thinking", "tool_use"]
    id: str = ""
    name: str = ""


class TextDelta(Struct, frozen=True, tag="text_delta", gc=False):
    index: int
    text: str


class ThinkingDelta(Struct, frozen=True, tag="thinking_delta", gc=False):
    index: int
    text: str


class ToolCallDelta(Struct, frozen=True, tag="tool_call_delta", gc=False):
    """A fragment of the arguments' JSON text."""

    index: int
    json: str


class BlockCompleted(Struct, frozen=True, tag="block_completed"):
    """The whole block. From here on a tool call may run."""

    index: int
    block: Text | Thinking | RedactedThinking | ToolUse


class UsageReport(Struct, frozen=True, tag="usage_report", gc=False):
    """The tokens of this response so far. The last report counts; it includes the earlier ones."""

    usage: Usage


class Hit(Struct, frozen=True, omit_defaults=True):
    title: str
    url: str
    snippet: str = ""


class Searched(Struct, frozen=True, tag="searched"):
    """The service searched the web. It may come anywhere between the first and the last event."""

    hits: tuple[Hit, ...] = ()
    error: str = ""


class Finished(Struct, frozen=True, tag="finished", gc=False):
    """`raw_stop_reason` is the wire's own word, `stop_sequence` the sequence that stopped the model."""

    stop_reason: StopReason
    usage: Usage
    raw_stop_reason: str = ""
    stop_sequence: str | None = None


ModelEvent = (
    Started
    | BlockStarted
    | TextDelta
    | ThinkingDelta
    | ToolCallDelta
    | BlockCompleted
    | UsageReport
    | Searched
    | Finished
)


class Model(Protocol):
    """Something that answers requests.

    `stream` yields `Started` first and `Finished` last, each once. Between them, for each block in order of
    `index` from 0 without gaps: `BlockStarted`, its deltas, `BlockCompleted`; blocks do not overlap.
    The deltas of a block concatenate to the completed block. `UsageReport` may come anywhere between.
    A reply may have no block at all. Nothing is sent before the first `next()`.

    It raises only `ModelRequestError`, from `next()`, at any point; nothing follows. An early close
    gives up the connection. `cancel` ends a blocked `next()` with a failure of kind `cancelled`.

    Several threads may use one Model at the same time; one iterator belongs to one thread.
    """

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]: ...


class Reply(Struct, frozen=True):
    """A whole response."""

    id: str
    model: str
    content: tuple[Text | Thinking | RedactedThinking | ToolUse, ...]
    stop_reason: StopReason
    usage: Usage
    raw_stop_reason: str = ""
    stop_sequence: str | None = None

    @property
    def text(self) -> str:
        return text_of(self.content)

    @property
    def tool_calls(self) -> tuple[ToolUse, ...]:
        return tuple(block for block in self.content if isinstance(block, ToolUse))

    @property
    def message(self) -> Message:
        return Message("assistant", self.content)


def collect(events: Iterable[ModelEvent]) -> Reply:
    """Read a stream to its end."""
    started = Started("", "")
    blocks: list[Text | Thinking | RedactedThinking | ToolUse] = []
    for event in events:
        if isinstance(event, BlockCompleted):
            blocks.append(event.block)
        elif isinstance(event, Started):
            started = event
        elif isinstance(event, Finished):
            return Reply(
                started.id,
                started.model,
                tuple(blocks),
                event.stop_reason,
                event.usage,
                event.raw_stop_reason,
                event.stop_sequence,
            )
    raise ModelRequestError("dropped", "The stream ended without an end event.", completed=tuple(blocks))

"""The values that the store returns: frozen, no I/O.

Messages are plain dicts in the wire-neutral form `{"role": ..., "content": [block, ...]}`; blocks have the
Anthropic JSON shapes. Loading guarantees this normal form for any damaged file:

- roles alternate and the first message is the user's; content is a list of at least one dict;
- every `tool_use` id occurs once, and the next message begins with exactly one `tool_result` for each call
  of the message before it, in the order of the calls; there are no other tool results;
- entries of one response (same `message.id`) are one message; there are no blank text blocks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from checkrein.base.diagnostic import Diagnostic

Entry = dict[str, Any]
Block = dict[str, Any]
Message = dict[str, Any]

SessionKind = Literal["interactive", "print", "sdk", "background", "recipe"]
Effect = Literal["unknown", "none"]


class ChildTag(Struct, frozen=True):
    """The child that a transcript belongs to: its id, and the parent's call that it belongs to."""

    agent_id: str
    call: str


class Usage(Struct, frozen=True, omit_defaults=True):
    """Tokens and money of one session file. Each response counts once; history that a fork copied does not
    count."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_creation_input_tokens: int = 0
    cache_read_input_tokens: int = 0
    cost_usd: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.cache_creation_input_tokens + other.cache_creation_input_tokens,
            self.cache_read_input_tokens + other.cache_read_input_tokens,
            self.cost_usd + other.cost_usd,
        )


class InterruptedCall(Struct, frozen=True):
    """A tool call without a result in the file. The messages hold a result for it; it must never run again.

    `effect` is "none" only when the file proves that the call never started (a Checkrein entry without a
    `tool_started` mark); else it is "unknown". `input` is empty when the call itself could not be read.
    """

    id: str
    name: str
    input: dict[str, Any]
    effect: Effect
    line: int


class Branch(Struct, frozen=True):
    """Entries of the file that are not in this conversation; `load(..., leaf=branch.leaf)` gives them."""

    leaf: str
    line: int
    entries: int


class Parent(Struct, frozen=True):
    """The session this one was forked from, and the last entry both share."""

    session_id: str
    message: str | None = None


class Outline(Struct, frozen=True, kw_only=True):
    """Everything about a session except its message bodies. Streaming builds it: its memory does not grow
    with the file.

    `leaf` is the uuid the next entry continues from. `created_at` and `updated_at` are recorded times,
    never the file's. `prompt_count` counts what the user typed, in the whole file. `result` is the terminal
    result when no message follows it. `checkpoints` are newest last. `native` is false for sessions of
    other programs.
    """

    session_id: str
    path: Path
    leaf: str | None = None
    message_count: int = 0
    prompt_count: int = 0
    usage: Usage = Usage()
    interrupted: tuple[InterruptedCall, ...] = ()
    branches: tuple[Branch, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    title: str | None = None
    generated_title: str | None = None
    tag: str | None = None
    first_prompt: str | None = None
    last_prompt: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    version: str | None = None
    model: str | None = None
    mode: str | None = None
    agent: str | None = None
    kind: SessionKind = "interactive"
    parent: Parent | None = None
    native: bool = False
    created_at: str | None = None
    updated_at: str | None = None
    state: dict[str, Any] = {}
    checkpoints: tuple[dict[str, Any], ...] = ()
    result: dict[str, Any] | None = None

    @property
    def deferred(self) -> InterruptedCall | None:
        """The call that a hook put off. It never started, and comes up again when the session goes on."""
        named = self.state.get("deferred")
        return next((call for call in self.interrupted if call.id == named and call.effect == "none"), None)


class Conversation(Outline, frozen=True, kw_only=True):
    """An Outline with its messages. `sources[i]` are the uuids of the entries that message i was made of."""

    messages: tuple[Message, ...] = ()
    sources: tuple[tuple[str, ...], ...] = ()


class SessionInfo(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One row of a list; every id in it can be loaded. `suspect` is set when nobody acknowledged the end of a
    turn, so the state of the session is unknown."""

    session_id: str
    path: Path
    size: int
    cwd: str | None = None
    title: str | None = None
    first_prompt: str | None = None
    last_prompt: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    prompt_count: int = 0
    message_count: int = 0
    usage: Usage = Usage()
    stopped: bool = False
    kind: SessionKind = "interactive"
    git_branch: str | None = None
    model: str | None = None
    tag: str | None = None
    parent: Parent | None = None
    native: bool = False
    suspect: dict[str, Any] | None = None

    @property
    def summary(self) -> str:
        """What a list shows: the title, else the latest prompt, else the first."""
        return self.title or self.last_prompt or self.first_prompt or ""


class Match(Struct, frozen=True):
    """A message that holds the searched text; `excerpt` is the text around its first occurrence."""

    session: SessionInfo
    uuid: str
    role: str
    line: int
    excerpt: str

"""What the session knows of a connected MCP server. Nothing here imports the `mcp` package.

A `Connection` belongs to one server; any thread may use it. Each request ends with a value, or raises
`ServerFailure`: within its time limit, and soon after `cancel` fires. Texts from a server are data: nobody
believes them, and nobody prints them raw.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

from msgspec import Struct

from checkrein.base.origin import Scope
from checkrein.llm.cancel import Cancel

State = Literal["pending", "connected", "failed", "needs-auth", "disabled"]

Progress = Callable[[float, float | None, str | None], object]
"""Hears of a call's progress: how far, of how much, and what the server says about it."""


class RemoteTool(Struct, frozen=True, kw_only=True):
    """A tool as the server declares it. `annotations` and `meta` are claims of the server, `given` is the
    whole declaration as the wire has it."""

    name: str
    description: str = ""
    title: str | None = None
    schema: dict[str, Any] = {}
    output_schema: dict[str, Any] | None = None
    annotations: dict[str, Any] = {}
    meta: dict[str, Any] = {}
    given: dict[str, Any] = {}


class RemoteArgument(Struct, frozen=True, kw_only=True):
    name: str
    description: str = ""
    required: bool = False


class RemotePrompt(Struct, frozen=True, kw_only=True):
    name: str
    description: str = ""
    title: str | None = None
    arguments: tuple[RemoteArgument, ...] = ()
    given: dict[str, Any] = {}


class RemoteResource(Struct, frozen=True, kw_only=True):
    """A resource, or a template for some when `uri` has `{variables}`."""

    uri: str
    name: str
    description: str = ""
    mime_type: str | None = None
    template: bool = False
    given: dict[str, Any] = {}


class Catalog(Struct, frozen=True, kw_only=True):
    """What a server offers, as it last listed it."""

    tools: tuple[RemoteTool, ...] = ()
    prompts: tuple[RemotePrompt, ...] = ()
    resources: tuple[RemoteResource, ...] = ()
    instructions: str = ""
    server_name: str = ""
    server_version: str = ""
    protocol: str = ""


class Status(Struct, frozen=True, kw_only=True):
    """How a server is. `error` says why it is not connected, and what to do."""

    name: str
    state: State
    scope: Scope
    transport: str
    error: str | None = None
    connect_ms: int | None = None


class CallResult(Struct, frozen=True, kw_only=True):
    """`content` are the content blocks as the wire has them."""

    content: tuple[dict[str, Any], ...] = ()
    structured: Any = None
    is_error: bool = False
    meta: dict[str, Any] = {}


class PromptMessage(Struct, frozen=True, kw_only=True):
    """`content` is one content block as the wire has it."""

    role: str
    content: dict[str, Any]


class ServerFailure(Exception):  # noqa: N818  it is an answer, not an error of ours
    """A request to a server failed. The text says why, and what to do."""

    def __init__(self, message: str, *, kind: str = "failed") -> None:
        """`kind`: failed, timeout, cancelled, needs_auth, gone."""
        super().__init__(message)
        self.message = message
        self.kind = kind


class Connection(Protocol):
    """One server, connected or not. Requests to one that is not connected raise `ServerFailure` (gone)."""

    @property
    def name(self) -> str: ...
    @property
    def status(self) -> Status: ...
    @property
    def catalog(self) -> Catalog: ...

    def call_tool(
        self,
        tool: str,
        input: dict[str, Any],
        cancel: Cancel,
        progress: Progress | None = None,
        call: str = "",
    ) -> CallResult:
        """`call` is the id of the model's call, which the server hears of."""
        ...

    def read_resource(self, uri: str, cancel: Cancel) -> tuple[dict[str, Any], ...]:
        """The contents as the wire has them: `uri`, `mimeType`, and `text` or `blob`."""
        ...

    def get_prompt(
        self, prompt: str, arguments: dict[str, str], cancel: Cancel
    ) -> tuple[PromptMessage, ...]: ...

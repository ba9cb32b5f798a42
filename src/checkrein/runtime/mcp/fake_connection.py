"""A Connection without a server: prepared answers, and a record of the requests. For tests."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from checkrein.base.origin import Scope
from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import (
    CallResult,
    Catalog,
    Progress,
    PromptMessage,
    ServerFailure,
    State,
    Status,
)

Answer = Callable[[str, dict[str, Any]], CallResult]


class FakeConnection:
    """`answer` gets the tool and the input of each call, and may raise ServerFailure. `contents` are the
    resources by their address, `messages` the prompts by their name; others fail. `calls` has each request:
    its method, what it names, and its input."""

    def __init__(
        self,
        name: str,
        catalog: Catalog | None = None,
        *,
        answer: Answer | None = None,
        contents: dict[str, tuple[dict[str, Any], ...]] | None = None,
        messages: dict[str, tuple[PromptMessage, ...]] | None = None,
        state: State = "connected",
        scope: Scope = "user",
    ) -> None:
        self.name = name
        self.catalog = catalog or Catalog()
        self.status = Status(name=name, state=state, scope=scope, transport="fake")
        self.calls: list[tuple[str, str, dict[str, Any]]] = []
        self._answer = answer or (lambda tool, input: CallResult())
        self._contents = contents or {}
        self._messages = messages or {}

    def call_tool(
        self,
        tool: str,
        input: dict[str, Any],
        cancel: Cancel,
        progress: Progress | None = None,
        call: str = "",
    ) -> CallResult:
        self._request("tools/call", tool, input)
        return self._answer(tool, input)

    def read_resource(self, uri: str, cancel: Cancel) -> tuple[dict[str, Any], ...]:
        self._request("resources/read", uri, {})
        if uri not in self._contents:
            raise ServerFailure(f"There is no resource {uri}.")
        return self._contents[uri]

    def get_prompt(self, prompt: str, arguments: dict[str, str], cancel: Cancel) -> tuple[PromptMessage, ...]:
        self._request("prompts/get", prompt, arguments)
        if prompt not in self._messages:
            raise ServerFailure(f"There is no prompt {prompt}.")
        return self._messages[prompt]

    def _request(self, method: str, what: str, input: dict[str, Any]) -> None:
        if self.status.state != "connected":
            raise ServerFailure(f"The MCP server {self.name} is not connected.", kind="gone")
        self.calls.append((method, what, dict(input)))

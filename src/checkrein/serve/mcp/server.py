"""The MCP server itself: requests of clients, each led to the client's own visit.

It speaks the protocol with a handshake: what a client has opened, subscribed to or may be asked belongs to
its session.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import mcp_types as types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.models import InitializationOptions
from mcp.shared.exceptions import MCPError

from checkrein import __version__
from checkrein.serve.mcp.gateway import Gateway
from checkrein.serve.mcp.line import Request
from checkrein.serve.mcp.visit import Served, Visit

_VISIT = "checkrein"
CallNext = Callable[[Request], Awaitable[Any]]


class Announcing(Server[Any]):
    """A server that tells its clients when a list has changed."""

    def create_initialization_options(self, *given: Any, **named: Any) -> InitializationOptions:
        changes = NotificationOptions(tools_changed=True, prompts_changed=True, resources_changed=True)
        return super().create_initialization_options(*given or (changes,), **named)


class Counter:
    """Where clients arrive. `make` gives each its visit."""

    def __init__(self, make: Callable[[Request], Visit]) -> None:
        self._make = make

    def visit(self, request: Request) -> Any:
        connection = request.session._connection  # the library has no public way to the client's state
        found = connection.state.get(_VISIT)
        if found is None:
            found = connection.state[_VISIT] = self._make(request)
            connection.exit_stack.push_async_callback(found.close)
        return found

    async def list_tools(self, request: Request, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=await self.visit(request).list_tools())

    async def call_tool(self, request: Request, params: types.CallToolRequestParams) -> types.CallToolResult:
        result: types.CallToolResult = await self.visit(request).call_tool(
            request, params.name, params.arguments or {}
        )
        return result


class ResourceCounter(Counter):
    """With resources."""

    @property
    def handlers(self) -> dict[str, Any]:
        return {
            "on_list_resources": self.list_resources,
            "on_list_resource_templates": self.list_templates,
            "on_read_resource": self.read,
        }

    async def list_resources(self, request: Request, params: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=await self.visit(request).list_resources())

    async def list_templates(self, request: Request, params: Any) -> types.ListResourceTemplatesResult:
        found = await self.visit(request).list_templates()
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def read(
        self, request: Request, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        result: types.ReadResourceResult = await self.visit(request).read_resource(request, params.uri)
        return result


class GatewayCounter(ResourceCounter):
    """The further requests, for the servers behind the gateway."""

    async def greet(self, ctx: Request, call_next: CallNext) -> Any:
        """The handshake says what the servers say about their use."""
        answer = await call_next(ctx)
        if ctx.method != "initialize":
            return answer
        visit: Gateway = self.visit(ctx)
        visit.line.offered = types.InitializeRequestParams.model_validate(ctx.params).capabilities
        said = await visit.instructions()
        return {**answer, "instructions": said} if said else answer

    async def subscribe(self, request: Request, params: types.SubscribeRequestParams) -> types.EmptyResult:
        await self.visit(request).subscribe(params.uri, on=True)
        return types.EmptyResult()

    async def unsubscribe(
        self, request: Request, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        await self.visit(request).subscribe(params.uri, on=False)
        return types.EmptyResult()

    async def list_prompts(self, request: Request, params: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult(prompts=await self.visit(request).list_prompts())

    async def get_prompt(
        self, request: Request, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        result: types.GetPromptResult = await self.visit(request).get_prompt(
            request, params.name, params.arguments
        )
        return result

    async def complete(self, request: Request, params: types.CompleteRequestParams) -> types.CompleteResult:
        result: types.CompleteResult = await self.visit(request).complete(params)
        return result

    async def set_level(self, request: Request, params: types.SetLevelRequestParams) -> types.EmptyResult:
        await self.visit(request).set_level(params.level)
        return types.EmptyResult()


def make_server(served: Served) -> Server[Any]:
    if served.through is not None:
        return _gateway(served)
    from checkrein.serve.mcp.kitchen import Kitchen

    counter = ResourceCounter(lambda request: Kitchen(served, request))
    return _named(counter, served, counter.handlers)


def _gateway(served: Served) -> Server[Any]:
    counter = GatewayCounter(lambda request: Gateway(served, request))
    server = _named(
        counter,
        served,
        {
            **counter.handlers,
            "on_subscribe_resource": counter.subscribe,
            "on_unsubscribe_resource": counter.unsubscribe,
            "on_list_prompts": counter.list_prompts,
            "on_get_prompt": counter.get_prompt,
            "on_completion": counter.complete,
        },
    )
    server.middleware.append(counter.greet)
    server.add_request_handler("logging/setLevel", types.SetLevelRequestParams, counter.set_level)
    return server


def _named(counter: Counter, served: Served, more: dict[str, Any]) -> Server[Any]:
    server = Announcing(
        "checkrein",
        version=__version__,
        title="Checkrein",
        on_list_tools=counter.list_tools,
        on_call_tool=counter.call_tool,
        **more,
    )
    server.middleware[:] = [_with_handshake]
    return server


async def _with_handshake(ctx: Request, call_next: CallNext) -> Any:
    """A client of the protocol without one hears which versions there are, and shakes hands."""
    from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

    if ctx.method == "server/discover" or ctx.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        raise MCPError(
            code=types.UNSUPPORTED_PROTOCOL_VERSION,
            message="This server speaks the protocol with a handshake.",
            data={"supported": list(HANDSHAKE_PROTOCOL_VERSIONS), "requested": ctx.protocol_version},
        )
    return await call_next(ctx)

"""The gateway: configured servers behind one, every call judged by the project's rules and hooks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import mcp_types as types
from mcp.shared.exceptions import MCPError

from checkrein.base.harmless import harmless, one_line
from checkrein.base.ids import short_id
from checkrein.llm.cancel import Cancel
from checkrein.model.view import View
from checkrein.policy.remote import Remote
from checkrein.policy.servers import denial_of_prompt
from checkrein.runtime.call.host import Done
from checkrein.runtime.mcp.connection import Catalog, Connection, Progress
from checkrein.runtime.mcp.link import Link
from checkrein.runtime.mcp.resource_tools import READ
from checkrein.runtime.mcp.server_tool import ServerTool, instructions_of
from checkrein.runtime.session.session import Session
from checkrein.serve.mcp.line import Request
from checkrein.serve.mcp.passed_tools import PassedResource, PassedTool
from checkrein.serve.mcp.upstream import Names, asked, declared, owners, wire
from checkrein.serve.mcp.visit import Served, Visit, failed

_LEVELS: tuple[str, ...] = ("debug", "info", "notice", "warning", "error", "critical", "alert", "emergency")
_GREETING = 10.0
"""Seconds that the handshake waits for servers."""
_CHANGES: dict[str, Any] = {
    "tools": types.ToolListChangedNotification,
    "prompts": types.PromptListChangedNotification,
    "resources": types.ResourceListChangedNotification,
}


class Gateway(Visit):
    """One client of the gateway, with connections of its own to the servers. A `Relay` for them."""

    def __init__(self, served: Served, request: Request) -> None:
        super().__init__(served, request)
        self._results: dict[str, dict[str, Any]] = {}
        self._requests: dict[str, Request] = {}
        self._seen: dict[str, Catalog] = {}
        self._tool_names, self._prompt_names = Names(served.through or ()), Names(served.through or ())

    @property
    def can_sample(self) -> bool:
        return self.person.can_sample

    def sample(self, server: str, asked: dict[str, Any], cancel: Cancel) -> dict[str, Any]:
        return self.person.sample(server, asked, cancel)

    def heard(self, server: str, method: str, params: dict[str, Any]) -> None:
        if method == "notifications/resources/updated":
            about = types.ResourceUpdatedNotificationParams.model_validate(params)
            self.line.tell(types.ResourceUpdatedNotification(params=about), apart=True)
            return
        said = types.LoggingMessageNotificationParams.model_validate(params)
        if _LEVELS.index(said.level) >= _LEVELS.index(self.line.level):
            self.line.tell(types.LoggingMessageNotification(params=said))

    def changed(self, connection: Connection) -> None:
        """Put the tools of a server behind the passing ones, and tell the client which lists are new."""
        session, before, now = self._session, self._seen.get(connection.name), connection.catalog
        if session is None or connection.status.state != "connected":
            return
        self._pass_on(session)
        self._seen[connection.name] = now
        for kind, notification in _CHANGES.items():
            if before is not None and getattr(before, kind) != getattr(now, kind):
                self.line.tell(notification(), apart=True)

    def view(self) -> View:
        return super().view().narrow(servers=self.served.through or ())

    async def instructions(self) -> str:
        """What the servers say about their use, each under its name. A slow one does not hold the client
        up: what it says is missing then."""
        opening = asyncio.ensure_future(self.session())
        done, _ = await asyncio.wait((opening,), timeout=_GREETING)
        opening.add_done_callback(lambda task: task.cancelled() or task.exception())
        if not done or opening.exception() is not None:
            return ""  # the first request hears the failure
        session = opening.result()
        open_links = (link for link in self._links(session) if not _is_denied(session, link))
        said = ((link.name, instructions_of(link)) for link in open_links)
        return "\n\n".join(
            f"Instructions of the MCP server {one_line(name)}:\n{harmless(text)}"
            for name, text in said
            if text
        )

    async def list_tools(self) -> list[types.Tool]:
        session = await self.session()
        passed = self._passed(session)
        return declared(
            types.Tool,
            ((name, passed[owned].inner.tool.given) for name, owned in self._tool_names.of(passed).items()),
        )

    async def call_tool(self, request: Request, name: str, input: dict[str, Any]) -> types.CallToolResult:
        session = await self.session()
        passed = self._passed(session)
        owned = self._tool_names.of(passed).get(name)
        if owned is None:
            return failed(
                " ".join((f"No server here offers the tool {one_line(name)[:100]!r}.", *_absences(session)))
            )
        id = short_id("call_")
        self._requests[id] = request
        try:
            with self.line.during(request):
                done = await self.call(passed[owned].name, input, id)
                await self.line.settled()
            return self._result(done, id)
        finally:
            self._requests.pop(id, None)
            self._results.pop(id, None)

    async def read_resource(self, request: Request, uri: str) -> types.ReadResourceResult:
        session = await self.session()
        _look_ahead(session)
        link = next(owners(self._links(session), uri), None)
        id = short_id("call_")
        try:
            with self.line.during(request):
                done = await self.call(READ, {"server": link.name if link else "", "uri": uri}, id)
            kept = self._results.get(id)
        finally:
            self._results.pop(id, None)
        if done.finished.is_error or kept is None:
            code = types.INVALID_REQUEST if done.finished.refused else types.INVALID_PARAMS
            raise MCPError(code=code, message=str(done.finished.content), data={"uri": uri})
        return types.ReadResourceResult.model_validate(kept)

    async def list_resources(self) -> list[types.Resource]:
        return declared(types.Resource, await self._resources(template=False))

    async def list_templates(self) -> list[types.ResourceTemplate]:
        return declared(types.ResourceTemplate, await self._resources(template=True))

    async def list_prompts(self) -> list[types.Prompt]:
        session = await self.session()
        given = {
            (link.name, prompt.name): prompt.given
            for link in self._links(session)
            for prompt in link.catalog.prompts
        }
        return declared(
            types.Prompt, ((name, given[owned]) for name, owned in self._prompts(session).items())
        )

    async def get_prompt(
        self, request: Request, name: str, arguments: dict[str, str] | None
    ) -> types.GetPromptResult:
        session = await self.session()
        link, own = self._prompt(session, name)
        host = session.conversation.host
        with self.line.during(request):
            result = await self._ask(
                link, lambda client: client.get_prompt(own, arguments), f"The prompt `{own}`"
            )
            await self.line.settled()
        session.conversation.recorder.writer.mark("prompt", server=link.name, name=own)
        return types.GetPromptResult.model_validate(host.bench.cover().value(wire(result)))

    async def complete(self, params: types.CompleteRequestParams) -> types.CompleteResult:
        session = await self.session()
        ref = params.ref
        if isinstance(ref, types.PromptReference):
            link, own = self._prompt(session, ref.name)
            ref = ref.model_copy(update={"name": own})
        else:
            link = self._owner(session, ref.uri)
        about = types.CompleteRequest(params=params.model_copy(update={"ref": ref}))
        done: types.CompleteResult = await self._ask(
            link, lambda client: client.session.send_request(about, types.CompleteResult), "A completion"
        )
        return done

    async def subscribe(self, uri: str, *, on: bool) -> None:
        session = await self.session()
        link = self._owner(session, uri)
        request: Any = (
            types.SubscribeRequest(params=types.SubscribeRequestParams(uri=uri))
            if on
            else types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
        )
        await self._ask(
            link, lambda client: client.session.send_request(request, types.EmptyResult), "A subscription"
        )

    async def set_level(self, level: types.LoggingLevel) -> None:
        """Servers that have no levels send everything; the line keeps what the client wants."""
        session = await self.session()
        self.line.level = level
        request = types.SetLevelRequest(params=types.SetLevelRequestParams(level=level))
        for link in self._links(session):
            if link.catalog.protocol:
                await asyncio.gather(
                    self._ask(
                        link,
                        lambda client: client.session.send_request(request, types.EmptyResult),
                        "Its log",
                    ),
                    return_exceptions=True,
                )

    def _result(self, done: Done, id: str) -> types.CallToolResult:
        """The server's own result, unless a hook put another in its place. What hooks say comes after it."""
        finished, kept = done.finished, self._results.get(id)
        if finished.refused or kept is None or not self._is_own(finished.content, kept):
            result = failed(str(finished.content)) if finished.is_error else _said(finished.content)
        else:
            result = types.CallToolResult.model_validate(kept)
        extra = [types.TextContent(type="text", text=one.text) for one in done.after]
        return result.model_copy(update={"content": [*result.content, *extra]}) if extra else result

    def _is_own(self, content: Any, kept: dict[str, Any]) -> bool:
        from checkrein.serve.mcp.passed_tools import text_of

        return isinstance(content, str) and (content == text_of(kept["content"]) or bool(kept.get("isError")))

    def _open(self) -> Session:
        session = super()._open()
        try:
            session.control.relay = self
            servers = session.conversation.services.servers
            self._session = session
            if servers is not None:
                for name in self.served.through or ():
                    servers.wait(name, self._ended)
            self._pass_on(session)
            for text in _absences(session):
                said = types.LoggingMessageNotificationParams(level="error", logger="checkrein", data=text)
                self.line.tell(types.LoggingMessageNotification(params=said), apart=True)
        except BaseException:
            session.close()
            raise
        return session

    def _pass_on(self, session: Session) -> None:
        """Each tool of a server, and the one that reads resources, in the form that passes results on."""
        services = session.conversation.services
        found = [tool for tool in services.tools if isinstance(tool, ServerTool)]
        servers = services.servers
        if servers is not None:
            services.tools.add(
                PassedResource(servers.servers.get, self._keep),
                *(PassedTool(tool, self._keep, self._hears) for tool in found),
            )

    def _keep(self, id: str, result: dict[str, Any]) -> None:
        self._results[id] = result

    def _hears(self, id: str) -> Progress | None:
        request = self._requests.get(id)
        if request is None:
            return None

        def tell(done: float, total: float | None, message: str | None) -> None:
            self.line.progress(request, done, total, message)

        return tell

    def _links(self, session: Session) -> list[Link]:
        servers = session.conversation.services.servers
        found = servers.servers.connections() if servers is not None else ()
        ready = {one.name: one for one in found if isinstance(one, Link) and one.status.state == "connected"}
        return [ready[name] for name in self.served.through or () if name in ready]

    def _passed(self, session: Session) -> dict[tuple[str, str], PassedTool]:
        """The tools that the rules leave, by server and name, as the servers list them."""
        _look_ahead(session)
        left = {
            (tool.inner.remote.server, tool.inner.tool.name): tool
            for tool in session.conversation.host.tools
            if isinstance(tool, PassedTool)
        }
        listed = ((link.name, tool.name) for link in self._links(session) for tool in link.catalog.tools)
        return {owned: left[owned] for owned in listed if owned in left}

    def _prompts(self, session: Session) -> dict[str, tuple[str, str]]:
        host = session.conversation.host
        policy, trusted = host.gate.policy, host.gate.context(host.cwd).trusted
        return self._prompt_names.of(
            (link.name, prompt.name)
            for link in self._links(session)
            for prompt in link.catalog.prompts
            if denial_of_prompt(policy, trusted, Remote(link.name, prompt.name)) is None
        )

    def _prompt(self, session: Session, name: str) -> tuple[Link, str]:
        owned = self._prompts(session).get(name)
        link = next((one for one in self._links(session) if owned and one.name == owned[0]), None)
        if owned is None or link is None:
            text = f"No server behind the gateway offers the prompt {one_line(name)!r}."
            raise MCPError(code=types.INVALID_PARAMS, message=text)
        return link, owned[1]

    def _owner(self, session: Session, uri: str) -> Link:
        """The server of a resource, if the rules let the client read it."""
        link = next(owners(self._links(session), uri), None)
        host = session.conversation.host
        input = {"server": link.name if link else "", "uri": uri}
        if link is None or host.gate.decide(READ, input, host.cwd).verdict != "allow":
            raise MCPError(code=types.INVALID_PARAMS, message=f"No server here has {one_line(uri)}.")
        return link

    async def _ask(self, link: Link, ask: Callable[[Any], Any], what: str) -> Any:
        return await self.work(lambda cancel: asked(link, ask, cancel, what))

    async def _resources(self, *, template: bool) -> list[tuple[str, dict[str, Any]]]:
        session = await self.session()
        return [
            (resource.name, resource.given)
            for link in self._links(session)
            if not _is_denied(session, link)
            for resource in link.catalog.resources
            if resource.template is template
        ]


def _is_denied(session: Session, link: Link) -> bool:
    """Whether the rules deny to read from a server at all."""
    host = session.conversation.host
    return host.gate.decide(READ, {"server": link.name, "uri": ""}, host.cwd).verdict == "deny"


def _absences(session: Session) -> list[str]:
    """The servers that are not there, and why."""
    servers = session.conversation.services.servers
    return [
        f"The server {one_line(one.name)} is {one.state}: {one.error or 'it has not answered yet'}"
        for one in (servers.statuses() if servers is not None else ())
        if one.state != "connected"
    ]


def _look_ahead(session: Session) -> None:
    """Know the tools that servers have listed since."""
    host = session.conversation.host
    host.view.look_ahead()
    host.gate.know(host.tools.registry)


def _said(content: Any) -> types.CallToolResult:
    text = content if isinstance(content, str) else "\n".join(getattr(one, "text", "") for one in content)
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)])

"""Checkrein's own tools for one client: few until it opens the kitchen."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import unquote

import mcp_types as types
from mcp.shared.exceptions import MCPError
from msgspec.structs import replace

from checkrein import __version__
from checkrein.base.harmless import one_line
from checkrein.facts.kitchen import KitchenTool as Row
from checkrein.facts.kitchen import kitchen_tools
from checkrein.passes.visibility.tool_visibility import Kitchen as State
from checkrein.passes.visibility.tool_visibility import refusal
from checkrein.runtime.call.host import Done
from checkrein.runtime.session.configured import configured
from checkrein.runtime.session.session import Session
from checkrein.runtime.tools.port import AnyTool, ToolContext
from checkrein.serve.mcp.hands import Hands, PlainBash
from checkrein.serve.mcp.kitchen_tool import KitchenTool
from checkrein.serve.mcp.line import Request
from checkrein.serve.mcp.menu import BUILTIN, MENU
from checkrein.serve.mcp.shift import Shift
from checkrein.serve.mcp.visit import Served, Visit, failed
from checkrein.serve.mcp.work.recipes import load_recipe, recipes_at

OPEN, CLOSE = "open_kitchen", "close_kitchen"
RECIPE = "recipe://"
_YAML = "application/yaml"


class Kitchen(Visit):
    """One client. A tool that it does not see it can't call: both come from one function."""

    def __init__(self, served: Served, request: Request) -> None:
        super().__init__(served, request)
        self.state = State(mode="headless" if served.worker else "plain")
        self.shift = Shift()
        self._bash = PlainBash()

    def tools(self) -> tuple[AnyTool, ...]:
        own = (
            KitchenTool(name, one.work, self._hands, reads=one.reads, asks=one.asks)
            for name, one in MENU.items()
        )
        return (self._bash, self._opener(OPEN, self._opened), self._opener(CLOSE, self._closed), *own)

    async def list_tools(self) -> list[types.Tool]:
        session = await self._ready()
        return [
            _declared(tool) for tool in session.conversation.host.tools if self._why_not(tool.name) is None
        ]

    async def call_tool(self, request: Request, name: str, input: dict[str, Any]) -> types.CallToolResult:
        session = await self._ready()
        if session.conversation.host.tools.get(name) is None or name not in (*MENU, *BUILTIN, OPEN, CLOSE):
            return failed(f"There is no tool {one_line(name)[:100]!r} here.")
        hidden = self._why_not(name)
        if hidden is not None:
            return failed(f"Refused: {hidden}.")
        before = self.state
        with self.line.during(request):
            done = await self.call(name, input)
            if self.state != before:
                self.line.tell(types.ToolListChangedNotification(), apart=True)
            await self.line.settled()
        return _result(done)

    async def list_resources(self) -> list[types.Resource]:
        """The recipes. A worker has none."""
        session = await self._ready()
        if self.state.mode == "headless":
            return []
        found = await self.work(lambda cancel: recipes_at(session.conversation.view.project.place.root))
        return [
            types.Resource(
                uri=f"{RECIPE}{one.name}", name=one.name, description=one.description, mime_type=_YAML
            )
            for one in found
        ]

    async def list_templates(self) -> list[types.ResourceTemplate]:
        if self.state.mode == "headless":
            return []
        what = "A recipe, as its file has it."
        return [
            types.ResourceTemplate(
                uri_template=f"{RECIPE}{{name}}", name="recipe", description=what, mime_type=_YAML
            )
        ]

    async def read_resource(self, request: Request, uri: str) -> types.ReadResourceResult:
        """As `load_recipe` reads it, through hooks and gate; also before the kitchen is open."""
        await self._ready()
        if self.state.mode == "headless" or not uri.startswith(RECIPE):
            raise MCPError(
                code=types.INVALID_PARAMS, message=f"There is no resource {one_line(uri)[:100]!r}."
            )
        with self.line.during(request):
            done = await self.call("load_recipe", {"name": unquote(uri.removeprefix(RECIPE))})
        said = done.finished.structured
        if done.finished.is_error or done.finished.refused or not isinstance(said, dict):
            raise MCPError(code=types.INVALID_PARAMS, message=str(done.finished.content)[:2_000])
        text = types.TextResourceContents(uri=uri, mime_type=_YAML, text=str(said["content"]))
        return types.ReadResourceResult(contents=[text])

    async def _ready(self) -> Session:
        """What is disabled stays so for this client: it may be the one that edits the configuration."""
        session = await self.session()
        disabled = await self.work(lambda cancel: self._setting(session, "subsets.disabled"))
        self.state = replace(self.state, disabled=self.state.disabled | frozenset(disabled))
        return session

    def _setting(self, session: Session, name: str) -> Any:
        conversation = session.conversation
        return configured(conversation.view.project.place, conversation.services.env, name)

    def _why_not(self, name: str) -> str | None:
        row = _row(name)
        if row is None:
            return f"{one_line(name)} is not for clients"
        hidden = refusal(row, self.state)
        return hidden.reason if hidden is not None else None

    def _hands(self, context: ToolContext) -> Hands:
        assert self._session is not None
        return Hands(self._session, self._bash, self.shift, context)

    def _opener(self, name: str, change: Any) -> KitchenTool:
        return KitchenTool(name, change, self._hands, reads=False)

    def _opened(
        self, hands: Hands, name: str | None = None, overrides: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """All or nothing: what can fail comes before the state changes. A recipe that can't run opens
        nothing."""
        recipe = load_recipe(hands, name, overrides) if name is not None else {}
        wrong = [one for one in recipe.get("suggestions", ()) if one["severity"] == "error"]
        wrong += recipe.get("refusals", ())
        if wrong:
            text = f"{name} can't run, and the kitchen stays closed: {wrong[0]['message']}."
            return {"success": False, "error": text, "findings": wrong}
        shift, state = Shift(guard_waived=self.shift.guard_waived), self.state.opened()
        seen = [
            row.name for row in kitchen_tools().values() if row.name in MENU and refusal(row, state) is None
        ]
        self.shift, self.state = shift, state
        return {
            "success": True,
            "kitchen": "open",
            "kitchen_id": shift.owner,
            "version": __version__,
            "tools": seen,
            "disabled": sorted(state.disabled),
            **recipe,
        }

    def _closed(self, hands: Hands) -> dict[str, Any]:
        self.state, self.shift.guard_waived = self.state.closed(), False
        return {"success": True, "kitchen": "closed"}


def _row(name: str) -> Row | None:
    """The access of a tool. The built-in tools of sessions belong to the kitchen."""
    if name in BUILTIN:
        return Row(summary="", tags=("kitchen",), name=name)
    return kitchen_tools().get(name) if name in (*MENU, OPEN, CLOSE) else None


def _declared(tool: AnyTool) -> types.Tool:
    declaration = tool.declaration
    row, dish = _row(tool.name), MENU.get(tool.name)
    hints = types.ToolAnnotations(
        read_only_hint=tool.read_only,
        destructive_hint=dish.destroys if dish else not tool.read_only and tool.name not in (OPEN, CLOSE),
        open_world_hint=dish.outside if dish else tool.name in ("Bash", "WebFetch", "WebSearch"),
    )
    tags = [*row.tags, *row.categories] if row else []
    return types.Tool.model_validate(
        {
            "name": declaration.name,
            "description": declaration.description,
            "inputSchema": declaration.schema,
            "annotations": hints.model_dump(by_alias=True, exclude_none=True),
            "_meta": {"checkrein/tags": tags or ["free"]},
        }
    )


def _result(done: Done) -> types.CallToolResult:
    finished = done.finished
    content: list[Any] = []
    if isinstance(finished.content, str):
        content.append({"type": "text", "text": finished.content})
    else:
        content += [_block(one) for one in finished.content]
    content += [{"type": "text", "text": one.text} for one in done.after]
    wire: dict[str, Any] = {"content": content, "isError": finished.is_error}
    if isinstance(finished.structured, dict) and not finished.refused:
        wire["structuredContent"] = json.loads(json.dumps(finished.structured, default=str))
    return types.CallToolResult.model_validate(wire)


def _block(block: Any) -> dict[str, Any]:
    source = getattr(block, "source", None)
    data, media = getattr(source, "data", None), getattr(source, "media_type", None)
    if isinstance(data, str) and isinstance(media, str) and media.startswith("image/"):
        return {"type": "image", "data": data, "mimeType": media}
    return {"type": "text", "text": getattr(block, "text", f"[{type(block).__name__}]")}

"""Which tools of the kitchen a client sees. A tool that it does not see, it can't call either."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.facts.kitchen import KitchenTool, kitchen_tools
from checkrein.model.project import SessionMode

ToolRule = Literal["headless", "subset", "closed"]


class Kitchen(Struct, frozen=True, kw_only=True):
    """The state of one client: its mode, whether it has opened the kitchen, and the disabled subsets."""

    mode: SessionMode = "plain"
    is_open: bool = False
    disabled: frozenset[str] = frozenset()

    def opened(self) -> Kitchen:
        """After `open_kitchen`. A worker is refused that tool, so nothing opens for it."""
        return self if self.mode == "headless" else replace(self, is_open=True)

    def closed(self) -> Kitchen:
        return replace(self, is_open=False)


class ToolRefusal(Struct, frozen=True):
    """The rule that hides a tool, and a sentence for whoever calls it all the same."""

    rule: ToolRule
    reason: str


def refusal(tool: KitchenTool, kitchen: Kitchen) -> ToolRefusal | None:
    """Why a client neither sees nor calls a tool; None: it does. Total and pure: the list of tools and the
    check before a call both come from here."""
    if kitchen.mode == "headless" and "headless" not in tool.tags:
        return ToolRefusal("headless", f"a worker can't use {tool.name}; it runs one skill and reports")
    off = next((one for one in tool.categories if one in kitchen.disabled), None)
    if off is not None:
        return ToolRefusal("subset", f"the subset {off} is disabled in the configuration (subsets.disabled)")
    if "kitchen" in tool.tags and kitchen.mode != "headless" and not kitchen.is_open:
        return ToolRefusal("closed", f"{tool.name} belongs to the kitchen; call open_kitchen first")
    return None


def visible_tools(kitchen: Kitchen, tools: Iterable[KitchenTool] | None = None) -> tuple[str, ...]:
    """The names that a client sees, in the order of the tools."""
    every = kitchen_tools().values() if tools is None else tools
    return tuple(tool.name for tool in every if refusal(tool, kitchen) is None)

"""The categories of skills and tools, and the tools of the kitchen: rows of `kitchen.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

KitchenTag = Literal["kitchen", "headless"]
Need = Literal["gh"]
ToolEffect = Literal["pure", "keyed", "once"]
PullState = Literal[
    "merged", "ejected", "ejected_ci_failure", "stalled", "dropped_healthy", "timeout", "error"
]
"""How `wait_for_merge_queue` ends: its `pr_state`."""


class Category(Struct, frozen=True, forbid_unknown_fields=True):
    """A functional group. One that is not `on` is a pack: hidden until something enables it."""

    summary: str
    on: bool = True
    name: str = ""


class KitchenTool(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A tool of the MCP server. `needs` is what it can't work without. `effect` says what a second
    start means for a step of a recipe: `pure` tools only read. An `own` tool is not one of the source's."""

    summary: str
    tags: tuple[KitchenTag, ...] = ()
    categories: tuple[str, ...] = ()
    needs: Need | None = None
    effect: ToolEffect = "once"
    own: bool = False
    name: str = ""

    @property
    def is_free(self) -> bool:
        return not self.tags


class _Table(Struct, frozen=True, forbid_unknown_fields=True):
    categories: dict[str, Category]
    tools: dict[str, KitchenTool]


@cache
def _table() -> _Table:
    text = (Path(__file__).parent / "kitchen.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)


@cache
def categories() -> dict[str, Category]:
    return {name: replace(one, name=name) for name, one in _table().categories.items()}


@cache
def kitchen_tools() -> dict[str, KitchenTool]:
    """By name, in the order of the file."""
    return {name: replace(one, name=name) for name, one in _table().tools.items()}

"""The lists of a server: page after page, with an end, and again when a list could not be fetched.

Only the loop's thread imports this module.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.shared.exceptions import MCPError
from mcp_types import METHOD_NOT_FOUND
from msgspec import Struct

from checkrein.facts import mcp
from checkrein.runtime.mcp.definitions import Offer
from checkrein.runtime.mcp.faults import fault_of, is_closed

if TYPE_CHECKING:
    from mcp.client import Client

    from checkrein.runtime.mcp.sieve import Sieve

T = TypeVar("T")

TOOLS, PROMPTS, RESOURCES = "tools", "prompts", "resources"
_METHODS = {
    TOOLS: ("tools/list",),
    PROMPTS: ("prompts/list",),
    RESOURCES: ("resources/list", "resources/templates/list"),
}


class Lists(Struct, frozen=True, kw_only=True):
    """What was fetched, by kind. A kind that could not be fetched is missing, and `faults` say why."""

    offers: dict[str, tuple[Offer, ...]] = {}
    faults: tuple[str, ...] = ()


async def fetch(
    client: Client, sieve: Sieve, delays: tuple[float, ...], kinds: tuple[str, ...], strict: bool = False
) -> Lists:
    """Fetch these kinds, where the server has them. With `strict`, a list of tools that fails is an error."""
    declared = client.server_capabilities
    offers: dict[str, tuple[Offer, ...]] = {}
    faults: list[str] = []
    for kind in kinds:
        found: dict[str, Offer] = {}
        try:
            for method in _METHODS[kind] if getattr(declared, kind) is not None else ():
                await _walk(client, sieve, delays, method, found, faults)
        except Exception as error:
            if is_closed(error) or (strict and kind == TOOLS):
                raise
            faults.append(f"its {kind}: the list could not be fetched ({error})")
            continue
        offers[kind] = tuple(found.values())
    return Lists(offers=offers, faults=tuple(faults))


async def _walk(
    client: Client,
    sieve: Sieve,
    delays: tuple[float, ...],
    method: str,
    found: dict[str, Offer],
    faults: list[str],
) -> None:
    get = _getter(client, method)
    cursor: str | None = None
    size = 0
    for _ in range(mcp.LIST_PAGES):
        try:
            result = await _insisting(get, cursor, delays)
        except MCPError as error:
            if error.code == METHOD_NOT_FOUND and method != "tools/list" and fault_of(error) is None:
                return
            raise
        page = sieve.take(result.meta)
        faults.extend(page.faults)
        size += page.size
        for offer in page.offers:
            name = getattr(offer, "uri", offer.name)
            if name in found:
                faults.append(f"a second definition of `{name[:80]}`")
            elif len(found) < mcp.LIST_MOST and size <= mcp.CATALOG_LIMIT:
                found[name] = offer
            else:
                faults.append(f"the rest of its answer to `{method}`: the list is too long")
                return
        if not result.next_cursor or result.next_cursor == cursor or len(faults) > mcp.LIST_MOST:
            return
        cursor = result.next_cursor
    faults.append(f"the rest of its answer to `{method}`: it has more than {mcp.LIST_PAGES} pages")


async def _insisting(
    get: Callable[[str | None], Awaitable[T]], cursor: str | None, delays: tuple[float, ...]
) -> T:
    """Try again after a fault that may pass: not after a refusal, and not after a time limit."""
    for delay in delays:
        try:
            return await get(cursor)
        except Exception as error:
            fault = fault_of(error)
            if fault is None or not fault.transient:
                raise
        await asyncio.sleep(delay)
    return await get(cursor)


def _getter(client: Client, method: str) -> Callable[[str | None], Awaitable[Any]]:
    calls: dict[str, Callable[..., Awaitable[Any]]] = {
        "tools/list": client.list_tools,
        "prompts/list": client.list_prompts,
        "resources/list": client.list_resources,
        "resources/templates/list": client.list_resource_templates,
    }
    return lambda cursor: calls[method](cursor=cursor)

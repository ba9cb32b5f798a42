"""The servers behind a gateway: what they declare, who has which name, and requests to them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel, ValidationError

from checkrein.llm.cancel import Cancel
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.faults import first
from checkrein.runtime.mcp.link import Link

if TYPE_CHECKING:
    from mcp.client import Client

T = TypeVar("T")
P = TypeVar("P", bound=BaseModel)


def asked(link: Link, ask: Callable[[Client], Awaitable[T]], cancel: Cancel, what: str) -> T:
    """The answer of a server. What it refuses comes back as it said it: an MCPError."""
    try:
        return link.request(
            lambda dialogue: dialogue.other(ask), cancel, f"{what} of the server `{link.name}`"
        )
    except ServerFailure as error:
        cause = first(error.__cause__) if isinstance(error.__cause__, Exception) else None
        if isinstance(cause, MCPError):
            raise cause from None
        raise MCPError(code=types.INTERNAL_ERROR, message=error.message) from None


def declared(model: type[P], offers: Iterable[tuple[str, dict[str, Any]]]) -> list[P]:
    """What servers declare, under public names. A declaration that the protocol does not know is left out."""
    found: list[P] = []
    for name, given in offers:
        with contextlib.suppress(ValidationError):
            found.append(model.model_validate({**given, "name": name}))
    return found


def names(owned: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """A public name for each (server, name). It is the server's own; of two the second has its server's name
    before it."""
    taken: dict[str, tuple[str, str]] = {}
    for server, name in owned:
        for public in (name, f"{server}__{name}"):
            if public not in taken:
                taken[public] = server, name
                break
    return taken


def fits(template: str, uri: str) -> bool:
    """Whether an address can come from a template such as `file:///{path}`."""
    parts = re.split(r"\{[^{}]*\}", template)
    return re.fullmatch(".+?".join(re.escape(part) for part in parts), uri, re.DOTALL) is not None


def owners(links: Iterable[Link], uri: str) -> Iterator[Link]:
    """The servers that may have a resource: those that list it, then those with a template for it, then
    all."""
    links = tuple(links)
    for link in links:
        if any(one.uri == uri and not one.template for one in link.catalog.resources):
            yield link
    for link in links:
        if any(one.template and fits(one.uri, uri) for one in link.catalog.resources):
            yield link
    yield from links


def wire(value: BaseModel) -> dict[str, Any]:
    dumped: dict[str, Any] = value.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped

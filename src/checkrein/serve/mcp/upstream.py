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


class Names:
    """Public names for what servers offer, each as (server, name). It is the server's own; of two the second
    has its server's name before it, and a name that looks like another server's has its own server's too.

    A name that was given stays with its owner, also when that is gone: no server gets the calls that were
    meant for another."""

    def __init__(self, servers: Iterable[str]) -> None:
        self._servers = tuple(servers)
        self._given: dict[str, tuple[str, str]] = {}

    def of(self, owned: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
        """The names of these, in their order."""
        known = {owner: public for public, owner in self._given.items()}
        found: dict[str, tuple[str, str]] = {}
        for owner in owned:
            public = known.get(owner) or self._free(*owner)
            self._given[public] = found[public] = owner
        return found

    def _free(self, server: str, name: str) -> str:
        posed = any(name.startswith(f"{other}__") for other in self._servers if other != server)
        public = f"{server}__{name}" if posed or name in self._given else name
        while public in self._given:
            public += "_"
        return public


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

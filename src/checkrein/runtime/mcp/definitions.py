"""What a server lists, read item by item: a broken definition costs only itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.harmless import one_line
from checkrein.facts import mcp
from checkrein.runtime.mcp.connection import RemoteArgument, RemotePrompt, RemoteResource, RemoteTool

Offer = RemoteTool | RemotePrompt | RemoteResource

_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")
_SHOWN = 80


class Page(Struct, frozen=True):
    """One page of a list. `faults` say what was left out and why, `size` are the bytes of the rest."""

    offers: tuple[Offer, ...] = ()
    faults: tuple[str, ...] = ()
    size: int = 0


class _BrokenError(Exception):
    """The definition can't be used."""


class Kind(Struct, frozen=True):
    """One of the lists: its key in the result, its word, and how an item is read."""

    key: str
    word: str
    read: Callable[[dict[str, Any]], Offer]


def read(method: str, result: dict[str, Any]) -> Page:
    """The page that a server sent as the answer to a list request."""
    kind = KINDS[method]
    items = result.get(kind.key)
    if not isinstance(items, list):
        return Page(faults=(f"its answer to `{method}` has no list `{kind.key}`",))
    offers: list[Offer] = []
    faults = []
    size = 0
    for at, item in enumerate(items[: mcp.LIST_MOST]):
        try:
            offer, weight = _taken(kind, item)
        except _BrokenError as broken:
            faults.append(f"the {kind.word} {_named(item, at)} {broken}")
            continue
        if size + weight > mcp.CATALOG_LIMIT:
            faults.append(f"the {kind.word} {_named(item, at)} and those after it: the list is too long")
            break
        offers.append(offer)
        size += weight
    if len(items) > mcp.LIST_MOST:
        faults.append(f"{len(items) - mcp.LIST_MOST} of its {kind.key}: the list is too long")
    return Page(tuple(offers), tuple(faults), size)


def plain(method: str, page: Page) -> list[dict[str, Any]]:
    """The same page for the protocol library, which refuses a list with one broken item. It sees no output
    schema: it would run a server's regular expressions against a server's texts."""
    return [_plain(method, offer) for offer in page.offers]


def _plain(method: str, offer: Offer) -> dict[str, Any]:
    if isinstance(offer, RemoteTool):
        return {"name": offer.name, "inputSchema": _strict(offer.schema)}
    if isinstance(offer, RemoteResource):
        return {"uriTemplate" if "templates" in method else "uri": offer.uri, "name": offer.name}
    return {"name": offer.name}


def _strict(schema: dict[str, Any]) -> dict[str, Any]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    regular = (
        isinstance(properties, dict)
        and all(isinstance(one, dict | bool) for one in properties.values())
        and isinstance(required, list)
        and all(isinstance(one, str) for one in required)
        and isinstance(schema.get("$schema", ""), str)
    )
    return {**schema, "type": "object"} if regular else {"type": "object"}


def _taken(kind: Kind, item: Any) -> tuple[Offer, int]:
    if not isinstance(item, dict):
        raise _BrokenError("is not an object")
    weight = len(msgspec.json.encode(item))
    if weight > mcp.DEFINITION_LIMIT:
        raise _BrokenError(f"has a definition of {weight} bytes; {mcp.DEFINITION_LIMIT} are allowed")
    return replace(kind.read(item), given=item), weight


def _tool(item: dict[str, Any]) -> RemoteTool:
    schema = item.get("inputSchema", {})
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise _BrokenError("has an input schema that is not the schema of an object")
    output = item.get("outputSchema")
    annotations = _map(item.get("annotations"))
    claims: dict[str, Any] = {
        name: annotations[name] for name in _HINTS if isinstance(annotations.get(name), bool)
    }
    if isinstance(annotations.get("title"), str):
        claims["title"] = annotations["title"]
    return RemoteTool(
        name=_name(item),
        description=_text(item, "description") or "",
        title=_text(item, "title"),
        schema=schema,
        output_schema=output if isinstance(output, dict) else None,
        annotations=claims,
        meta=_map(item.get("_meta")),
    )


def _prompt(item: dict[str, Any]) -> RemotePrompt:
    arguments = item.get("arguments") or []
    if not isinstance(arguments, list) or not all(isinstance(one, dict) for one in arguments):
        raise _BrokenError("has arguments that are not a list of objects")
    return RemotePrompt(
        name=_name(item),
        description=_text(item, "description") or "",
        title=_text(item, "title"),
        arguments=tuple(
            RemoteArgument(
                name=_name(one),
                description=_text(one, "description") or "",
                required=one.get("required") is True,
            )
            for one in arguments
        ),
    )


def _resource(item: dict[str, Any], key: str = "uri") -> RemoteResource:
    uri = item.get(key)
    if not isinstance(uri, str) or not uri or len(uri) > mcp.DEFINITION_LIMIT:
        raise _BrokenError(f"has no `{key}`")
    return RemoteResource(
        uri=uri,
        name=_text(item, "name") or uri,
        description=_text(item, "description") or "",
        mime_type=_text(item, "mimeType"),
        template=key != "uri",
    )


def _template(item: dict[str, Any]) -> RemoteResource:
    return _resource(item, "uriTemplate")


KINDS: dict[str, Kind] = {
    "tools/list": Kind("tools", "tool", _tool),
    "prompts/list": Kind("prompts", "prompt", _prompt),
    "resources/list": Kind("resources", "resource", _resource),
    "resources/templates/list": Kind("resourceTemplates", "resource template", _template),
}


def _name(item: dict[str, Any]) -> str:
    name = item.get("name")
    if not isinstance(name, str) or not name.strip():
        raise _BrokenError("has no name")
    if len(name) > mcp.NAME_LIMIT:
        raise _BrokenError(f"has a name of {len(name)} characters")
    return name


def _text(item: dict[str, Any], key: str) -> str | None:
    value = item.get(key)
    return value if isinstance(value, str) else None


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _named(item: Any, at: int) -> str:
    name = item.get("name") if isinstance(item, dict) else None
    return f"`{one_line(name[:_SHOWN])}`" if isinstance(name, str) and name.strip() else f"number {at + 1}"

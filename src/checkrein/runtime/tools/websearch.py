"""WebSearch: titles and addresses from the web.

The model's own service searches, where its wire has a tool for that; or an endpoint of the user's
(`search.url`), which gets the query and answers with JSON. A project can't set one.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote, urlsplit

import msgspec

from checkrein.base.errors import CheckreinError
from checkrein.base.secrets import redact_text
from checkrein.llm.port import Hit, Search
from checkrein.runtime.tools.port import Found, ToolContext, ToolFailure, ToolOutput

_USES = 8
_PER_SESSION = 200
_MOST = 20
_QUERY, _TITLE, _ADDRESS, _SNIPPET, _TEXT = 1_000, 200, 1_000, 400, 6_000
_LISTS = ("results", "web", "organic", "organic_results", "items", "data", "hits")
"""Where search services keep their results, alone or one inside another."""
_NONE = "There is no web search here."
_NONE_HINT = "This model's service has none, and the user's configuration names no `search.url`."


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    began = time.monotonic()
    query = _plain(str(input["query"]), _QUERY)
    search = Search(_USES, _domains(input, "allowed_domains"), _domains(input, "blocked_domains"))
    if not query:
        raise ToolFailure("Give a `query`.")
    if search.allowed and search.blocked:
        raise ToolFailure("Give `allowed_domains` or `blocked_domains`, not both.")
    found = _find(query, search, context)
    hits = list(_usable(found.hits, search))[:_MOST]
    text = redact_text(found.text.strip())[:_TEXT]
    lines = [_line(number, hit) for number, hit in enumerate(hits, 1)]
    head = f"Results for {query}:" if lines else f"Nothing was found for {query}."
    return ToolOutput(
        content="\n\n".join(part for part in (head, "\n".join(lines), text) if part),
        structured={
            "query": query,
            "results": [{"title": hit.title, "url": hit.url} for hit in hits],
            "durationSeconds": round(time.monotonic() - began, 3),
            "searchCount": found.count,
        },
    )


def _find(query: str, search: Search, context: ToolContext) -> Found:
    with context.state.lock:
        context.state.searches += 1
        if context.state.searches > _PER_SESSION:
            raise ToolFailure(f"The session has used its {_PER_SESSION} searches.")
    url = context.setting("search.url") if context.setting is not None else None
    if url:
        return _at_endpoint(str(url), query, context)
    if context.search is None:
        raise ToolFailure(f"{_NONE} {_NONE_HINT}")
    try:
        return context.search(query, search)
    except CheckreinError as error:
        raise ToolFailure(f"{error.message} {error.hint or ''}".strip()) from None


def _at_endpoint(template: str, query: str, context: ToolContext) -> Found:
    """Ask the user's endpoint. Its host was chosen by the user, so it may be private."""
    from checkrein.runtime.tools.http_get import get
    from checkrein.runtime.tools.webfetch import AGENT

    assert context.setting is not None
    url = template.replace("{query}", quote(query, safe=""))
    if url == template:
        url += ("&" if "?" in url else "?") + "q=" + quote(query, safe="")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ToolFailure("`search.url` in the user's configuration is not an http or https address.")
    headers = {"Accept": "application/json"}
    if key := context.setting("search.api_key"):
        name = str(context.setting("search.key_header"))
        headers[name] = f"Bearer {key}" if name.lower() == "authorization" else str(key)
    answer = get(parts, (parts.hostname.lower(),), context.env, AGENT, context.cancel, headers)
    if answer.code != 200:
        raise ToolFailure(f"The search endpoint answered {answer.code} {answer.reason}.")
    try:
        value = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ToolFailure(f"The search endpoint did not answer with JSON: {error}") from None
    return Found("", tuple(_read(value)), 1)


def _read(value: Any, depth: int = 0) -> Iterator[Hit]:
    """The results in an answer: a list of objects with a title and an address, wherever it is."""
    if isinstance(value, list):
        for one in value:
            if isinstance(one, dict) and isinstance(url := one.get("url") or one.get("link"), str):
                snippet = one.get("content") or one.get("description") or one.get("snippet") or ""
                yield Hit(str(one.get("title") or url), url, str(snippet))
    elif isinstance(value, dict) and depth < 3:
        for name in _LISTS:
            yield from _read(value.get(name), depth + 1)


def _usable(hits: Iterable[Hit], search: Search) -> Iterator[Hit]:
    """Each address once, if it is one of the web and the domains allow it."""
    seen: set[str] = set()
    for hit in hits:
        try:
            parts = urlsplit(hit.url)
            host = (parts.hostname or "").lower()
        except ValueError:
            continue
        wanted = not search.allowed or _is_in(host, search.allowed)
        if parts.scheme not in ("http", "https") or not host or hit.url in seen or not wanted:
            continue
        if _is_in(host, search.blocked) or len(hit.url) > _ADDRESS:
            continue
        seen.add(hit.url)
        yield Hit(_plain(hit.title, _TITLE), redact_text(hit.url), _plain(hit.snippet, _SNIPPET))


def _is_in(host: str, domains: tuple[str, ...]) -> bool:
    return any(host == domain or host.endswith(f".{domain}") for domain in domains)


def _plain(text: str, longest: int) -> str:
    line = "".join(char if char.isprintable() else " " for char in text)
    return redact_text(" ".join(line.split()))[:longest]


def _line(number: int, hit: Hit) -> str:
    return f"{number}. {hit.title}\n   {hit.url}" + (f"\n   {hit.snippet}" if hit.snippet else "")


def _domains(input: dict[str, Any], name: str) -> tuple[str, ...]:
    return tuple(one.strip().lower().removeprefix("*.") for one in input.get(name) or () if one.strip())

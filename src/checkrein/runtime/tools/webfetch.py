"""WebFetch: a page from the web as Markdown; a small model answers the prompt when there is one.

It judges every hop: the host must not lead to a private address unless the user approved that host. It does
not follow a redirect to another host, because the approval was for the first one; the model gets the address.
"""

from __future__ import annotations

import os
import re
import time
from typing import Any
from urllib.parse import SplitResult, urljoin, urlsplit, urlunsplit

from msgspec import Struct

from checkrein import __version__
from checkrein.runtime.tools.port import ToolContext, ToolFailure, ToolOutput

_HOPS = 10
_KEPT_SECONDS = 15 * 60
_KEPT_PAGES = 50
_FOR_MODEL = 100_000
_FOR_CONTEXT = 30_000
AGENT = f"Checkrein-User/{__version__}"
_REDIRECTS = frozenset((301, 302, 303, 307, 308))
_CHARSET = re.compile(r"""charset=["']?([\w.:-]+)""", re.IGNORECASE)
_QUESTION = "Answer from this page alone, shortly. Quote little, and say so when the page does not tell."


class Page(Struct, frozen=True):
    """`moved_to` replaces the text when the page is now on another host."""

    code: int
    reason: str
    size: int
    text: str = ""
    moved_to: str | None = None


def run(input: dict[str, Any], context: ToolContext) -> ToolOutput:
    began = time.monotonic()
    url = checked(input["url"], context.approved_hosts)
    page = _kept(url, context) or _fetch(url, context)
    if page.moved_to is not None:
        result = (
            f"{url} redirects to another host ({page.code} {page.reason}):\n{page.moved_to}\n"
            "WebFetch did not follow it. Fetch that address if it is the right one."
        )
    else:
        if urlsplit(url).hostname not in context.approved_hosts:
            _keep(url, page, context)
        result = _answer(input["prompt"], page, url, context)
    return ToolOutput(
        content=result,
        structured={
            "bytes": page.size,
            "code": page.code,
            "codeText": page.reason,
            "result": result,
            "durationMs": int((time.monotonic() - began) * 1000),
            "url": input["url"],
        },
    )


def checked(text: str, approved: tuple[str, ...]) -> str:
    """The address to fetch: https unless the host is an approved private one."""
    try:
        parts = urlsplit(text.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ToolFailure(f"{text} is not an address: {error}") from None
    if parts.scheme not in ("http", "https") or not host:
        raise ToolFailure(f"{text} is not an http or https address.")
    if parts.username is not None or parts.password is not None:
        raise ToolFailure("WebFetch does not fetch an address with a user name or a password.")
    if any(character <= " " for character in urlunsplit(parts)):
        raise ToolFailure("An address can't hold spaces or control characters.")
    keep = parts.scheme == "http" and host.lower() in approved
    return urlunsplit(parts._replace(scheme=parts.scheme if keep else "https", fragment=""))


def _fetch(url: str, context: ToolContext) -> Page:
    from checkrein.runtime.tools.http_get import get

    for _ in range(_HOPS):
        parts = urlsplit(url)
        answer = get(parts, context.approved_hosts, context.env, AGENT, context.cancel)
        location = answer.headers.get("location")
        if answer.code not in _REDIRECTS or not location:
            if answer.code >= 400:
                raise ToolFailure(f"{url} answered {answer.code} {answer.reason}.")
            text = _text(answer.body, answer.headers.get("content-type", ""), url, context)
            return Page(answer.code, answer.reason, len(answer.body), text)
        following = urljoin(url, location)
        if not _same_host(parts, urlsplit(following)):
            return Page(answer.code, answer.reason, len(answer.body), moved_to=following)
        url = checked(following, context.approved_hosts)
    raise ToolFailure(f"There were more than {_HOPS} redirects.")


def _same_host(one: SplitResult, other: SplitResult) -> bool:
    def bare(parts: SplitResult) -> tuple[str, int | None]:
        port = parts.port if parts.port not in (80, 443) else None
        return (parts.hostname or "").lower().removeprefix("www."), port

    return bare(one) == bare(other) and other.username is None


def _text(body: bytes, kind: str, url: str, context: ToolContext) -> str:
    media = kind.partition(";")[0].strip().lower()
    if body[:1024].count(b"\0") and "utf-16" not in kind.lower():
        return _file(body, media, context)
    named = _CHARSET.search(kind) or _CHARSET.search(body[:2048].decode("latin-1"))
    try:
        text = body.decode(named[1] if named else "utf-8", "replace")
    except LookupError:
        text = body.decode("utf-8", "replace")
    if media in ("text/html", "application/xhtml+xml") or (not media and "<html" in text[:1000].lower()):
        from checkrein.runtime.tools.html_markdown import to_markdown

        return to_markdown(text, url)
    return text


def _file(body: bytes, media: str, context: ToolContext) -> str:
    from checkrein.base.ids import new_uuid

    os.makedirs(context.results_dir, mode=0o700, exist_ok=True)
    path = os.path.join(context.results_dir, f"{new_uuid()}.{'pdf' if media.endswith('pdf') else 'bin'}")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(body)
    return f"The answer is not text ({media or 'of an unknown kind'}, {len(body)} bytes). It is in {path}"


def _answer(prompt: str, page: Page, url: str, context: ToolContext) -> str:
    if context.ask_model is not None:
        return context.ask_model(_QUESTION, f"{page.text[:_FOR_MODEL]}\n\n---\n{url}\n\n{prompt}")
    if len(page.text) <= _FOR_CONTEXT:
        return page.text or "The page is empty."
    return f"{page.text[:_FOR_CONTEXT]}\n[{len(page.text) - _FOR_CONTEXT} more characters left out]"


def _kept(url: str, context: ToolContext) -> Page | None:
    """A public page from a recent fetch."""
    entry = context.state.pages.get(url)
    if entry is None or time.monotonic() - entry[0] > _KEPT_SECONDS:
        return None
    page: Page = entry[1]
    return page


def _keep(url: str, page: Page, context: ToolContext) -> None:
    pages = context.state.pages
    with context.state.lock:
        if url not in pages:
            pages[url] = (time.monotonic(), page)
        while len(pages) > _KEPT_PAGES:
            del pages[next(iter(pages))]

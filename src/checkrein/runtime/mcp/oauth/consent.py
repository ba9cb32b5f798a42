"""A person's consent: the address is opened or shown, and the answer comes to the callback or by paste.

Runs on the asyncio thread of the servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from checkrein.base.harmless import one_line
from checkrein.facts.mcp import CALLBACK_LIMIT
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.callback import Answer, Callback

_LONGEST_PASTE = 65_536


class Person(Struct, frozen=True, kw_only=True):
    """Somebody who asked to sign in.

    `browse` opens an address and says whether a program took it. `tell` shows a line of text beside the
    output of the command. `terminal` is a descriptor to read pasted lines from, None when nobody types.
    """

    browse: Callable[[str], bool]
    tell: Callable[[str], object]
    terminal: int | None = None
    limit: float = CALLBACK_LIMIT


async def consent(person: Person, server: str, url: str, callback: Callback) -> Answer:
    """Ask at `url`. Raises ServerFailure when the person or the authorization server refuses, and when no
    answer comes within the limit."""
    state = parse_qs(urlsplit(url).query).get("state", [""])[0]
    answer = asyncio.wrap_future(callback.expect(state))
    if await asyncio.to_thread(person.browse, url):
        person.tell(f"Your browser asks you to sign in to {one_line(server)}. If it does not, open:\n{url}")
    else:
        person.tell(f"To sign in to {one_line(server)}, open this address in a browser:\n{url}")
    if person.terminal is not None:
        person.tell("If the browser can't come back here, paste the address that it ends at:")
    with _pasted(person, callback):
        try:
            given = await asyncio.wait_for(answer, person.limit)
        except TimeoutError:
            raise ServerFailure(
                f"MCP server {server}: nobody signed in within {person.limit:g} s.", kind="timeout"
            ) from None
    if given.error:
        raise ServerFailure(
            f"MCP server {server}: the sign-in was refused: {given.error}.", kind="needs_auth"
        )
    return given


@contextlib.contextmanager
def _pasted(person: Person, callback: Callback) -> Iterator[None]:
    """While the block lasts, a pasted line that belongs to the question answers it."""
    if person.terminal is None:
        yield
        return
    terminal, loop = person.terminal, asyncio.get_running_loop()
    text = bytearray()

    def read() -> None:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:
            chunk = b""
        text.extend(chunk)
        if not chunk or len(text) > _LONGEST_PASTE:
            loop.remove_reader(terminal)
        while b"\n" in text:
            line, _, rest = bytes(text).partition(b"\n")
            text[:] = rest
            if line.strip() and callback.accept(line.decode("utf-8", "replace")) is None:
                person.tell("That is not the address of this sign-in. Paste it whole:")

    with contextlib.suppress(OSError, ValueError):  # a file can't be waited for
        loop.add_reader(terminal, read)
    try:
        yield
    finally:
        loop.remove_reader(terminal)

"""A served project, and the official client of the `mcp` package in front of it, in one process."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client

from checkrein.passes.load import load
from checkrein.runtime.session.options import Options
from checkrein.serve.mcp.server import make_server
from checkrein.serve.mcp.visit import Served
from support.mcp_guests import Guest

Talk = Callable[[Guest], Awaitable[Any]]


@pytest.fixture
def visit(project: Path) -> Callable[..., Any]:
    """`visit(talk, says=, ...)`: a client talks to the served project. The other words are those of `Served`
    and, as `options`, of the sessions."""

    def run(*talks: Talk, says: str | None = None, client: dict[str, Any] | None = None, **given: Any) -> Any:
        options = Options(kind="sdk", **given.pop("options", {}))

        async def meet() -> Any:
            server = make_server(Served(project=load(str(project)), options=options, **given))

            async def one(talk: Talk) -> Any:
                guest = Guest(says)
                more: dict[str, Any] = {"elicitation_callback": guest.elicited} if says is not None else {}
                async with Client(
                    server, mode="legacy", message_handler=guest.listen, **more, **(client or {})
                ) as guest.client:
                    return await talk(guest)

            return await asyncio.gather(*map(one, talks))

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            answers = asyncio.run(meet())
        return answers[0] if len(answers) == 1 else answers

    return run

"""One-shot runs, for programs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import InternalError
from checkrein.runtime.session.events import Event, Result
from checkrein.runtime.session.session import Session

if TYPE_CHECKING:
    from os import PathLike

    from checkrein.model.project import Project
    from checkrein.model.view import View
    from checkrein.runtime.session.session import Prompt


async def run(
    prompt: Prompt, project: Project | View | str | PathLike[str] = ".", **session: Any
) -> AsyncIterator[Event]:
    """The events of one prompt in a new session. Keyword arguments are those of `Session`."""
    async with Session(project, **session) as opened:
        async for event in opened.run(prompt):
            yield event


def run_sync(prompt: Prompt, project: Project | View | str | PathLike[str] = ".", **session: Any) -> Result:
    """The result of one prompt in a new session."""
    with Session(project, **session) as opened:
        stream = opened.run(prompt)
        for _ in stream:
            pass
    if stream.result is None:
        raise InternalError("the run ended without a result")
    return stream.result

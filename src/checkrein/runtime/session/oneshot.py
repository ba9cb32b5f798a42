"""One prompt in its own session, for programs."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

from checkrein.base.errors import InternalError, UsageError
from checkrein.runtime.session.channel import ignored
from checkrein.runtime.session.events import Event, Finished, Result
from checkrein.runtime.session.idle import and_what_follows, idle_of
from checkrein.runtime.session.session import Session

if TYPE_CHECKING:
    from os import PathLike

    from checkrein.llm.port import Model
    from checkrein.model.project import Project
    from checkrein.model.view import View
    from checkrein.runtime.session.control import Answerer, Asker
    from checkrein.runtime.session.options import Options
    from checkrein.runtime.session.session import Prompt
    from checkrein.runtime.session.wakes import Wake
    from checkrein.runtime.tools.port import AnyTool


class Run:
    """One prompt, not yet run: `await` it for the Result, or iterate its events with `async for`. Works
    once."""

    def __init__(self, prompt: Prompt, open_session: Callable[[], Session]) -> None:
        self._prompt = prompt
        self._open = open_session
        self._began = False

    async def __aiter__(self) -> AsyncIterator[Event]:
        import asyncio

        if self._began:
            raise UsageError("A run works once. Call `run` again for another one.")
        self._began = True
        async with await asyncio.to_thread(self._open) as session:
            between: list[Event] = []
            idle = idle_of(session, between.append)
            following: Prompt | Wake | None = self._prompt
            while following is not None:
                async for event in session.run(following):
                    yield event
                following = await asyncio.to_thread(idle.awaited)
                for event in between:
                    yield event
                between.clear()

    def __await__(self) -> Generator[Any, None, Result]:
        return self._result().__await__()

    async def _result(self) -> Result:
        found: Result | None = None
        async for event in self:
            if isinstance(event, Finished):
                found = event.result
        return _there(found)


def run(
    prompt: Prompt,
    project: Project | View | str | PathLike[str] = ".",
    *,
    model: Model | str | None = None,
    options: Options | None = None,
    asker: Asker | None = None,
    answerer: Answerer | None = None,
    tools: Sequence[AnyTool] = (),
    env: dict[str, str] | None = None,
) -> Run:
    """`await run(...)` gives the Result of one prompt in a new session; `async for event in run(...)` its
    events. When agents work in the background, each of their reports starts another turn; the last result
    counts. Arguments are those of `Session`."""

    def opened() -> Session:
        return Session(
            project,
            model=model,
            options=options,
            asker=asker,
            answerer=answerer,
            tools=tools,
            env=env,
        )

    return Run(prompt, opened)


def run_sync(
    prompt: Prompt,
    project: Project | View | str | PathLike[str] = ".",
    *,
    model: Model | str | None = None,
    options: Options | None = None,
    asker: Asker | None = None,
    answerer: Answerer | None = None,
    tools: Sequence[AnyTool] = (),
    env: dict[str, str] | None = None,
) -> Result:
    """The Result of one prompt in a new session."""
    with Session(
        project, model=model, options=options, asker=asker, answerer=answerer, tools=tools, env=env
    ) as opened:
        for turn in and_what_follows(prompt, idle_of(opened, ignored)):
            for _ in opened.run(turn):
                pass
    return _there(opened.result)


def _there(result: Result | None) -> Result:
    if result is None:
        raise InternalError("the run ended without a result")
    return result

"""One prompt in its own session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import checkrein
from checkrein.base.errors import UsageError
from checkrein.testing import ScriptedModel


def test_a_run_works_once(project: Path) -> None:
    model = ScriptedModel([{"text": "one"}, {"text": "two"}])

    async def twice() -> None:
        run = checkrein.run("go", project, model=model)
        assert (await run).text == "one"
        with pytest.raises(UsageError, match="once"):
            await run
        with pytest.raises(UsageError, match="once"):
            async for _ in run:
                pass

    asyncio.run(twice())
    assert len(model.requests) == 1

"""Models that stand where none is wanted."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.llm.port import Cancel, ModelEvent, Request


class Silent:
    """Never asked: a request is a mistake of the test."""

    name = "silent"

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        raise AssertionError("no model is asked here")

"""A model that can't be asked: what is missing is the answer to every request."""

from __future__ import annotations

from collections.abc import Iterator

from checkrein.base.errors import CheckreinError
from checkrein.llm.port import Cancel, ModelEvent, ModelRequestError, Request


class UnavailableModel:
    """Lets a session open, and be steered, before its user has a credential."""

    def __init__(self, name: str, reason: CheckreinError) -> None:
        self.name = name
        self._reason = reason

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        raise ModelRequestError("authentication_failed", self._reason.message, hint=self._reason.hint)

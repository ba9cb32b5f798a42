"""How a model request fails: one exception and a closed set of kinds.

`RETRYABLE` says for each kind whether the same request may succeed when it is sent again. The loop chooses
what to do (wait, fall back, compact, give up); nothing in this layer retries.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from checkrein.base.errors import AuthError, ModelError
from checkrein.llm.content import Block

FailureKind = Literal[
    "rate_limit",
    "overloaded",
    "server_error",
    "dropped",
    "malformed_stream",
    "reply_too_large",
    "idle_timeout",
    "transport",
    "tls_failed",
    "authentication_failed",
    "billing_error",
    "invalid_request",
    "prompt_too_long",
    "window_exceeded",
    "model_not_found",
    "cancelled",
    "script",
    "replay_drift",
]

RETRYABLE: dict[FailureKind, bool] = {
    "rate_limit": True,  # 429; `retry_after` when the endpoint said so
    "overloaded": True,  # 529, or an error event of that name
    "server_error": True,  # any other 5xx, 408, 409
    "dropped": True,  # the connection ended inside the stream; `completed` holds the whole blocks
    "malformed_stream": True,  # not HTTP, not JSON, wrong order, or an event over the size limit
    "reply_too_large": False,  # a reply without end; the text so far is kept
    "idle_timeout": True,  # no byte within the time limit
    "transport": True,  # no connection: refused, reset before an answer, unknown host
    "tls_failed": False,  # a certificate or protocol problem does not go away
    "authentication_failed": False,  # 401, 403
    "billing_error": False,  # 402, or no credit left
    "invalid_request": False,  # 400, 422
    "prompt_too_long": False,  # the prompt alone is over the window; `limits` when the endpoint named them
    "window_exceeded": False,  # prompt and max_tokens together are over the window; lower max_tokens
    "model_not_found": False,  # 404, or an answer that no model API gives
    "cancelled": False,  # our own Cancel
    "script": False,  # the script has no reply left, or its `expect` does not match
    "replay_drift": False,  # the request is not the recorded one
}


class Limits(Struct, frozen=True):
    """Token counts that an endpoint named while refusing a request."""

    prompt: int | None = None
    max_tokens: int | None = None
    window: int | None = None


class ModelRequestError(ModelError):
    """A model request failed. `completed` holds, in order, the blocks that were whole before it did."""

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        hint: str | None = None,
        status: int | None = None,
        retry_after: float | None = None,
        request_id: str | None = None,
        limits: Limits | None = None,
        completed: tuple[Block, ...] = (),
    ) -> None:
        super().__init__(message, kind=kind, hint=hint, retryable=RETRYABLE[kind])
        self.status = status
        self.retry_after = retry_after
        self.request_id = request_id
        self.limits = limits
        self.completed = completed

    @property
    def advice(self) -> str:
        """What happened and what to do about it, in one text."""
        if not self.hint:
            return self.message
        end = "" if self.message.endswith((".", "!", "?")) else "."
        return f"{self.message}{end} {self.hint}"


class CredentialRefusedError(AuthError, ModelRequestError):  # type: ignore[misc]  # the error class is AuthError's
    """The endpoint refused the credential."""

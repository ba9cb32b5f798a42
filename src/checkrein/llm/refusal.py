"""An endpoint's refusal (an HTTP status with a body, or an error event inside a stream) as a failure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from checkrein.base.secrets import redact_text
from checkrein.base.wellformed import scrubbed
from checkrein.llm.failures import CredentialRefusedError, FailureKind, Limits, ModelRequestError
from checkrein.llm.values import loads

_BY_STATUS: dict[int, FailureKind] = {
    400: "invalid_request",
    401: "authentication_failed",
    402: "billing_error",
    403: "authentication_failed",
    404: "model_not_found",
    408: "server_error",
    409: "server_error",
    413: "prompt_too_long",
    422: "invalid_request",
    429: "rate_limit",
    529: "overloaded",
}

_BY_NAME: dict[str, FailureKind] = {
    "rate_limit_error": "rate_limit",
    "rate_limit_exceeded": "rate_limit",
    "overloaded_error": "overloaded",
    "server_is_overloaded": "overloaded",
    "api_error": "server_error",
    "timeout_error": "server_error",
    "server_error": "server_error",
    "authentication_error": "authentication_failed",
    "permission_error": "authentication_failed",
    "invalid_api_key": "authentication_failed",
    "billing_error": "billing_error",
    "insufficient_quota": "billing_error",
    "invalid_request_error": "invalid_request",
    "invalid_prompt": "invalid_request",
    "request_too_large": "prompt_too_long",
    "context_length_exceeded": "prompt_too_long",
    "exceed_context_size_error": "prompt_too_long",
    "not_found_error": "model_not_found",
    "model_not_found": "model_not_found",
    # Bedrock
    "throttlingexception": "rate_limit",
    "servicequotaexceededexception": "rate_limit",
    "serviceunavailableexception": "overloaded",
    "modelnotreadyexception": "overloaded",
    "internalserverexception": "server_error",
    "modelstreamerrorexception": "server_error",
    "modeltimeoutexception": "server_error",
    "modelerrorexception": "server_error",
    "validationexception": "invalid_request",
    "resourcenotfoundexception": "model_not_found",
    "accessdeniedexception": "authentication_failed",
    "expiredtokenexception": "authentication_failed",
    "unrecognizedclientexception": "authentication_failed",
    "invalidsignatureexception": "authentication_failed",
}

_WINDOW = re.compile(r"exceed context limit: (\d+) \+ (\d+) > (\d+)")
_PROMPT = re.compile(r"prompt is too long(?:: (\d+) tokens > (\d+))?")
_CONTEXT = re.compile(r"maximum context length (?:is|of) (\d+) tokens")
_ASKED = re.compile(r"(?<!\d)(\d+) (?:in the messages|input tokens|tokens from the input)")
_RESULTED = re.compile(r"resulted in (\d+) tokens")
_COMPLETION = re.compile(
    r"(?<!\d)(\d+) (?:in the completion|output tokens)|completion_tokens' is too large: (\d+)"
)
_CREDIT = re.compile(
    r"credit balance is too low|exceeded your current quota|insufficient (?:credits|funds)", re.I
)

_HINTS: dict[FailureKind, str] = {
    "authentication_failed": "Check the key or token, and that it belongs to this base URL.",
    "billing_error": "Add credit or raise the spending limit at the provider.",
    "model_not_found": "Check the model's name and the base URL; `--model PROVIDER` lists what is there.",
    "prompt_too_long": "Compact the conversation, or choose a model with a larger window.",
    "window_exceeded": "Lower max_tokens, or compact the conversation.",
}
_MESSAGE_LIMIT = 2000
_SHORTEST_SECRET = 4
"""What is shorter is a stand-in for servers that need no key; hiding each `x` would garble the message."""


def refusal(
    status: int | None, body: bytes, headers: Mapping[str, str] | None = None, secrets: tuple[str, ...] = ()
) -> ModelRequestError:
    """The failure that this answer means. `headers` have lower-case names; `secrets` never appear in it."""
    headers = headers or {}
    error = _error_object(body)
    names = [str(error[key]) for key in ("code", "type") if error.get(key)]
    names += [headers["x-amzn-errortype"].partition(":")[0]] if "x-amzn-errortype" in headers else []
    message = str(error.get("message") or body.decode("utf-8", "replace").strip() or f"HTTP status {status}")
    code = error.get("code")  # inside a stream, some gateways send the status here
    kind, limits = _judge(code if status is None and isinstance(code, int) else status, names, message)
    for secret in (secret for secret in secrets if len(secret) >= _SHORTEST_SECRET):
        message = message.replace(secret, "‹redacted›")
    message = scrubbed(redact_text(message)[:_MESSAGE_LIMIT])
    said = (
        f"The model endpoint answered {status}: {message}"
        if status
        else f"The model endpoint failed: {message}"
    )
    return (CredentialRefusedError if kind == "authentication_failed" else ModelRequestError)(
        kind,
        said,
        hint=_HINTS.get(kind),
        status=status,
        retry_after=retry_after(headers),
        request_id=headers.get("request-id") or headers.get("x-request-id"),
        limits=_limits_from_fields(error) or limits,
    )


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `retry-after` (seconds or a date)."""
    for name, scale in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if not value:
            continue
        try:
            return max(0.0, float(value) * scale)
        except ValueError:
            pass
        try:
            from email.utils import parsedate_to_datetime

            from checkrein.base.clock import now

            return max(0.0, parsedate_to_datetime(value).timestamp() - now())
        except ValueError:
            continue
    return None


def _error_object(body: bytes) -> dict[str, Any]:
    value = loads(body)
    while isinstance(value, list) and value:
        value = value[0]
    if not isinstance(value, dict):
        return {}
    inner = value.get("error", value)
    if isinstance(inner, dict):
        return inner
    return {"message": inner} if isinstance(inner, str) else {}


def _judge(status: int | None, names: list[str], message: str) -> tuple[FailureKind, Limits | None]:
    if match := _WINDOW.search(message):
        prompt, most, window = map(int, match.groups())
        return "window_exceeded", Limits(prompt, most, window)
    if match := _PROMPT.search(message):
        prompt_said, window_said = match.groups()
        return "prompt_too_long", Limits(_int(prompt_said), None, _int(window_said))
    if match := _CONTEXT.search(message):
        return _openai_limits(int(match[1]), message)
    if _CREDIT.search(message):
        return "billing_error", None
    for name in map(str.lower, names):
        if name in _BY_NAME and not _contradicts(_BY_NAME[name], status):
            return _BY_NAME[name], None
    if status is None:
        return "server_error", None
    return _BY_STATUS.get(status, "server_error" if status >= 500 else "invalid_request"), None


def _contradicts(kind: FailureKind, status: int | None) -> bool:
    """Whether a status says more than the name: some servers call everything the same."""
    if kind == "invalid_request":
        return status not in (None, 400, 422)
    return kind == "server_error" and status in (400, 401, 403, 404, 413, 422, 429)


def _openai_limits(window: int, message: str) -> tuple[FailureKind, Limits]:
    asked = _ASKED.search(message) or _RESULTED.search(message)
    completion = _COMPLETION.search(message)
    prompt = int(asked[1]) if asked else None
    most = int(completion[1] or completion[2]) if completion else None
    kind: FailureKind = (
        "window_exceeded" if prompt is not None and most and prompt < window else "prompt_too_long"
    )
    return kind, Limits(prompt, most, window)


def _limits_from_fields(error: Mapping[str, Any]) -> Limits | None:
    prompt, window = error.get("n_prompt_tokens"), error.get("n_ctx")
    return Limits(prompt, None, window) if isinstance(prompt, int) and isinstance(window, int) else None


def _int(text: str | None) -> int | None:
    return int(text) if text else None

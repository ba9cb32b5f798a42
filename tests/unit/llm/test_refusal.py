import json

import pytest

from checkrein.llm.failures import Limits
from checkrein.llm.refusal import refusal, retry_after


def body(message: str, **fields: object) -> bytes:
    return json.dumps({"error": {"message": message, **fields}}).encode()


@pytest.mark.parametrize(
    ("status", "data", "kind", "limits"),
    [
        (
            400,
            body("prompt is too long: 208310 tokens > 200000 maximum"),
            "prompt_too_long",
            (208310, None, 200000),
        ),
        (
            400,
            body("input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease"),
            "window_exceeded",
            (188240, 21333, 200000),
        ),
        (
            400,
            body(
                "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens "
                "(4000 in the messages, 1000 in the completion).",
                code="context_length_exceeded",
            ),
            "window_exceeded",
            (4000, 1000, 4096),
        ),
        (
            400,
            body(
                "The maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."
            ),
            "prompt_too_long",
            (9001, None, 8192),
        ),
        (
            400,
            body("too big", type="exceed_context_size_error", n_prompt_tokens=9, n_ctx=8),
            "prompt_too_long",
            (9, None, 8),
        ),
        (400, body("Your credit balance is too low to access the API."), "billing_error", None),
        (429, body("You exceeded your current quota", code="insufficient_quota"), "billing_error", None),
        (
            404,
            body("no such model", type="invalid_request_error", code="model_not_found"),
            "model_not_found",
            None,
        ),
        (404, body("no such path", type="invalid_request_error"), "model_not_found", None),
        (500, body("x", type="api_error"), "server_error", None),
        (418, b"", "invalid_request", None),
        (502, b"<html>bad gateway</html>", "server_error", None),
        (400, b'{"error": "model requires more memory"}', "invalid_request", None),
        (None, b'{"type": "error", "code": "rate_limit_exceeded", "message": "slow"}', "rate_limit", None),
        (None, b"{}", "server_error", None),
        (None, b'{"error": {"code": 429, "message": "slow down"}}', "rate_limit", None),
    ],
)
def test_kinds(status: int | None, data: bytes, kind: str, limits: tuple[int | None, ...] | None) -> None:
    error = refusal(status, data)
    assert error.kind == kind
    assert error.limits == (Limits(*limits) if limits else None)


def test_message_is_bounded_and_without_secrets() -> None:
    error = refusal(500, b"hunter2 sk-ant-api03-abcdefghijklmnop " + b"x" * 9000, {}, ("hunter2",))
    assert "hunter2" not in error.message
    assert "abcdefghijklmnop" not in error.message
    assert len(error.message) < 2100


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after": "-1"}, 0.0),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Fri, 02 Jan 2026 03:04:15 GMT"}, 10.0),
        ({"retry-after": "soon"}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CHECKREIN_CLOCK", "2026-01-02T03:04:05Z")
    assert retry_after(headers) == seconds


def test_request_id() -> None:
    assert refusal(500, b"", {"request-id": "req_1"}).request_id == "req_1"


def test_a_short_stand_in_for_a_key_does_not_uncover_another() -> None:
    error = refusal(401, body("bad key sk-ant-api03-SECRETSECRETSECRET given"), secrets=("k",))
    assert "SECRET" not in error.message
    assert "bad key" in error.message

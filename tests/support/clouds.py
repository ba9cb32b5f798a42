"""Services that have models, on loopback. Each takes only what the real one takes: its paths, its headers,
signatures and tokens that are right. Each refuses in its own words."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, quote, unquote

from checkrein.llm.cloud.event_stream import write_frame
from checkrein.llm.http_server import HttpAnswer, HttpRequest, HttpServer

WORDS = "hello from the cloud"
ACCESS, SECRET, SESSION = "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG", "session-token-1"


def messages(text: str = WORDS) -> list[dict[str, Any]]:
    """The events of a reply of the Messages API."""
    message = {"id": "msg_1", "model": "claude", "usage": {"input_tokens": 3, "output_tokens": 1}}
    return [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}},
        {"type": "message_stop"},
    ]


def events(*values: dict[str, Any]) -> HttpAnswer:
    data = b"".join(
        f"event: {value.get('type', '')}\ndata: {json.dumps(value)}\n\n".encode() for value in values
    )
    return HttpAnswer(200, "text/event-stream", (data,))


def answer(status: int, value: Any, **headers: str) -> HttpAnswer:
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return HttpAnswer(status, "application/json", (json.dumps(value).encode(),), named)


class Cloud:
    """A server whose `answer` may be changed; it keeps what it got."""

    def __init__(self, reply: Callable[[HttpRequest], HttpAnswer]) -> None:
        self.got: list[HttpRequest] = []
        self._reply = reply
        self._http = HttpServer(self._take)
        self.url = self._http.url
        self.host = self.url.removeprefix("http://")

    def _take(self, request: HttpRequest) -> HttpAnswer:
        self.got.append(request)
        return self._reply(request)

    def paths(self) -> list[str]:
        return [request.path for request in self.got]

    def close(self) -> None:
        self._http.close()


@contextmanager
def serving(reply: Callable[[HttpRequest], HttpAnswer]) -> Iterator[Cloud]:
    cloud = Cloud(reply)
    try:
        yield cloud
    finally:
        cloud.close()


# Bedrock


def signature(request: HttpRequest, secret: str = SECRET) -> str:
    """The signature of a request by the rules of AWS, written down a second time, on its own."""
    said = request.headers["authorization"]
    scope = said.split("Credential=", 1)[1].split(",")[0].split("/", 1)[1]
    names = said.split("SignedHeaders=", 1)[1].split(",")[0].split(";")
    canonical = request.method + "\n" + quote(request.path) + "\n" + request.query + "\n"
    canonical += "".join(f"{name}:{request.headers[name]}\n" for name in names)
    canonical += "\n" + ";".join(names) + "\n" + hashlib.sha256(request.body).hexdigest()
    text = "AWS4-HMAC-SHA256\n" + request.headers["x-amz-date"] + "\n" + scope + "\n"
    text += hashlib.sha256(canonical.encode()).hexdigest()
    key = ("AWS4" + secret).encode()
    for part in scope.split("/"):
        key = hmac.new(key, part.encode(), "sha256").digest()
    return hmac.new(key, text.encode(), "sha256").hexdigest()


def bedrock(
    models: tuple[str, ...] = ("global.anthropic.claude-sonnet-5-5",), bearer: str | None = None
) -> Callable[[HttpRequest], HttpAnswer]:
    def refuse(status: int, kind: str, message: str) -> HttpAnswer:
        return answer(status, {"message": message}, x_amzn_errortype=f"{kind}:http://internal.amazon.com/")

    def reply(request: HttpRequest) -> HttpAnswer:
        if bearer is not None:
            if request.headers.get("authorization") != f"Bearer {bearer}":
                return refuse(403, "AccessDeniedException", "Authentication failed: API key is not valid.")
        elif "AWS4-HMAC-SHA256" not in request.headers.get("authorization", ""):
            return refuse(403, "MissingAuthenticationTokenException", "Missing Authentication Token")
        elif not request.headers["authorization"].endswith(f"Signature={signature(request)}"):
            return refuse(403, "InvalidSignatureException", "The request signature does not match.")
        elif "/us-west-2/bedrock/aws4_request" not in request.headers["authorization"]:
            return refuse(403, "InvalidSignatureException", "Credential should be scoped to a valid region.")
        found = re.fullmatch(r"/model/([^/]+)/(invoke-with-response-stream|count-tokens)", request.path)
        if request.method != "POST" or found is None:
            return refuse(404, "UnknownOperationException", "unknown operation")
        if unquote(found[1]) not in models:
            return refuse(400, "ValidationException", "The provided model identifier is invalid.")
        body = json.loads(request.body)
        if found[2] == "count-tokens":
            json.loads(base64.b64decode(body["input"]["invokeModel"]["body"]))
            return answer(200, {"inputTokens": 8})
        if body.get("anthropic_version") != "bedrock-2023-05-31" or {"model", "stream"} & set(body):
            return refuse(400, "ValidationException", "Malformed input request")
        frames = [
            write_frame(
                {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"},
                json.dumps({"bytes": base64.b64encode(json.dumps(one).encode()).decode()}).encode(),
            )
            for one in messages()
        ]
        data = b"".join(frames)  # in pieces that have nothing to do with the frames
        pieces = [data[at : at + 37] for at in range(0, len(data), 37)]
        return HttpAnswer(200, "application/vnd.amazon.eventstream", pieces, whole=False)

    return reply


# Vertex


def vertex(token: str = "ya29.good", project: str = "acme") -> Callable[[HttpRequest], HttpAnswer]:
    """The models, and the token endpoint and the metadata server that give the token."""

    def reply(request: HttpRequest) -> HttpAnswer:
        granted = answer(200, {"access_token": token, "expires_in": 3600, "token_type": "Bearer"})
        if request.path == "/token":
            form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
            return granted if _is_grant(form) else answer(400, {"error": "invalid_grant"})
        if request.path == "/computeMetadata/v1/instance/service-accounts/default/token":
            flavored = request.headers.get("metadata-flavor") == "Google"
            return granted if flavored else answer(403, {"error": "missing header"})
        if request.headers.get("authorization") != f"Bearer {token}":
            error = {"code": 401, "message": "Request had invalid credentials.", "status": "UNAUTHENTICATED"}
            return answer(401, {"error": error})
        place = f"/projects/{project}/locations/us-east5/publishers/anthropic/models/"
        if request.method != "POST" or not request.path.startswith(place):
            return answer(404, {"error": {"code": 404, "message": "Not found.", "status": "NOT_FOUND"}})
        body = json.loads(request.body)
        if body.get("anthropic_version") != "vertex-2023-10-16":
            return answer(400, {"error": {"code": 400, "message": "anthropic_version: Field required"}})
        match request.path.removeprefix(place):
            case "claude-sonnet-5-5:streamRawPredict" if "model" not in body and body.get("stream"):
                return events(*messages())
            case "count-tokens:rawPredict" if body.get("model") == "claude-sonnet-5-5":
                return answer(200, {"input_tokens": 8})
        error = {"code": 404, "message": "Publisher Model was not found.", "status": "NOT_FOUND"}
        return answer(404, {"error": error})

    return reply


def _is_grant(form: dict[str, str]) -> bool:
    if form["grant_type"] == "refresh_token":
        return form["refresh_token"] == "1//refresh" and form["client_secret"] == "desktop"
    import jwt

    claims = jwt.decode(form["assertion"], options={"verify_signature": False})
    jwt.decode(form["assertion"], PUBLIC.pop(), algorithms=["RS256"], audience=claims["aud"])
    return bool(claims["iss"] == "robot@acme.test" and claims["exp"] > claims["iat"])


PUBLIC: list[Any] = []
"""The public key of the account that asks next."""


def service_account(token_uri: str) -> dict[str, str]:
    """The file of an account, with a key of its own."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    PUBLIC.append(key.public_key())
    written = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return {
        "type": "service_account",
        "client_email": "robot@acme.test",
        "private_key_id": "k1",
        "private_key": written.decode(),
        "token_uri": token_uri,
    }


# Azure


def foundry(key: str | None = "az-key", token: str = "entra") -> Callable[[HttpRequest], HttpAnswer]:
    """Claude behind `/anthropic`, Azure OpenAI behind `/openai`, and the token endpoint of a tenant."""

    def reply(request: HttpRequest) -> HttpAnswer:
        if request.path == "/tenant-1/oauth2/v2.0/token":
            form = {name: values[0] for name, values in parse_qs(request.body.decode()).items()}
            right = form["client_secret"] == "s3cret" and form["scope"].endswith("/.default")
            if right:
                return answer(200, {"access_token": token, "expires_in": 3599})
            return answer(401, {"error": "invalid_client", "error_description": "AADSTS7000215: Invalid."})
        sent = request.headers
        keyed = key is not None and key in (sent.get("x-api-key"), sent.get("api-key"))
        if not keyed and sent.get("authorization") != f"Bearer {token}":
            error = {"code": "401", "message": "Access denied due to invalid subscription key."}
            return answer(401, {"error": error})
        match request.method, request.path:
            case "POST", "/anthropic/v1/messages":
                return events(*messages())
            case "GET", "/anthropic/v1/models":
                return answer(404, {"error": {"code": "404", "message": "Resource not found"}})
            case "POST", "/openai/v1/chat/completions" if not request.query:
                return events(*chat())
            case "POST", "/openai/deployments/gpt-dep/chat/completions" if request.query:
                return events(*chat()) if "api-version=2024-10-21" in request.query else answer(404, {})
            case "GET", "/openai/v1/models":
                return answer(200, {"data": [{"id": "gpt-dep"}]})
        return answer(404, {"error": {"code": "404", "message": "Resource not found"}})

    return reply


# OpenAI-compatible servers and Ollama


def chat(text: str = WORDS) -> list[dict[str, Any]]:
    return [
        {"id": "c1", "model": "m", "choices": [{"delta": {"content": text}}]},
        {"id": "c1", "choices": [{"delta": {}, "finish_reason": "stop"}]},
    ]


def compatible(
    models: tuple[str, ...], key: str | None = None, path: str = "/v1"
) -> Callable[[HttpRequest], HttpAnswer]:
    def reply(request: HttpRequest) -> HttpAnswer:
        if key is not None and request.headers.get("authorization") != f"Bearer {key}":
            error = {"message": "Incorrect API key provided.", "code": "invalid_api_key"}
            return answer(401, {"error": error})
        if request.method == "GET" and request.path == f"{path}/models":
            return answer(200, {"object": "list", "data": [{"id": name} for name in models]})
        if request.method != "POST" or request.path != f"{path}/chat/completions":
            return HttpAnswer(404, "text/plain", (b"404 page not found",))
        name = json.loads(request.body)["model"]
        if name not in models:
            error = {"message": f'model "{name}" not found, try pulling it first', "type": "api_error"}
            return answer(404, {"error": error})
        return events(*chat())

    return reply


# Anthropic


def anthropic(**wanted: str) -> Callable[[HttpRequest], HttpAnswer]:
    """Takes requests with exactly these headers (`_` for `-`); an empty value means that it is absent."""
    headers = {name.replace("_", "-"): value for name, value in wanted.items()}

    def reply(request: HttpRequest) -> HttpAnswer:
        if request.headers.get("anthropic-version") != "2023-06-01":
            return answer(400, {"error": {"type": "invalid_request_error", "message": "version"}})
        for name, value in headers.items():
            if (value and value not in request.headers.get(name, "")) or (
                not value and name in request.headers
            ):
                error = {"type": "authentication_error", "message": f"invalid {name}"}
                return answer(401, {"type": "error", "error": error})
        match request.method, request.path:
            case "POST", "/v1/messages":
                return events(*messages())
            case "GET", "/v1/models":
                return answer(200, {"data": [{"id": "claude-sonnet-5-5"}]})
        error = {"type": "not_found_error", "message": "Not found"}
        return answer(404, {"type": "error", "error": error})

    return reply

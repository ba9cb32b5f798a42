"""Whether a model would answer: one small request that costs nothing."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Literal
from urllib.parse import quote, urlsplit

from msgspec import Struct

from checkrein.base.errors import CheckreinError
from checkrein.base.nearest import did_you_mean
from checkrein.llm.bodies import encode_json
from checkrein.llm.catalogue import ask_list, names_in
from checkrein.llm.credential import Outgoing
from checkrein.llm.endpoints import Endpoint
from checkrein.llm.failures import CredentialRefusedError
from checkrein.llm.fetch import Fetched, fetch
from checkrein.llm.refusal import refusal

State = Literal["ok", "weak", "missing"]
_SECONDS = 4.0
_NO_LIST = (404, 405, 501)


class Probe(Struct, frozen=True):
    """`found` says what happened, `fix` what to do about it."""

    state: State
    found: str
    fix: str | None = None


def probe(endpoint: Endpoint, name: str, env: Mapping[str, str]) -> Probe:
    """Never raises on what the other side does."""
    try:
        if endpoint.row.kind in ("bedrock", "vertex"):
            return _counted(endpoint, name, env)
        return _listed(endpoint, name, env)
    except CheckreinError as error:
        return Probe("missing", error.message, error.hint)


def _listed(endpoint: Endpoint, name: str, env: Mapping[str, str]) -> Probe:
    done = ask_list(endpoint, env, seconds=_SECONDS)
    where = urlsplit(endpoint.base_url).netloc
    if done.status in _NO_LIST:
        return Probe("ok", f"{where} answers; it has no list of models")
    if done.status != 200:
        return _refused(endpoint, done)
    names = names_in(done)
    if endpoint.row.start and not names:
        return Probe("missing", f"{endpoint.provider} has no models yet.", endpoint.row.start)
    if not endpoint.row.start or name in names or f"{name}:latest" in names:
        return Probe("ok", f"{where} answers")
    said = f"{endpoint.provider} has no model {name}.{did_you_mean(name, names)}"
    return Probe("missing", said, f"`--model {endpoint.provider}` lists what is there.")


def _counted(endpoint: Endpoint, name: str, env: Mapping[str, str]) -> Probe:
    """Clouds have no list at the address of the model; they count tokens there."""
    said = {"max_tokens": 1, "messages": [{"role": "user", "content": "hi"}]}
    base_url = endpoint.base_url
    if endpoint.row.kind == "bedrock":
        from checkrein.llm.cloud.bedrock import VERSION, bedrock_name

        inner = base64.b64encode(encode_json({"anthropic_version": VERSION, **said})).decode()
        path = f"/model/{quote(bedrock_name(name), safe='')}/count-tokens"
        body = encode_json({"input": {"invokeModel": {"body": inner}}})
    else:
        from checkrein.llm.cloud import vertex

        model = vertex.vertex_name(name)
        region = vertex.region_of(model, env)
        base_url = vertex.base_url_of(region, endpoint.base_url if endpoint.said else None)
        path = f"{vertex.publisher(vertex.project_of(env), region)}/models/count-tokens:rawPredict"
        body = encode_json(
            {"anthropic_version": vertex.VERSION, "model": model, "messages": said["messages"]}
        )
    parts = urlsplit(base_url)
    asked = Outgoing(parts.netloc, parts.path.rstrip("/") + path, body)
    headers = {"content-type": "application/json", **endpoint.credential.headers(asked)}
    url = f"{base_url.rstrip('/')}{path}"
    done = fetch(url, env=env, method="POST", headers=headers, body=body, seconds=_SECONDS)
    return Probe("ok", f"{parts.netloc} answers") if done.status == 200 else _refused(endpoint, done)


def _refused(endpoint: Endpoint, done: Fetched) -> Probe:
    error = refusal(done.status, done.body, done.headers, endpoint.credential.secrets())
    if isinstance(error, CredentialRefusedError):
        return Probe("missing", error.message, f"Check {endpoint.credential.source}.")
    return Probe("weak" if error.retryable else "missing", error.message, error.hint)

"""Claude models on Google Cloud: the Messages body without its model, at the model's own address."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from checkrein.base.errors import ConfigError
from checkrein.facts.models_cloud import VERTEX_NAMES
from checkrein.llm.anthropic import MessagesReader
from checkrein.llm.anthropic_body import betas, encode, encode_message
from checkrein.llm.bodies import MessageBytes
from checkrein.llm.cancel import Cancel
from checkrein.llm.connection import Timeouts
from checkrein.llm.credential import Credential, Outgoing, with_renewal
from checkrein.llm.port import ModelEvent, Request
from checkrein.llm.stream import stream
from checkrein.llm.wire import Wire

VERSION = "vertex-2023-10-16"
_REGION = "us-east5"


class VertexModel:
    """The region may differ for single models; `env` says so (`VERTEX_REGION_CLAUDE_…`). Each region has its
    own host, unless `base_url` names a gateway."""

    searches = True

    def __init__(
        self,
        credential: Credential,
        *,
        project: str,
        base_url: str | None,
        env: Mapping[str, str],
        headers: Mapping[str, str] | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        self._credential, self._project, self._base_url = credential, project, base_url
        self._env, self._headers, self._timeouts = env, headers or {}, timeouts
        self._wires: dict[str, Wire] = {}
        self._messages = MessageBytes(encode_message)

    def __repr__(self) -> str:
        return f"VertexModel({self._project})"

    def stream(self, request: Request, cancel: Cancel) -> Iterator[ModelEvent]:
        head: dict[str, Any] = {
            "anthropic_version": VERSION,
            "max_tokens": request.max_tokens,
            "stream": True,
        }
        name = vertex_name(request.model)
        region = region_of(name, self._env)
        path = f"{publisher(self._project, region)}/models/{name}:streamRawPredict"
        body = encode(request, self._messages, head)
        wire = self._wire(region)
        switched = betas(request)
        beta = {"anthropic-beta": ",".join(switched)} if switched else {}

        def once() -> Iterator[ModelEvent]:
            asked = Outgoing(wire.endpoint.authority, wire.endpoint.path + path, body)
            headers = {**beta, **self._credential.headers(asked)}
            return stream(wire, path, body, MessagesReader(), cancel, headers, self._credential.secrets())

        return with_renewal(once, self._credential)

    def _wire(self, region: str) -> Wire:
        url = base_url_of(region, self._base_url)
        if url not in self._wires:
            self._wires[url] = Wire(url, self._headers, timeouts=self._timeouts, env=self._env)
        return self._wires[url]

    def close(self) -> None:
        for wire in self._wires.values():
            wire.close()


def base_url_of(region: str, said: str | None) -> str:
    if said:
        return said
    host = "aiplatform.googleapis.com" if region == "global" else f"{region}-aiplatform.googleapis.com"
    return f"https://{host}/v1"


def publisher(project: str, region: str) -> str:
    return f"/projects/{project}/locations/{region}/publishers/anthropic"


def vertex_name(name: str) -> str:
    return VERTEX_NAMES.get(name, name)


def region_of(name: str, env: Mapping[str, str]) -> str:
    family = name.partition("@")[0].upper().replace("-", "_").replace(".", "_")
    return env.get(f"VERTEX_REGION_{family}") or env.get("CLOUD_ML_REGION") or _REGION


def project_of(env: Mapping[str, str]) -> str:
    names = ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT")
    found = next((env[name] for name in names if env.get(name)), None)
    if found is None:
        raise ConfigError(
            "Vertex needs the id of a Google Cloud project.",
            kind="project_missing",
            hint=f"Set {names[0]}, and CLOUD_ML_REGION for the region.",
        )
    return found

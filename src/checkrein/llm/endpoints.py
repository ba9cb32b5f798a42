"""The Model behind a provider: its address, its credential, its wire."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

from checkrein.base.errors import ConfigError
from checkrein.facts.models_providers import PROVIDERS, Provider
from checkrein.llm.accounts import ModelSettings, credential_of
from checkrein.llm.connection import Timeouts
from checkrein.llm.credential import Credential, Key
from checkrein.llm.port import Model

if TYPE_CHECKING:
    from checkrein.llm.cloud.helper import RunHelper


_ANY = {"0.0.0.0": "127.0.0.1", "[::]": "[::1]", "": "127.0.0.1"}  # noqa: S104  where a server listens, not we
"""Hosts that a server listens on, to the one that a client means."""


class Endpoint(Struct, frozen=True):
    """Where requests of a provider go, and who asks. `said` is false for the provider's own address."""

    provider: str
    base_url: str
    said: bool
    credential: Credential

    @property
    def row(self) -> Provider:
        return PROVIDERS[self.provider]

    @property
    def is_compatible(self) -> bool:
        """Whether somebody's own server answers in a vendor's API, with any model."""
        return self.row.start is not None or (self.said and self.provider.startswith("openai"))


def endpoint_of(provider: str, settings: ModelSettings, env: Mapping[str, str], run: RunHelper) -> Endpoint:
    """Nothing is sent. Raises AuthError when a credential is missing, ConfigError when an address is."""
    row = PROVIDERS[provider]
    said = settings.base_url or _said_address(row, env)
    base_url = _full_address(row, said) or _cloud_address(row, env)
    return Endpoint(provider, base_url, bool(said), credential_of(provider, base_url, settings, env, run))


def open_model(endpoint: Endpoint, name: str, settings: ModelSettings, env: Mapping[str, str]) -> Model:
    """Import only the wire that is used."""
    row, credential = endpoint.row, endpoint.credential
    shared: dict[str, Any] = {
        "headers": {"user-agent": f"checkrein/{_version()}"},
        "timeouts": Timeouts(answer=_answer_timeout(settings, env), idle=settings.idle_timeout),
        "env": env,
    }
    if row.kind in ("anthropic", "foundry", "bedrock", "vertex"):
        shared["headers"] |= _custom_headers(env.get("ANTHROPIC_CUSTOM_HEADERS", ""))
    if row.kind == "bedrock":
        from checkrein.llm.cloud.bedrock import BedrockModel

        return BedrockModel(credential, base_url=endpoint.base_url, **shared)
    if row.kind == "vertex":
        from checkrein.llm.cloud.vertex import VertexModel, project_of

        said = endpoint.base_url if endpoint.said else None
        return VertexModel(credential, project=project_of(env), base_url=said, **shared)
    shared |= {"base_url": endpoint.base_url, "start": _start(endpoint)}
    if row.kind in ("anthropic", "foundry"):
        from checkrein.llm.anthropic import AnthropicModel

        return AnthropicModel(credential=credential, **shared)
    # "openai" is the vendor's newer API; compatible servers elsewhere speak the older one
    if row.kind == "responses" and not (endpoint.provider == "openai" and endpoint.said):
        from checkrein.llm.openai_responses import ResponsesModel

        return ResponsesModel(api_key=_plain(credential), **shared)
    from checkrein.llm.openai_chat import ChatModel
    from checkrein.llm.openai_chat_body import ChatDialect

    if row.kind == "azure":
        from checkrein.llm.cloud.azure import chat_path

        dialect = ChatDialect(row.limit_field, path=chat_path(name, env))
        return ChatModel(credential=credential, dialect=dialect, **shared)
    dialect = ChatDialect(row.limit_field, row.reasoning_field, row.cache_key)
    model = ChatModel(api_key=_plain(credential), dialect=dialect, **shared)
    if not endpoint.is_compatible:
        return model
    from checkrein.llm.open_replies import OpenReplies

    return OpenReplies(model)


def _said_address(row: Provider, env: Mapping[str, str]) -> str:
    """What the environment says; empty when it says nothing."""
    return next((env[name].strip() for name in row.url_variables if env.get(name)), "")


def _full_address(row: Provider, said: str) -> str:
    """A base URL from what the user wrote. For servers on this machine also `host`, `host:port`, and an
    address without the path of the API."""
    if not said or not row.start:
        return said or row.base_url
    usual = urlsplit(row.base_url)
    whole = "://" in said
    if said.count(":") > 1 and not whole and "[" not in said:
        said = f"[{said}]"  # an IPv6 address alone
    parts = urlsplit(said if whole else f"//{said}")
    host, colon, port = parts.netloc.rpartition(":")
    if not colon or port.endswith("]"):
        host, port = parts.netloc, "" if whole else str(usual.port)
    host = _ANY.get(host, host)
    path = parts.path.rstrip("/") or usual.path
    return f"{parts.scheme or 'http'}://{host}{f':{port}' if port else ''}{path}"


def _plain(credential: Credential) -> str | None:
    """The text of a key. These wires put it into the header themselves."""
    assert isinstance(credential, Key)
    return next(iter(credential.secrets()), None)


def _start(endpoint: Endpoint) -> str:
    if endpoint.row.start:
        return endpoint.row.start
    variables = " or ".join(endpoint.row.url_variables)
    return "Start the server there" + (f", or correct {variables}." if variables else ".")


def _cloud_address(row: Provider, env: Mapping[str, str]) -> str:
    match row.kind:
        case "bedrock":
            from checkrein.llm.cloud.aws import region_of

            return f"https://bedrock-runtime.{region_of(env)}.amazonaws.com"
        case "vertex":
            from checkrein.llm.cloud import vertex

            return vertex.base_url_of(vertex.region_of("", env), None)
        case "foundry":
            resource = env.get("ANTHROPIC_FOUNDRY_RESOURCE", "").strip()
            if resource.replace("-", "").isalnum():
                return f"https://{resource}.services.ai.azure.com/anthropic"
    raise ConfigError(
        f"The address of {row.example.partition(':')[0]} is not known.",
        hint=f"Set {row.url_variables[0]}"
        + (" or ANTHROPIC_FOUNDRY_RESOURCE (a name, not an address)." if row.kind == "foundry" else "."),
    )


def _answer_timeout(settings: ModelSettings, env: Mapping[str, str]) -> float:
    said = env.get("API_TIMEOUT_MS", "")
    return int(said) / 1000 if said.isdecimal() and int(said) else settings.answer_timeout


def _custom_headers(text: str) -> dict[str, str]:
    """`Name: value` lines."""
    pairs = (line.partition(":") for line in text.replace("\\n", "\n").splitlines())
    return {name.strip().lower(): value.strip() for name, colon, value in pairs if colon and name.strip()}


def _version() -> str:
    from checkrein import __version__

    return __version__

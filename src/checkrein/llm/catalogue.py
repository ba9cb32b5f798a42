"""The models that an endpoint has: its own list, asked for when nobody named one."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlsplit

from checkrein.base.errors import AuthError, CheckreinError, UsageError
from checkrein.base.wellformed import scrubbed
from checkrein.facts.models_providers import PROVIDERS
from checkrein.llm.accounts import ModelSettings
from checkrein.llm.credential import Outgoing
from checkrein.llm.endpoints import Endpoint, endpoint_of
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.fetch import Fetched, fetch
from checkrein.llm.refusal import refusal
from checkrein.llm.values import loads, part, text

_SECONDS = 3.0
_SHOWN = 12
_AT_HOME = ("ollama", "lmstudio", "llamacpp", "vllm")
_AT_HOME_SECONDS = 0.3
_VERSION = {"anthropic-version": "2023-06-01"}


def models_of(provider: str, env: Mapping[str, str], *, seconds: float = _SECONDS) -> tuple[str, ...]:
    """The names that a provider's endpoint lists. Raises CheckreinError when there is no list."""
    return listed(endpoint_of(provider, ModelSettings(), env, _no_helpers), env, seconds=seconds)


def _no_helpers(command: str | tuple[str, ...]) -> bytes:
    raise AuthError("Lists come without helpers.", kind="credentials_missing")


def listed(endpoint: Endpoint, env: Mapping[str, str], *, seconds: float = _SECONDS) -> tuple[str, ...]:
    done = ask_list(endpoint, env, seconds=seconds)
    if done.status != 200:
        raise refusal(done.status, done.body, done.headers, endpoint.credential.secrets())
    return names_in(done)


def names_in(done: Fetched) -> tuple[str, ...]:
    """The names in a list of models. Raises ModelRequestError when the answer is something else."""
    value = loads(done.body)
    rows = part(value).get("data", value)
    if rows is None and isinstance(value, dict):
        return ()
    if not isinstance(rows, list):
        kind = done.headers.get("content-type", "").partition(";")[0] or "an unnamed type"
        raise ModelRequestError(
            "model_not_found",
            f"The endpoint answered {scrubbed(kind)}, not a list of models.",
            hint="Check that the base URL belongs to a model API.",
            status=done.status,
        )
    return tuple(sorted(name for row in rows if (name := text(part(row).get("id")))))


def ask_list(endpoint: Endpoint, env: Mapping[str, str], *, seconds: float = _SECONDS) -> Fetched:
    """The answer to a request for the list of models, whatever its status."""
    url = f"{endpoint.base_url.rstrip('/')}{_path(endpoint)}"
    parts = urlsplit(url)
    asked = Outgoing(parts.netloc, parts.path, b"", "GET")
    headers = {"accept": "application/json", **_VERSION, **endpoint.credential.headers(asked)}
    return fetch(url, env=env, headers=headers, seconds=seconds, start=endpoint.row.start)


def _path(endpoint: Endpoint) -> str:
    match endpoint.row.kind:
        case "anthropic" | "foundry":
            return "/v1/models"
        case "azure":
            return "/openai/v1/models"
        case _:
            return "/models"


def unnamed(endpoint: Endpoint, env: Mapping[str, str], *, listing: bool) -> str:
    """The name to use at an endpoint when nobody gave one: the provider's usual model or the only one, if it
    has that; not when somebody asks for the list. Raises UsageError with the list."""
    usual = endpoint.row.default_model
    names = listed(endpoint, env)
    if usual is not None and usual in names:
        return usual
    if len(names) == 1 and not (listing and usual is None):
        return names[0]
    raise choice_needed(endpoint.provider, names)


def choice_needed(provider: str, names: tuple[str, ...]) -> UsageError:
    if not names:
        return UsageError(
            f"{provider} has no models yet.", kind="model_unnamed", hint=PROVIDERS[provider].start
        )
    shown = "\n".join(f"  --model {provider}:{name}" for name in names[:_SHOWN])
    more = f"\n  and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    noun = "model" if len(names) == 1 else "models"
    return UsageError(
        f"{provider} has {len(names)} {noun}; name one:\n{shown}{more}",
        kind="model_unnamed",
        hint=f"To use it from now on: checkrein config set model.default {provider}:{names[0]}",
    )


def at_home(env: Mapping[str, str]) -> tuple[str, ...]:
    """`provider:name` of the models of the first server that answers on this machine."""
    for provider in _AT_HOME:
        try:
            names = models_of(provider, env, seconds=_AT_HOME_SECONDS)
        except CheckreinError:
            continue
        if names:
            return tuple(f"{provider}:{name}" for name in names)
    return ()

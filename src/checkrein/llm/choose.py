"""Choose the Model that answers, from `provider:name`, settings and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import urlsplit

from msgspec import Struct

from checkrein.base.errors import AuthError, UsageError
from checkrein.base.nearest import did_you_mean
from checkrein.facts.models import ALIAS_VARIABLES, ALIASES, ModelFacts, find_model
from checkrein.facts.models_providers import PROVIDERS, Provider
from checkrein.llm.connection import Timeouts
from checkrein.llm.port import Model

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_KEY_OWNERS = {"sk-ant-": "anthropic", "sk-or-": "openrouter", "sk-proj-": "openai"}


class ModelSettings(Struct, frozen=True, kw_only=True):
    """What the configuration says. `api_key` goes to `base_url`. Without one it goes only to the provider
    whose keys begin like it, so a project's choice of model can't send a user's key elsewhere."""

    default: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    idle_timeout: float = 120.0
    answer_timeout: float = 600.0

    def __repr__(self) -> str:
        return (
            f"ModelSettings(default={self.default!r}, base_url={self.base_url!r}, idle={self.idle_timeout})"
        )


class Chosen(Struct, frozen=True):
    """`name` goes into `Request.model`. `facts` are None for a model that is not in our tables."""

    provider: str
    name: str
    model: Model
    facts: ModelFacts | None


def choose(
    spec: str | None = None,
    settings: ModelSettings | None = None,
    env: Mapping[str, str] | None = None,
) -> Chosen:
    """The model for `spec`; without one `ANTHROPIC_MODEL`, the settings' default, `ANTHROPIC_DEFAULT_MODEL`,
    or the default of the first provider that has a credential. Nothing is sent.

    Raises UsageError for an unknown provider, AuthError when a credential is missing."""
    settings = settings or ModelSettings()
    env = os.environ if env is None else env
    wanted = spec or env.get("ANTHROPIC_MODEL") or settings.default or env.get("ANTHROPIC_DEFAULT_MODEL")
    if not wanted:
        wanted = _by_credential(settings, env)
    provider, name = split(wanted, env)
    row = PROVIDERS[provider]
    model = _FILES[row.kind](name) if row.kind in _FILES else _endpoint(provider, row, settings, env)
    name = getattr(model, "name", None) or name if row.kind == "replay" else name
    return Chosen(provider, name, model, find_model(name))


def split(spec: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Provider and name. A bare name is an alias, an OpenAI name (by its prefix) or an Anthropic name."""
    provider, colon, name = spec.partition(":")
    if colon and provider in PROVIDERS:
        if not name:
            raise UsageError(f"{spec!r} does not name a model.", hint=f"Write {PROVIDERS[provider].example}.")
        return provider, _resolve_alias(name, env) if provider == "anthropic" else name
    if colon:
        raise UsageError(
            f"There is no model provider {provider!r}.{did_you_mean(provider, PROVIDERS)}",
            kind="provider_unknown",
            hint=f"Providers: {', '.join(PROVIDERS)}.",
        )
    name = _resolve_alias(spec, env)
    if name.startswith(("gpt-", "o1", "o3", "o4", "codex-", "chatgpt-")):
        return "openai", name
    return "anthropic", name


def _resolve_alias(name: str, env: Mapping[str, str]) -> str:
    """Resolve an alias such as `sonnet` by the environment or our table; keep other names. Drop `[1m]`."""
    plain = name.removesuffix("[1m]")
    variable = ALIAS_VARIABLES.get(plain)
    return (env.get(variable) if variable else None) or ALIASES.get(plain, plain)


def _by_credential(settings: ModelSettings, env: Mapping[str, str]) -> str:
    for name, row in PROVIDERS.items():
        keyed = any(env.get(variable) for variable in row.key_variables)
        addressed = any(env.get(variable) for variable in row.url_variables)
        if row.default_model and (keyed or addressed or _own_key(name, settings)):
            return f"{name}:{row.default_model}"
    if settings.base_url:
        return f"anthropic:{PROVIDERS['anthropic'].default_model}"
    raise AuthError(
        "No credential found for a model.",
        hint="Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or choose a model that needs none: "
        "--model ollama:NAME, --model local:FILE.gguf, --model scripted:FILE.",
    )


def _endpoint(name: str, row: Provider, settings: ModelSettings, env: Mapping[str, str]) -> Model:
    said = settings.base_url or next((env[v] for v in row.url_variables if env.get(v)), "")
    base_url = said or row.base_url
    variable = next((v for v in row.key_variables if env.get(v)), None)
    key = _own_key(name, settings) or (env[variable].strip() if variable else None)
    if not key and row.key_needed and urlsplit(base_url).hostname not in _LOOPBACK:
        variables = " or ".join(reversed(row.key_variables))
        raise AuthError(f"No credential found for {name}.", hint=f"Set {variables} in the environment.")
    timeouts = Timeouts(answer=_answer_timeout(settings, env), idle=settings.idle_timeout)
    headers = {"user-agent": f"checkrein/{_version()}"}
    if row.kind == "anthropic":
        from checkrein.llm.anthropic import AnthropicModel

        bearer = variable == "ANTHROPIC_AUTH_TOKEN" and not _own_key(name, settings)
        return AnthropicModel(
            api_key=None if bearer else key,
            auth_token=key if bearer else None,
            base_url=base_url,
            headers=headers | _custom_headers(env.get("ANTHROPIC_CUSTOM_HEADERS", "")),
            timeouts=timeouts,
            env=env,
        )
    # "openai" is the vendor's newer API; compatible servers elsewhere speak the older one
    if row.kind == "responses" and not (name == "openai" and said):
        from checkrein.llm.openai_responses import ResponsesModel

        return ResponsesModel(api_key=key, base_url=base_url, headers=headers, timeouts=timeouts, env=env)
    from checkrein.llm.openai_chat import ChatModel
    from checkrein.llm.openai_chat_body import ChatDialect

    dialect = ChatDialect(row.limit_field, row.reasoning_field, row.cache_key)
    return ChatModel(
        api_key=key, base_url=base_url, dialect=dialect, headers=headers, timeouts=timeouts, env=env
    )


def _own_key(provider: str, settings: ModelSettings) -> str | None:
    key = (settings.api_key or "").strip()
    if not key or settings.base_url:
        return key or None
    owner = next((owner for start, owner in _KEY_OWNERS.items() if key.startswith(start)), None)
    return key if owner is not None and provider.startswith(owner) else None


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


def _scripted(path: str) -> Model:
    from checkrein.llm.scripted import ScriptedModel

    return ScriptedModel(path)


def _replay(path: str) -> Model:
    from checkrein.llm.replay import ReplayModel

    return ReplayModel(path, strict=False)


def _local(path: str) -> Model:
    from checkrein.llm.local import LocalModel

    return LocalModel(path)


_FILES = {"scripted": _scripted, "replay": _replay, "local": _local}

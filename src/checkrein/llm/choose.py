"""Choose the Model that answers, from `provider:name`, settings and the environment."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.errors import AuthError, UsageError
from checkrein.facts.models import ALIAS_VARIABLES, ALIASES, ModelFacts, find_model
from checkrein.facts.models_providers import FILE_KINDS, PROVIDERS, SWITCHES
from checkrein.llm.accounts import HELPER, OAUTH, ModelSettings, truthy
from checkrein.llm.port import Model

if TYPE_CHECKING:
    from checkrein.llm.cloud.helper import RunHelper
    from checkrein.llm.endpoints import Endpoint

__all__ = ["Chosen", "ModelSettings", "choose", "split"]

_CLAUDE = ("anthropic", *SWITCHES)


class Chosen(Struct, frozen=True):
    """`name` goes into `Request.model`. `facts` are None for a model that is not in our tables. `endpoint`
    is None for a model that is a file."""

    provider: str
    name: str
    model: Model
    facts: ModelFacts | None
    endpoint: Endpoint | None = None


def choose(
    spec: str | None = None,
    settings: ModelSettings | None = None,
    env: Mapping[str, str] | None = None,
    run: RunHelper | None = None,
) -> Chosen:
    """The model for `spec`; without one `ANTHROPIC_MODEL`, the settings' default, `ANTHROPIC_DEFAULT_MODEL`,
    or the default of the first provider that has a credential. An endpoint is asked for its list only where
    nobody names a model.

    Raises UsageError for an unknown provider, AuthError when a credential is missing."""
    settings = settings or ModelSettings()
    env = os.environ if env is None else env
    wanted = spec or env.get("ANTHROPIC_MODEL") or settings.default or env.get("ANTHROPIC_DEFAULT_MODEL")
    provider, name = split(wanted, env) if wanted else (_by_credential(settings, env), "")
    row = PROVIDERS[provider]
    if row.kind in FILE_KINDS:
        model = _file(provider, name, settings)
        named = getattr(model, "name", None) or name if row.kind == "replay" else name
        return Chosen(provider, named, model, find_model(named))
    from checkrein.llm.endpoints import endpoint_of, open_model

    endpoint = endpoint_of(provider, settings, env, run or _no_helpers)
    name = name or _usual(endpoint, env)
    if not name:
        from checkrein.llm.catalogue import unnamed

        name = unnamed(endpoint, env, listing=bool(wanted))
    opened = open_model(endpoint, name, settings, env)
    return Chosen(provider, name, opened, find_model(name), endpoint)


def split(spec: str, env: Mapping[str, str]) -> tuple[str, str]:
    """Provider and name; the name is empty where the spec is only a provider. A bare name is an alias, an
    OpenAI name (by its prefix) or the name of a Claude model, which a company's cloud may have."""
    provider, colon, name = spec.partition(":")
    if colon and provider in PROVIDERS:
        if not name:
            raise UsageError(f"{spec!r} does not name a model.", hint=f"Write {PROVIDERS[provider].example}.")
        return provider, _resolve_alias(name, env) if provider in _CLAUDE else name
    if not colon and spec in PROVIDERS:
        if PROVIDERS[spec].kind in FILE_KINDS:
            raise UsageError(f"{spec!r} does not name a file.", hint=f"Write {PROVIDERS[spec].example}.")
        return spec, ""
    head, slash, rest = spec.partition("/")
    if slash and head in PROVIDERS and not env.get("ANTHROPIC_BASE_URL"):  # a gateway may have such names
        raise UsageError(f"{spec!r} has a slash after the provider.", hint=f"Write {head}:{rest}.")
    if colon and not spec.startswith("arn:") and "anthropic." not in spec:
        from checkrein.base.nearest import did_you_mean

        raise UsageError(
            f"There is no model provider {provider!r}.{did_you_mean(provider, PROVIDERS)}",
            kind="provider_unknown",
            hint=f"Providers: {', '.join(PROVIDERS)}.",
        )
    name = _resolve_alias(spec, env)
    if name.startswith(("gpt-", "o1", "o3", "o4", "codex-", "chatgpt-")):
        return "openai", name
    return _cloud(env) or ("bedrock" if colon else "anthropic"), name


def _usual(endpoint: Endpoint, env: Mapping[str, str]) -> str:
    """The provider's usual model, if it surely has it; else empty."""
    usual = endpoint.row.default_model
    if usual and (not endpoint.said or endpoint.provider in _CLAUDE):
        return _resolve_alias(usual, env)
    return ""


def _no_helpers(command: str | tuple[str, ...]) -> bytes:
    name = command if isinstance(command, str) else command[0]
    raise AuthError(f"{name} can't be run here.", kind="credentials_missing")


def _cloud(env: Mapping[str, str]) -> str | None:
    return next((name for name, variable in SWITCHES.items() if truthy(env.get(variable))), None)


def _resolve_alias(name: str, env: Mapping[str, str]) -> str:
    """Resolve an alias such as `sonnet` by the environment or our table; keep other names. Drop `[1m]`."""
    plain = name.removesuffix("[1m]")
    variable = ALIAS_VARIABLES.get(plain)
    return (env.get(variable) if variable else None) or ALIASES.get(plain, plain)


def _by_credential(settings: ModelSettings, env: Mapping[str, str]) -> str:
    """The first provider that somebody gave a credential or an address."""
    cloud = _cloud(env)
    if cloud:
        return cloud
    for name, row in PROVIDERS.items():
        if name in SWITCHES:
            continue
        keyed = any(env.get(variable) for variable in row.key_variables) or bool(settings.key_for(name))
        helped = name == "anthropic" and (HELPER in settings.helpers or bool(env.get(OAUTH)))
        addressed = any(env.get(variable) for variable in row.url_variables)
        if (row.default_model and (keyed or helped)) or addressed:
            return name
    if settings.base_url:
        return "anthropic"
    raise _nothing(env)


def _nothing(env: Mapping[str, str]) -> AuthError:
    from checkrein.llm.catalogue import at_home

    here = at_home(env)
    if here:
        hint = f"{here[0].partition(':')[0]} answers on this machine: --model {here[0]}"
        if len(here) > 1:
            hint += f" ({len(here) - 1} more; --model {here[0].partition(':')[0]} lists them)"
        return AuthError("No credential found for a model.", hint=f"{hint}.")
    return AuthError(
        "No credential found for a model.",
        hint="Set ANTHROPIC_API_KEY or OPENAI_API_KEY, or choose a model that needs none: "
        "--model ollama:NAME, --model local:FILE.gguf, --model scripted:FILE.",
    )


def _file(provider: str, path: str, settings: ModelSettings) -> Model:
    if provider == "scripted":
        from checkrein.llm.scripted import ScriptedModel

        return ScriptedModel(path)
    if provider == "local":
        from checkrein.llm.local import LocalModel

        return LocalModel(path)
    from checkrein.llm.replay import ReplayModel

    return ReplayModel(path, settings.words, strict=PROVIDERS[provider].strict)

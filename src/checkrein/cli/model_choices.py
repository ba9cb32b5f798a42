"""The models that a newcomer can use: those of servers on this machine, then those that need a key."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from checkrein.base.errors import CheckreinError, ConfigError

_LOCAL = ("ollama", "llamacpp", "lmstudio")
_HOSTED = ("anthropic", "openai", "openrouter", "gemini", "mistral", "groq", "deepseek")
_SECONDS = 1.0


class Found(Struct, frozen=True, kw_only=True):
    """A model, or (`model` None) any that the person names. `key_variable` is set when a key is missing."""

    provider: str
    model: str | None
    label: str
    detail: str = ""
    key_variable: str | None = None


def found_models(env: Mapping[str, str]) -> list[Found]:
    """Asks the servers on this machine, all at once; nothing else is asked."""
    from concurrent.futures import ThreadPoolExecutor

    from checkrein.facts.models_providers import PROVIDERS

    local = [name for name in _LOCAL if name in PROVIDERS]
    with ThreadPoolExecutor(len(local)) as pool:
        answers = list(pool.map(lambda name: _served(name, env), local))
    found = [
        Found(provider=name, model=f"{name}:{model}", label=f"{name}:{model}", detail="on this machine")
        for name, models in zip(local, answers, strict=True)
        for model in models
    ]
    for name in _HOSTED:
        row = PROVIDERS.get(name)
        if row is None or not row.key_variables:
            continue
        has_key = any(env.get(variable) for variable in row.key_variables)
        found.append(
            Found(
                provider=name,
                model=row.example or None,
                label=row.example or name,
                detail="its key is set" if has_key else "needs a key",
                key_variable=None if has_key else row.key_variables[-1],
            )
        )
    found.append(Found(provider="", model=None, label="another one…", detail="provider:name"))
    return found


def _served(provider: str, env: Mapping[str, str]) -> list[str]:
    from checkrein.llm.catalogue import models_of

    try:
        return list(models_of(provider, env, seconds=_SECONDS))
    except (CheckreinError, OSError):
        return []


def keep_model(name: str) -> None:
    from checkrein.cli.config_set import change, key_named

    change(key_named("model.default"), name, False, ".")


def keep_key(key: str, wanted: Found) -> None:
    """Raises ConfigError for a key that would not go to this provider."""
    from checkrein.cli.config_set import change, key_named
    from checkrein.llm.accounts import ModelSettings

    if not ModelSettings(api_key=key).key_for(wanted.provider):
        raise ConfigError(
            f"This does not look like a key for {wanted.provider}, so it would never be sent there.",
            hint=f"Set {wanted.key_variable} in the environment instead.",
        )
    change(key_named("model.api_key"), key, False, ".")

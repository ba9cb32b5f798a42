"""Which credential a provider's requests carry: the first that is there, in one order for everybody.

For Claude models: the company's cloud where a variable says so, `ANTHROPIC_AUTH_TOKEN`, `ANTHROPIC_API_KEY`,
`apiKeyHelper`, `CLAUDE_CODE_OAUTH_TOKEN`. Checkrein's own `model.api_key` comes before them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct

from checkrein.base.errors import AuthError
from checkrein.facts.models_providers import PROVIDERS, SKIPS
from checkrein.llm.connection import LOOPBACK
from checkrein.llm.credential import (
    Credential,
    FetchedToken,
    Form,
    Key,
    Token,
    api_key,
    bearer,
    key_and_bearer,
)

if TYPE_CHECKING:
    from checkrein.llm.cloud.helper import RunHelper

HELPER = "apiKeyHelper"
OAUTH = "CLAUDE_CODE_OAUTH_TOKEN"
_OAUTH_BETA = "oauth-2025-04-20"
_TTL = "CLAUDE_CODE_API_KEY_HELPER_TTL_MS"
_TTL_SECONDS = 300.0
_TOKENS = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_FOUNDRY_AUTH_TOKEN", "AWS_BEARER_TOKEN_BEDROCK")
"""Variables whose value is a token, not a key."""


_KEY_OWNERS = {"sk-ant-": "anthropic", "sk-or-": "openrouter", "sk-proj-": "openai"}


class ModelSettings(Struct, frozen=True, kw_only=True):
    """`api_key` goes to `base_url`. Without one it goes only to the provider whose keys begin like it, so a
    project's choice of model can't send a user's key elsewhere. `helpers` are the settings that name a
    command for credentials, of those that count. `words` stand for texts of this machine in a recording."""

    default: str | None = None
    base_url: str | None = None
    api_key: str | None = None
    idle_timeout: float = 120.0
    answer_timeout: float = 600.0
    helpers: frozenset[str] = frozenset()
    words: tuple[tuple[str, str], ...] = ()

    def __repr__(self) -> str:
        return (
            f"ModelSettings(default={self.default!r}, base_url={self.base_url!r}, idle={self.idle_timeout})"
        )

    def key_for(self, provider: str) -> str | None:
        """The configured key, if this provider may have it."""
        key = (self.api_key or "").strip()
        if not key or self.base_url:
            return key or None
        owner = next((owner for start, owner in _KEY_OWNERS.items() if key.startswith(start)), None)
        return key if owner is not None and provider.startswith(owner) else None


def truthy(value: str | None) -> bool:
    return (value or "").strip().lower() in ("1", "true", "yes", "on")


def credential_of(
    provider: str, base_url: str, settings: ModelSettings, env: Mapping[str, str], run: RunHelper
) -> Credential:
    """Raises AuthError when the provider needs one and there is none."""
    row = PROVIDERS[provider]
    own = settings.key_for(provider)
    if own:
        return Key("model.api_key", own, api_key if row.kind in ("anthropic", "foundry") else bearer)
    if truthy(env.get(SKIPS.get(provider, ""))):
        return Key(SKIPS[provider], None, bearer)
    variable = next((name for name in row.key_variables if env.get(name)), None)
    if variable:
        form = bearer if variable in _TOKENS else _form(row.kind)
        return Key(variable, env[variable].strip(), form)
    match row.kind:
        case "bedrock":
            from checkrein.llm.cloud.aws import AwsCredential, region_of

            return AwsCredential(env, run, settings.helpers, region=region_of(env))
        case "vertex":
            from checkrein.llm.cloud.google import GoogleCredential

            return GoogleCredential(env, run, settings.helpers)
        case "foundry" | "azure":
            from checkrein.llm.cloud.entra import entra

            return entra(env, run)
        case "anthropic" if HELPER in settings.helpers:
            return FetchedToken(HELPER, lambda: _printed_key(env, run), key_and_bearer)
        case "anthropic" if env.get(OAUTH):
            return Key(OAUTH, env[OAUTH].strip(), _oauth)
    if not row.key_needed or urlsplit(base_url).hostname in LOOPBACK:
        return Key("no credential", None, bearer)
    variables = " or ".join(reversed(row.key_variables))
    raise AuthError(f"No credential found for {provider}.", hint=f"Set {variables} in the environment.")


def _form(kind: str) -> Form:
    return {"anthropic": api_key, "foundry": api_key, "azure": _azure_key}.get(kind, bearer)


def _azure_key(value: str) -> Mapping[str, str]:
    return {"api-key": value}


def _oauth(value: str) -> Mapping[str, str]:
    return {**bearer(value), "anthropic-beta": _OAUTH_BETA}


def _printed_key(env: Mapping[str, str], run: RunHelper) -> Token:
    said = env.get(_TTL, "")
    seconds = int(said) / 1000 if said.isdecimal() else _TTL_SECONDS
    printed = run(HELPER).decode("utf-8", "replace").strip()
    if not (printed.isascii() and printed.isprintable()) or not printed or " " in printed:
        raise AuthError(
            f"{HELPER} printed {'nothing' if not printed else 'more than one key'}.",
            hint="It must print the key and nothing else; run it yourself, and look.",
        )
    return Token(printed, time.monotonic() + seconds)

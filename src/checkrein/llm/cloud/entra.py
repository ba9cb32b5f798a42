"""Tokens of Microsoft Entra for models on Azure: a service principal in the environment, else `az`."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import urlencode

from checkrein.base.errors import AuthError
from checkrein.llm.cloud.helper import RunHelper, printed_object
from checkrein.llm.credential import FetchedToken, Token, bearer, lasting
from checkrein.llm.fetch import fetch
from checkrein.llm.values import loads, part, text

_RESOURCE = "https://cognitiveservices.azure.com"
_AUTHORITY = "https://login.microsoftonline.com"
_PRINTED_LIFE = 300.0
_PRINCIPAL = ("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET")


def entra(env: Mapping[str, str], run: RunHelper) -> FetchedToken:
    principal = all(env.get(name) for name in _PRINCIPAL)
    source = "AZURE_CLIENT_SECRET" if principal else "the Azure CLI (az)"
    return FetchedToken(source, lambda: _granted(env) if principal else _printed(run), bearer)


def _granted(env: Mapping[str, str]) -> Token:
    tenant, client, secret = (env[name] for name in _PRINCIPAL)
    authority = (env.get("AZURE_AUTHORITY_HOST") or _AUTHORITY).rstrip("/")
    asked = {
        "grant_type": "client_credentials",
        "client_id": client,
        "client_secret": secret,
        "scope": f"{_RESOURCE}/.default",
    }
    headers = {"content-type": "application/x-www-form-urlencoded"}
    url = f"{authority}/{tenant}/oauth2/v2.0/token"
    done = fetch(url, env=env, method="POST", headers=headers, body=urlencode(asked).encode())
    said = part(loads(done.body))
    value = text(said.get("access_token"))
    if not value:
        why = text(said.get("error_description")) or text(said.get("error")) or f"status {done.status}"
        raise AuthError(
            f"Microsoft Entra gave no token: {why.partition(chr(10))[0]}",
            kind="credentials_missing",
            hint=f"Check {', '.join(_PRINCIPAL)}.",
        )
    return lasting(value, said.get("expires_in"))


def _printed(run: RunHelper) -> Token:
    hint = "Set ANTHROPIC_FOUNDRY_API_KEY, or sign in with `az login`."
    try:
        command = ("az", "account", "get-access-token", "--resource", _RESOURCE, "--output", "json")
        value = text(printed_object(run, command).get("accessToken"))
    except AuthError as error:
        raise AuthError(
            f"No Azure credentials found: {error.message}", kind="credentials_missing", hint=hint
        ) from None
    if not value:
        raise AuthError("az printed no token.", kind="credentials_missing", hint=hint)
    return lasting(value, _PRINTED_LIFE)

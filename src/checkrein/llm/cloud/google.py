"""Access tokens of Google Cloud, in the order of its own tools: one in the environment, a credentials file,
the metadata server, gcloud."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from checkrein.base import clock
from checkrein.base.errors import AuthError
from checkrein.llm.cloud.helper import RunHelper
from checkrein.llm.credential import FetchedToken, Outgoing, Token, bearer, lasting
from checkrein.llm.failures import ModelRequestError
from checkrein.llm.fetch import fetch
from checkrein.llm.values import loads, part, text

REFRESH = "gcpAuthRefresh"
_TOKENS = ("CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN")
_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_ENDPOINT = "https://oauth2.googleapis.com/token"
_METADATA = "metadata.google.internal"
_METADATA_SECONDS = 1.0
_LIFE = 3600
_PRINTED_LIFE = 1800.0
"""Seconds that a token of gcloud is used; it lives for an hour, but gcloud may have had it for a while."""
_HINT = (
    "Run `gcloud auth application-default login`, or name a service account's file in "
    "GOOGLE_APPLICATION_CREDENTIALS."
)


class GoogleCredential:
    """A bearer token that is fetched when it is needed. `gcpAuthRefresh` signs in again after a refusal."""

    def __init__(self, env: Mapping[str, str], run: RunHelper, helpers: frozenset[str]) -> None:
        self.source = source_of(env)
        self._run, self._refreshes = run, REFRESH in helpers
        self._token = FetchedToken(self.source, lambda: token_of(env, run), bearer)

    def headers(self, request: Outgoing) -> Mapping[str, str]:
        return self._token.headers(request)

    def secrets(self) -> tuple[str, ...]:
        return self._token.secrets()

    def renew(self) -> bool:
        if self._refreshes:
            self._refreshes = False
            self._run(REFRESH)
            self._token.renew()
            return True
        return self._token.renew()


def source_of(env: Mapping[str, str]) -> str:
    """Where the token comes from, in words, without asking for it."""
    variable = next((name for name in _TOKENS if env.get(name)), None)
    if variable:
        return variable
    if env.get("GOOGLE_APPLICATION_CREDENTIALS"):
        return "GOOGLE_APPLICATION_CREDENTIALS"
    if _file(env) is not None:
        return "gcloud's application default credentials"
    return "GCE_METADATA_HOST" if env.get("GCE_METADATA_HOST") else "the metadata server or gcloud"


def token_of(env: Mapping[str, str], run: RunHelper) -> Token:
    variable = next((name for name in _TOKENS if env.get(name)), None)
    if variable:
        return Token(env[variable].strip())
    file = _file(env)
    if file is not None:
        return _from_file(file, env, run)
    return _from_metadata(env) or _from_gcloud(run)


def _file(env: Mapping[str, str]) -> str | None:
    named = env.get("GOOGLE_APPLICATION_CREDENTIALS")
    if named:
        return named
    home = env.get("HOME") or os.path.expanduser("~")
    folder = env.get("CLOUDSDK_CONFIG") or os.path.join(home, ".config", "gcloud")
    usual = os.path.join(folder, "application_default_credentials.json")
    return usual if os.path.isfile(usual) else None


def _from_file(file: str, env: Mapping[str, str], run: RunHelper) -> Token:
    try:
        with open(file, "rb") as handle:
            said = part(loads(handle.read()))
    except OSError as error:
        raise AuthError(
            f"{file} can't be read: {error.strerror}.", kind="credentials_missing", hint=_HINT
        ) from None
    url = text(said.get("token_uri")) or _ENDPOINT
    match said.get("type"):
        case "service_account":
            grant = {
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                "assertion": _assertion(said, url, file),
            }
        case "authorized_user":
            grant = {"grant_type": "refresh_token"}
            grant |= {key: text(said.get(key)) for key in ("client_id", "client_secret", "refresh_token")}
        case _:
            return _from_gcloud(run, "application-default")
    headers = {"content-type": "application/x-www-form-urlencoded"}
    done = fetch(url, env=env, method="POST", headers=headers, body=urlencode(grant).encode())
    return _granted(part(loads(done.body)), done.status, file)


def _assertion(account: Mapping[str, Any], url: str, file: str) -> str:
    import jwt

    begins = int(clock.now())
    claims = {
        "iss": account.get("client_email"),
        "scope": _SCOPE,
        "aud": url,
        "iat": begins,
        "exp": begins + _LIFE,
    }
    key_id = account.get("private_key_id")
    try:
        return jwt.encode(
            claims,
            text(account.get("private_key")),
            algorithm="RS256",
            headers={"kid": key_id} if isinstance(key_id, str) else None,
        )
    except (ValueError, TypeError, jwt.PyJWTError):
        raise AuthError(
            f"{file} has no usable private key.", kind="credentials_missing", hint="Download the key again."
        ) from None


def _granted(said: Mapping[str, Any], status: int, where: str) -> Token:
    value = text(said.get("access_token"))
    if not value:
        why = text(said.get("error_description")) or text(said.get("error")) or f"status {status}"
        raise AuthError(f"Google gave no token for {where}: {why}", kind="credentials_missing", hint=_HINT)
    return lasting(value, said.get("expires_in"))


def _from_metadata(env: Mapping[str, str]) -> Token | None:
    host = env.get("GCE_METADATA_HOST") or _METADATA
    url = f"http://{host}/computeMetadata/v1/instance/service-accounts/default/token"
    try:
        done = fetch(url, env={}, headers={"metadata-flavor": "Google"}, seconds=_METADATA_SECONDS)
    except ModelRequestError:
        return None
    return _granted(part(loads(done.body)), done.status, "this machine") if done.status == 200 else None


def _from_gcloud(run: RunHelper, *more: str) -> Token:
    try:
        printed = run(("gcloud", "auth", *more, "print-access-token"))
    except AuthError as error:
        raise AuthError(
            f"No Google credentials found: {error.message}", kind="credentials_missing", hint=_HINT
        ) from None
    return lasting(printed.decode("ascii", "replace").strip(), _PRINTED_LIFE)

"""Grants that need nobody: client credentials with a secret or a signed assertion, and token exchange."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

import httpx2
import msgspec
from mcp.client.auth.extensions.client_credentials import SignedJWTParameters
from mcp.client.auth.oauth2 import OAuthContext
from mcp.shared.auth import JWT_BEARER_GRANT_TYPE

from checkrein.base.files import read_text
from checkrein.facts.mcp import CLIENT_SECRET, ID_TOKEN
from checkrein.runtime.mcp.oauth.exchange import Exchange
from checkrein.runtime.mcp.oauth.oauth_settings import Idp, OAuthSettings

_FORM = {"Content-Type": "application/x-www-form-urlencoded"}
_ASSERTION = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
_ID_TOKEN_TYPE = "urn:ietf:params:oauth:token-type:id_token"  # noqa: S105  a name
_ID_JAG_TYPE = "urn:ietf:params:oauth:token-type:id-jag"
_JWT = re.compile(r"[\w-]+\.[\w-]+\.[\w-]*")


async def credentials_request(
    context: OAuthContext, settings: OAuthSettings, exchange: Exchange, token_url: str, issuer: str
) -> httpx2.Request:
    """The token request of `oauth.grant` client_credentials."""
    data = {"grant_type": "client_credentials", **_target(context)}
    if settings.private_key_file:
        data["client_assertion"] = await _assertion(settings, exchange, issuer)
        data["client_assertion_type"] = _ASSERTION
    elif context.client_info is None or not context.client_info.client_secret:
        raise exchange.failure(
            f"no client secret is stored. Run `checkrein mcp login` with {CLIENT_SECRET} set",
            kind="needs_auth",
        )
    data, headers = context.prepare_token_auth(data, dict(_FORM))
    return httpx2.Request("POST", token_url, data=data, headers=headers)


async def identity_request(
    context: OAuthContext, exchange: Exchange, idp: Idp, token_url: str, issuer: str, id_token: str
) -> httpx2.Request:
    """The token request of `oauth.grant` token_exchange: the ID token becomes a grant at the identity
    provider, and the grant an access token here."""
    asked = {
        "grant_type": _EXCHANGE,
        "requested_token_type": _ID_JAG_TYPE,
        "subject_token": id_token,
        "subject_token_type": _ID_TOKEN_TYPE,
        "audience": issuer,
        "resource": context.get_resource_url(),
    }
    if idp.client_id:
        asked["client_id"] = idp.client_id
    if context.client_metadata.scope:
        asked["scope"] = context.client_metadata.scope
    response = await exchange.send(httpx2.Request("POST", idp.token_endpoint, data=asked, headers=_FORM))
    if response.status_code != 200:
        raise exchange.refusal(response, "the ID token")
    try:
        given = msgspec.json.decode(response.content, type=dict[str, object])
    except (msgspec.MsgspecError, UnicodeDecodeError):
        given = {}
    grant = given.get("access_token")
    if not isinstance(grant, str) or given.get("issued_token_type") != _ID_JAG_TYPE:
        raise exchange.failure("the identity provider gave no grant for it")
    data = {"grant_type": JWT_BEARER_GRANT_TYPE, "assertion": grant, **_target(context)}
    data, headers = context.prepare_token_auth(data, dict(_FORM))
    return httpx2.Request("POST", token_url, data=data, headers=headers)


def id_token_of(idp: Idp, exchange: Exchange, env: Mapping[str, str]) -> str:
    """The user's ID token, from the file or the variable. A text that is no token goes nowhere."""
    text = env.get(ID_TOKEN, "")
    where = ID_TOKEN
    if idp.id_token_file:
        where = f"`oauth.idp.idTokenFile` {idp.id_token_file}"
        file = read_text(os.path.expanduser(idp.id_token_file))
        if not file.readable:
            raise exchange.failure(f"{where} {file.problem}", kind="needs_auth")
        text = file.text
    text = text.strip()
    if not _JWT.fullmatch(text):
        raise exchange.failure(
            f"{where} holds no ID token. Get one from your identity provider", kind="needs_auth"
        )
    return text


def _target(context: OAuthContext) -> dict[str, str]:
    target = {}
    if context.should_include_resource_param(context.protocol_version):
        target["resource"] = context.get_resource_url()
    if context.client_metadata.scope:
        target["scope"] = context.client_metadata.scope
    return target


async def _assertion(settings: OAuthSettings, exchange: Exchange, issuer: str) -> str:
    where = f"`oauth.privateKeyFile` {settings.private_key_file}"
    key = read_text(os.path.expanduser(settings.private_key_file or ""))
    if not key.readable:
        raise exchange.failure(f"{where} {key.problem}")
    client = settings.client_id or ""
    parameters = SignedJWTParameters(
        issuer=client, subject=client, signing_key=key.text, signing_algorithm=settings.signing_algorithm
    )
    try:
        return await parameters.create_assertion_provider()(issuer)
    except Exception:  # the libraries below raise many kinds, some with the key in their text
        raise exchange.failure(
            f"{where} holds no key for {settings.signing_algorithm}; `oauth.signingAlgorithm` names another"
        ) from None

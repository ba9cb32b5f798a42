"""Who we are to an authorization server: a configured client, a metadata document, or a registration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from mcp.client.auth.oauth2 import OAuthContext, check_registration_usable
from mcp.client.auth.utils import (
    create_client_info_from_metadata_url,
    create_client_registration_request,
    credentials_match_issuer,
    handle_registration_response,
    issuers_match,
    should_use_client_metadata_url,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthMetadata, TokenEndpointAuthMethod

from checkrein.runtime.mcp.oauth.exchange import Exchange
from checkrein.runtime.mcp.oauth.oauth_settings import OAuthSettings
from checkrein.runtime.mcp.oauth.token_store import Record

_METHODS: Sequence[TokenEndpointAuthMethod] = ("none", "client_secret_basic", "client_secret_post")


def configured_client(
    settings: OAuthSettings, secret: str | None, metadata: OAuthMetadata | None
) -> OAuthClientInformationFull | None:
    """The client of `oauth.clientId`."""
    if settings.client_id is None:
        return None
    return OAuthClientInformationFull(
        client_id=settings.client_id,
        client_secret=secret,
        token_endpoint_auth_method=_method(settings, secret, metadata),
    )


def _method(settings: OAuthSettings, secret: str | None, metadata: OAuthMetadata | None) -> str:
    if settings.grant == "client_credentials" and settings.private_key_file:
        return "private_key_jwt"
    if secret is None:
        return "none"
    supported = (metadata and metadata.token_endpoint_auth_methods_supported) or ["client_secret_basic"]
    secret_methods = [one for one in _METHODS[1:] if one in supported]
    return secret_methods[0] if secret_methods else "client_secret_basic"


def check_binding(record: Record, exchange: Exchange, named: str, issuer: str) -> None:
    """The configured client goes to the issuer that first got it, and to nobody else. `named` are the words
    that name the server on the command line."""
    if record.issuer is not None and not issuers_match(record.issuer, issuer):
        raise exchange.failure(
            f"its authorization server changed from {record.issuer} to {issuer}, so your client was not "
            f"shown to it. If the change is right, run `checkrein mcp logout {named}`, then "
            f"`checkrein mcp login {named}`",
            kind="needs_auth",
        )


def reusable(context: OAuthContext, issuer: str, redirect: str | None) -> OAuthClientInformationFull | None:
    """The stored registration, if it is for this issuer and this address of the callback."""
    client = context.client_info
    if client is None or not credentials_match_issuer(client, issuer, context.client_metadata_url):
        return None
    known = [str(one) for one in client.redirect_uris or ()]
    return client if redirect is None or not known or redirect in known else None


async def registered(context: OAuthContext, exchange: Exchange, issuer: str) -> OAuthClientInformationFull:
    """A client ID metadata document where the server takes it, else a dynamic registration."""
    metadata, own = context.oauth_metadata, context.client_metadata
    if should_use_client_metadata_url(metadata, context.client_metadata_url):
        client = create_client_info_from_metadata_url(
            cast(str, context.client_metadata_url), redirect_uris=own.redirect_uris
        )
    else:
        if metadata is not None and metadata.registration_endpoint is None:
            raise exchange.failure(
                "its authorization server registers no clients. Register one there, then give its ID with "
                "`checkrein mcp add --client-id` (`oauth.clientId`)",
                kind="needs_auth",
            )
        supported = (metadata and metadata.token_endpoint_auth_methods_supported) or []
        own.token_endpoint_auth_method = next((one for one in _METHODS if one in supported), None)
        base = context.get_authorization_base_url(context.server_url)
        response = await exchange.send(create_client_registration_request(metadata, own, base))
        if response.status_code not in (200, 201):
            raise exchange.refusal(response, "to register this client")
        client = await handle_registration_response(response)
        if client.token_endpoint_auth_method is None and client.client_secret:
            asked = own.token_endpoint_auth_method
            client.token_endpoint_auth_method = asked if asked in _METHODS[1:] else "client_secret_basic"
        check_registration_usable(client)
    client.issuer = issuer
    return client

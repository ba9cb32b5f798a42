"""Where to sign in: the metadata of the protected resource, then of its authorization server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_oauth_metadata_request,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    issuers_match,
    validate_metadata_issuer,
)
from mcp.shared.auth import OAuthMetadata, ProtectedResourceMetadata

from checkrein.runtime.mcp.oauth.exchange import Exchange

Check = Callable[[ProtectedResourceMetadata], Awaitable[None]]


async def find_resource(
    context: OAuthContext, exchange: Exchange, hint: str | None, check: Check
) -> ProtectedResourceMetadata | None:
    """The resource metadata. `hint` is the address that the server names; `check` raises when the metadata
    is for another resource."""
    broken: int | None = None
    for url in build_protected_resource_metadata_discovery_urls(hint, context.server_url):
        response = await exchange.send(create_oauth_metadata_request(url))
        found = await handle_protected_resource_response(response)
        if found is not None:
            await check(found)
            return found
        if response.status_code >= 500 or response.status_code == 429:
            broken = response.status_code
    if broken is not None:
        # It may have metadata: the way of servers that have none would be a guess.
        raise exchange.failure(f"its resource metadata can't be read (status {broken})", kind="failed")
    return None


async def find_server(
    context: OAuthContext, exchange: Exchange, configured: str | None, expected_issuer: str
) -> OAuthMetadata | None:
    """The metadata of the authorization server. None for a server of the first protocol version that
    publishes nothing. `configured` is `oauth.authServerMetadataUrl`."""
    urls = (
        [configured]
        if configured
        else build_oauth_authorization_server_metadata_discovery_urls(
            context.auth_server_url, context.server_url
        )
    )
    for url in urls:
        ok, found = await handle_auth_metadata_response(
            await exchange.send(create_oauth_metadata_request(url))
        )
        if found is not None:
            if configured is None:
                _check_issuer(context, found, expected_issuer)
            _check_endpoints(exchange, found)
            return found
        if not ok:
            break
    if configured or context.auth_server_url:
        where = "`oauth.authServerMetadataUrl`" if configured else context.auth_server_url
        raise exchange.failure(f"no authorization server metadata at {where}")
    return None


def _check_issuer(context: OAuthContext, found: OAuthMetadata, expected: str) -> None:
    """The metadata is for the issuer that was asked. Where the server itself publishes it, as in the first
    protocol version, an issuer at any path of the same origin is the same party."""
    issuer = str(found.issuer)
    if context.auth_server_url is None and issuers_match(
        context.get_authorization_base_url(issuer), expected
    ):
        return
    validate_metadata_issuer(found, expected)


def _check_endpoints(exchange: Exchange, found: OAuthMetadata) -> None:
    endpoints = (found.authorization_endpoint, found.token_endpoint, found.registration_endpoint)
    for endpoint in endpoints:
        if endpoint is not None and (why := exchange.refused(str(endpoint))) is not None:
            raise exchange.failure(f"its authorization server names {endpoint}, which {why}")
    methods = found.code_challenge_methods_supported
    if methods is not None and "S256" not in methods:
        raise exchange.failure("its authorization server does not support PKCE with S256")

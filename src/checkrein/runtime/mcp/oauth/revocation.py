"""Tells an authorization server that tokens are no longer wanted."""

from __future__ import annotations

import asyncio
from urllib.parse import quote

import httpx2

from checkrein.base.harmless import one_line
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.exchange import ClientFactory, Exchange, new_client
from checkrein.runtime.mcp.oauth.oauth_settings import RemoteEntry, settings_of
from checkrein.runtime.mcp.oauth.token_store import Record

_SECONDS = 10.0
_KINDS = ("refresh_token", "access_token")


async def revoke(entry: RemoteEntry, record: Record, client: ClientFactory = new_client) -> bool:
    """Whether every token is revoked. The tokens here are gone already, so a failure is only an answer."""
    tokens = [(kind, (record.tokens or {}).get(kind)) for kind in _KINDS]
    try:
        known = settings_of(entry).addresses
        exchange = Exchange(one_line(entry.name), entry.url or "", lambda text: text, client, known)
        async with asyncio.timeout(_SECONDS):
            answers = [
                await exchange.send(_request(record, entry.oauth.get("clientId"), kind, token))
                for kind, token in tokens
                if token
            ]
    except (ServerFailure, TimeoutError):
        return False
    return all(answer.status_code == 200 for answer in answers)


def _request(record: Record, configured: str | None, kind: str, token: str) -> httpx2.Request:
    client = record.client or {"client_id": configured, "client_secret": record.secret}
    data = {"token": token, "token_type_hint": kind}
    if client.get("client_id"):
        data["client_id"] = client["client_id"]
    auth = None
    secret = client.get("client_secret")
    if secret and client.get("token_endpoint_auth_method") == "client_secret_post":
        data["client_secret"] = secret
    elif secret:
        auth = httpx2.BasicAuth(quote(client["client_id"], safe=""), quote(secret, safe=""))
    request = httpx2.Request("POST", (record.metadata or {})["revocation_endpoint"], data=data)
    return next(auth.sync_auth_flow(request)) if auth else request

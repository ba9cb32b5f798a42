"""The sign-in to one remote server, as the HTTP client of its connection asks for it.

A stored token goes with each request. When the server refuses it, the token is renewed, and where that is not
possible a person is asked, if there is one. Everything runs on the asyncio thread of the servers.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from urllib.parse import urlsplit

import httpx2
from mcp.client.auth import OAuthClientProvider, OAuthFlowError, OAuthRegistrationError, OAuthTokenError
from mcp.client.auth.utils import union_scopes
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata, OAuthToken
from msgspec import Struct
from msgspec.structs import replace
from pydantic import AnyUrl, ValidationError

from checkrein.base.harmless import one_line
from checkrein.base.secrets import REDACTED
from checkrein.facts.mcp import CLIENT_SECRET, LOGIN_HINT
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.callback import Callback
from checkrein.runtime.mcp.oauth.challenge import Challenge, challenge_in, covers
from checkrein.runtime.mcp.oauth.clients import check_binding, configured_client, registered, reusable
from checkrein.runtime.mcp.oauth.consent import Person, consent
from checkrein.runtime.mcp.oauth.discovery import find_resource, find_server
from checkrein.runtime.mcp.oauth.exchange import ClientFactory, Exchange, new_client
from checkrein.runtime.mcp.oauth.grants import credentials_request, id_token_of, identity_request
from checkrein.runtime.mcp.oauth.oauth_settings import RemoteEntry, is_foreign, settings_of
from checkrein.runtime.mcp.oauth.record_keeper import Keeper
from checkrein.runtime.mcp.oauth.token_store import Drawer, Record

_TURNS = 300
_BETWEEN_TURNS = 0.1
_SHORTEST_SECRET = 6
_LONGEST = 500


class Means(Struct, frozen=True, kw_only=True):
    """What a sign-in may use. Without `person` nobody can be asked."""

    env: Mapping[str, str]
    person: Person | None = None
    client: ClientFactory = new_client


class Provider(OAuthClientProvider):
    """A request that the server refuses, and that nothing here can help, raises `ServerFailure` (needs_auth).
    `signed_in` is True once a token was got here; `failure` is the last one that a request got."""

    def __init__(self, entry: RemoteEntry, drawer: Drawer, means: Means) -> None:
        self.settings = settings_of(entry)
        self._keeper = Keeper(drawer)
        super().__init__(
            server_url=entry.url or "",
            client_metadata=OAuthClientMetadata(
                client_name="Checkrein", redirect_uris=[AnyUrl("http://localhost/callback")]
            ),
            storage=self._keeper,
            client_metadata_url=self.settings.client_metadata_url,
        )
        self.signed_in = False
        self.failure: ServerFailure | None = None
        self._entry = entry
        self._name, self._named = one_line(entry.name), entry.named
        self._drawer = drawer
        self._means = means
        self._exchange = Exchange(
            self._name, self.context.server_url, self._hidden, means.client, self.settings.addresses
        )
        self._gate = asyncio.Lock()

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        self.context.protocol_version = request.headers.get("mcp-protocol-version")
        try:
            used = await self._ready()
            self._show(request)
            response = yield request
            challenge = challenge_in(response)
            if challenge is None:
                return
            await self._meet(challenge, used)
            self._show(request)
            again = challenge_in((yield request))
            if again is not None:
                self._check_scopes(again)
                raise self._refusal(again, "the server refuses the token that it just asked for")
        except ServerFailure as failure:
            self.failure = failure
            raise

    async def sign_in(self) -> bool:
        """Sign in although no request was refused. False when the server offers no sign-in."""
        async with self._gate, self._translated():
            await self._load()
            await self._discover(Challenge())
            if self.context.protected_resource_metadata is None and self.context.oauth_metadata is None:
                return False
            await self._authorize(Challenge())
            return True

    async def _ready(self) -> str | None:
        """The token to use, renewed when its time is over."""
        async with self._gate, self._translated():
            await self._load()
            token = self._token()
            if token is not None and not self.context.is_token_valid() and not await self._renewed(token):
                self.context.clear_tokens()
            return self._token()

    async def _meet(self, challenge: Challenge, used: str | None) -> None:
        """Get what the server asks for."""
        async with self._gate, self._translated():
            await self._load()
            if self._token() not in (None, used):
                return  # another request, or another process, was faster
            if not challenge.step_up and used is not None and await self._renewed(used):
                return
            self._check_scopes(challenge)
            if self.settings.needs_person and self._means.person is None:
                over = "the sign-in has too few scopes" if challenge.step_up else "the sign-in is over"
                raise self._refusal(challenge, "it needs a sign-in" if used is None else over)
            if not challenge.step_up or self.context.oauth_metadata is None:
                await self._discover(challenge)
            await self._authorize(challenge)

    def _check_scopes(self, challenge: Challenge) -> None:
        """Raises when another token would be refused too."""
        granted = self.context.current_tokens.scope if self.context.current_tokens else None
        if not challenge.step_up:
            return
        if self.settings.scopes and not covers(self.settings.scopes, challenge.scope):
            raise self._refusal(challenge, "`oauth.scopes` leaves out a scope that this needs")
        if challenge.scope and covers(granted, challenge.scope):
            raise self._refusal(challenge, "the server refuses although the scopes are granted")

    def _refusal(self, challenge: Challenge, why: str) -> ServerFailure:
        """The failure. What is missing is noted for the next login."""
        scopes = f" (scopes: {one_line(challenge.scope)})" if challenge.step_up and challenge.scope else ""
        if challenge.scope and self.settings.needs_person and self.settings.scopes is None:
            wanted = union_scopes(self._keeper.record.wanted, challenge.scope)
            if wanted != self._keeper.record.wanted:
                self._keeper.record = self._drawer.change(lambda record: replace(record, wanted=wanted))
        text = f"MCP server {self._name}: {why}{scopes}. {LOGIN_HINT.format(words=self._named)}"
        return ServerFailure(text, kind="needs_auth")

    async def _load(self) -> None:
        """Take over what is stored: this process may not be the only one."""
        self._keeper.look()
        context, record = self.context, self._keeper.record
        metadata, resource = self._keeper.documents()
        if metadata is not None:
            context.oauth_metadata = metadata
        if resource is not None:
            context.protected_resource_metadata = resource
        context.client_info = (
            configured_client(self.settings, self._secret(record), context.oauth_metadata)
            or await self._keeper.get_client_info()
        )
        context.current_tokens = await self._keeper.get_tokens()
        context.token_expiry_time = record.expires_at
        if self._means.person is not None and record.wanted and not self.signed_in:
            context.clear_tokens()  # the user signs in again to grant these

    async def _renewed(self, used: str) -> bool:
        """Renew the token with its refresh token; only one process does."""
        if not self.settings.needs_person or not self.context.can_refresh_token():
            return False
        async with self._turn():
            await self._load()
            if self._token() not in (None, used):
                return True
            if not self.context.can_refresh_token():
                return False
            response = await self._exchange.send(await self._refresh_token())
            if response.status_code in (400, 401):
                self._drawer.change(lambda record: replace(record, tokens=None, expires_at=None))
                self.context.clear_tokens()
                return False
            await self._take(response, "to renew the token")
            return True

    async def _discover(self, challenge: Challenge) -> None:
        context, settings = self.context, self.settings
        resource = await find_resource(
            context, self._exchange, challenge.metadata_url, self._validate_resource_match
        )
        context.protected_resource_metadata = resource
        context.auth_server_url = str(resource.authorization_servers[0]) if resource else None
        context.oauth_metadata = await find_server(
            context, self._exchange, settings.metadata_url, self._expected_issuer()
        )

    async def _authorize(self, challenge: Challenge) -> None:
        """Get a token: discovery is done."""
        context, settings = self.context, self.settings
        context.client_metadata.scope = self._scope(challenge)
        issuer = str(context.oauth_metadata.issuer) if context.oauth_metadata else self._expected_issuer()
        secret = self._secret(self._keeper.record)
        if settings.client_id is not None:
            check_binding(self._keeper.record, self._exchange, self._named, issuer)
            context.client_info = configured_client(settings, secret, context.oauth_metadata)
        token_url = self._get_token_endpoint()
        if settings.grant == "client_credentials":
            request = await credentials_request(context, settings, self._exchange, token_url, issuer)
        elif settings.idp is not None and settings.grant == "token_exchange":
            env = {} if is_foreign(self._entry) else self._means.env
            id_token = id_token_of(settings.idp, self._exchange, env)
            request = await identity_request(
                context, self._exchange, settings.idp, token_url, issuer, id_token
            )
        else:
            request = await self._consented(issuer)
        await self._take(await self._exchange.send(request), "to give a token")
        self._keeper.bind(context, issuer, configured=settings.client_id is not None)
        self.signed_in = True

    async def _consented(self, issuer: str) -> httpx2.Request:
        """The token request that follows a person's consent."""
        context, person = self.context, self._means.person
        if person is None:
            raise self._exchange.failure("it needs a sign-in", kind="needs_auth")
        wish = self.settings.callback_port or _port_of(self._keeper.record)
        with Callback(wish, fixed=self.settings.callback_port is not None) as callback:
            context.client_metadata.redirect_uris = [AnyUrl(callback.address)]
            if self.settings.client_id is None:
                context.client_info = reusable(context, issuer, callback.address)
                if context.client_info is None:
                    context.client_info = await registered(context, self._exchange, issuer)
                    await self._keeper.set_client_info(context.client_info)
            given: list[AuthorizationCodeResult] = []

            async def ask(url: str) -> None:
                answer = await consent(person, self._name, url, callback)
                given.append(AuthorizationCodeResult(code=answer.code, state=answer.state, iss=answer.issuer))

            async def answer() -> AuthorizationCodeResult:
                return given.pop()

            context.redirect_handler, context.callback_handler = ask, answer
            return await self._perform_authorization()

    async def _take(self, response: httpx2.Response, what: str) -> None:
        if response.status_code not in (200, 201):
            temporary = response.status_code >= 500 or response.status_code == 429
            raise self._exchange.refusal(response, what, kind="failed" if temporary else "needs_auth")
        tokens = OAuthToken.model_validate_json(response.content)
        prior = self.context.current_tokens
        renewed = what == "to renew the token" and prior is not None
        if tokens.scope is None:
            tokens.scope = prior.scope if renewed and prior else self.context.client_metadata.scope
        if tokens.refresh_token is None and renewed and prior:
            tokens.refresh_token = prior.refresh_token
        self.context.current_tokens = tokens
        self.context.token_expiry_time = (
            None if tokens.expires_in is None else time.time() + tokens.expires_in
        )
        await self._keeper.set_tokens(tokens)

    def _scope(self, challenge: Challenge) -> str | None:
        """The scopes to ask for: configured ones, else those of the configured metadata, else what the server
        names in its refusal or its resource metadata. A step-up keeps what is granted."""
        metadata, resource = self.context.oauth_metadata, self.context.protected_resource_metadata
        offered = (metadata.scopes_supported if metadata else None) or []
        scope = self.settings.scopes
        if scope is None:
            if self.settings.metadata_url and offered:
                scope = " ".join(offered)
            elif challenge.scope is not None:
                scope = challenge.scope
            elif resource is not None and resource.scopes_supported is not None:
                scope = " ".join(resource.scopes_supported)
            granted = self.context.current_tokens.scope if self.context.current_tokens else None
            scope = union_scopes(granted if challenge.step_up else None, scope)
            scope = union_scopes(scope, self._keeper.record.wanted)
        if scope and self.settings.needs_person and "offline_access" in offered:
            scope = union_scopes(scope, "offline_access")
        return scope or None

    def _secret(self, record: Record) -> str | None:
        given = None if is_foreign(self._entry) else self._means.env.get(CLIENT_SECRET)
        return record.secret or given or None

    def _token(self) -> str | None:
        return self.context.current_tokens.access_token if self.context.current_tokens else None

    def _show(self, request: httpx2.Request) -> None:
        token = self._token()
        if token is not None:
            request.headers["Authorization"] = f"Bearer {token}"

    def _hidden(self, text: str) -> str:
        """The text without any secret of this sign-in."""
        known = {*self._keeper.record.secrets, self._secret(self._keeper.record) or "", self._token() or ""}
        for secret in sorted(known, key=len, reverse=True):
            if len(secret) >= _SHORTEST_SECRET:
                text = text.replace(secret, REDACTED)
        return text

    @contextlib.asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        for _ in range(_TURNS):
            with self._drawer.turn() as taken:
                if taken:
                    yield
                    return
            await asyncio.sleep(_BETWEEN_TURNS)
        yield

    @contextlib.asynccontextmanager
    async def _translated(self) -> AsyncIterator[None]:
        """Failures of the library as ours. The text of a failed validation holds what was read: it is
        dropped."""
        try:
            yield
        except (OAuthFlowError, OAuthTokenError, OAuthRegistrationError) as error:
            raise self._exchange.failure(one_line(str(error))[:_LONGEST], kind="needs_auth") from None
        except ValidationError:
            raise self._exchange.failure(
                "its authorization server gave an answer that is not valid"
            ) from None


def _port_of(record: Record) -> int | None:
    """The port of the callback that the stored client was registered with."""
    for address in (record.client or {}).get("redirect_uris") or ():
        with contextlib.suppress(ValueError):
            return urlsplit(str(address)).port
    return None

"""The sign-in to a server as its HTTP client sees it: with nobody to ask, and with somebody."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx2
import pytest
from msgspec.structs import replace

from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.callback import Callback
from checkrein.runtime.mcp.oauth.providers import Means, Provider
from checkrein.runtime.mcp.oauth.token_store import FOLDER, Drawer
from support.auth_server import AuthServer
from support.sign_ins import Remote, person, provider, status, visit

WELL_KNOWN = "/.well-known/"
AS, OIDC, PRM = (
    f"{WELL_KNOWN}{name}"
    for name in ("oauth-authorization-server", "openid-configuration", "oauth-protected-resource")
)


def entry(hub: AuthServer, **change: Any) -> Remote:
    return Remote(url=hub.url, **change)


def signed_in(hub: AuthServer, home: Path, **change: Any) -> Drawer:
    one = entry(hub, **change)
    assert status(provider(one, home, person())) == 200
    return Drawer(home, one.name, hub.url)


def expire(drawer: Drawer) -> None:
    drawer.change(lambda record: replace(record, expires_at=time.time() - 1))


def test_nobody_is_asked_without_a_person(hub: AuthServer, tmp_path: Path) -> None:
    with pytest.raises(ServerFailure, match=r"it needs a sign-in\. Run `checkrein mcp login hub`") as caught:
        status(provider(entry(hub), tmp_path))
    assert caught.value.kind == "needs_auth"
    assert {seen.path for seen in hub.log} == {"/mcp"}, "nothing is discovered or registered"


@pytest.mark.parametrize(
    ("prm", "metadata", "issuer"),
    [
        (f"{PRM}/mcp", AS, ""),
        (PRM, OIDC, ""),
        (PRM, f"{AS}/tenant", "/tenant"),
        (f"{PRM}/mcp", f"{OIDC}/tenant", "/tenant"),
        (f"{PRM}/mcp", f"/tenant{OIDC}", "/tenant"),
        ("/nowhere", AS, ""),
        ("/nowhere", AS, "/oauth"),
        ("/nowhere", "/nowhere", ""),
    ],
)
def test_the_authorization_server_is_found(
    hub: AuthServer, tmp_path: Path, prm: str, metadata: str, issuer: str
) -> None:
    hub.prm, hub.metadata, hub.issuer_path = (prm,), (metadata,), issuer
    signed_in(hub, tmp_path)
    assert (hub.count("/register"), hub.count("/authorize"), hub.count("/token")) == (1, 1, 1)
    assert status(provider(entry(hub), tmp_path)) == 200, "the next session uses the stored token"
    assert hub.count("/token") == 1


def test_a_resource_without_metadata_of_its_server_is_not_guessed(hub: AuthServer, tmp_path: Path) -> None:
    hub.metadata = ()
    with pytest.raises(ServerFailure, match="no authorization server metadata at"):
        status(provider(entry(hub), tmp_path, person()))
    assert hub.count("/register") == 0


def test_an_expired_token_is_renewed_in_another_process(hub: AuthServer, tmp_path: Path) -> None:
    expire(signed_in(hub, tmp_path))
    assert status(provider(entry(hub), tmp_path)) == 200
    first, second = hub.forms("/token")
    assert second["grant_type"] == "refresh_token"
    assert second["client_id"] == first["client_id"]
    assert second["resource"] == hub.url


def test_a_refused_token_is_renewed_once(hub: AuthServer, tmp_path: Path) -> None:
    signed_in(hub, tmp_path)
    hub.tokens.clear()
    assert status(provider(entry(hub), tmp_path)) == 200
    assert [form["grant_type"] for form in hub.forms("/token")] == ["authorization_code", "refresh_token"]


def test_requests_at_once_renew_once(hub: AuthServer, tmp_path: Path) -> None:
    signed_in(hub, tmp_path)
    hub.tokens.clear()
    assert status(provider(entry(hub), tmp_path), times=8) == 200
    assert hub.count("/token") == 2


def test_a_refresh_that_is_refused_ends_the_sign_in(hub: AuthServer, tmp_path: Path) -> None:
    drawer = signed_in(hub, tmp_path)
    hub.tokens.clear()
    hub.refresh.clear()
    with pytest.raises(ServerFailure, match=r"the sign-in is over\. Run `checkrein mcp login hub`"):
        status(provider(entry(hub), tmp_path))
    assert drawer.read().tokens is None
    assert drawer.read().client is not None, "the registration stays"


def test_a_refresh_that_fails_for_now_keeps_the_token_and_shows_no_secret(
    hub: AuthServer, tmp_path: Path
) -> None:
    drawer = signed_in(hub, tmp_path)
    expire(drawer)
    hub.token_status = 503
    with pytest.raises(ServerFailure, match="503") as caught:
        status(provider(entry(hub), tmp_path))
    assert caught.value.kind == "failed"
    record = drawer.read()
    assert record.tokens is not None
    assert "refused ‹redacted›" in caught.value.message
    assert not any(secret in caught.value.message for secret in record.secrets)


def test_missing_scopes_are_noted_and_asked_for_at_the_next_login(hub: AuthServer, tmp_path: Path) -> None:
    hub.challenge_scope = hub.scope = "read"
    drawer = signed_in(hub, tmp_path)
    hub.scope = "write"
    with pytest.raises(
        ServerFailure, match=r"too few scopes \(scopes: write\)\. Run `checkrein mcp login hub`"
    ):
        status(provider(entry(hub), tmp_path))
    assert drawer.read().wanted == "write"
    assert status(provider(entry(hub), tmp_path, person())) == 200
    assert hub.forms("/authorize")[1]["scope"] == "read write"
    assert drawer.read().wanted is None


def test_a_person_widens_the_scopes_at_once(hub: AuthServer, tmp_path: Path) -> None:
    hub.challenge_scope = hub.scope = "read"
    signed_in(hub, tmp_path)
    hub.scope = "write"
    assert status(provider(entry(hub), tmp_path, person())) == 200
    assert hub.forms("/authorize")[1]["scope"] == "read write"
    assert hub.count("/register") == 1


def test_configured_scopes_are_never_widened(hub: AuthServer, tmp_path: Path) -> None:
    hub.scope = "more"
    one = entry(hub, oauth={"scopes": "read"})
    for _ in range(2):
        with pytest.raises(ServerFailure, match=r"`oauth\.scopes` leaves out a scope"):
            status(provider(one, tmp_path, person()))
        assert hub.count("/authorize") == 1


def test_a_server_that_never_has_enough_asks_once_for_each_request(hub: AuthServer, tmp_path: Path) -> None:
    hub.scope, hub.granted = "never", "less"
    for asked in (1, 2):
        with pytest.raises(ServerFailure, match="refuses the token that it just asked for"):
            status(provider(entry(hub), tmp_path, person()))
        assert hub.count("/authorize") == asked


def test_configured_scopes_win_and_offline_access_is_added(hub: AuthServer, tmp_path: Path) -> None:
    hub.challenge_scope = "read"
    hub.extra = {"scopes_supported": ["x", "offline_access"]}
    signed_in(hub, tmp_path, oauth={"scopes": "mine"})
    assert hub.forms("/authorize")[0]["scope"] == "mine offline_access"


def test_without_any_hint_no_scope_is_asked_for(hub: AuthServer, tmp_path: Path) -> None:
    hub.extra = {"scopes_supported": ["x", "offline_access"]}
    signed_in(hub, tmp_path)
    assert "scope" not in hub.forms("/authorize")[0]


def test_a_callback_of_another_issuer_is_refused(hub: AuthServer, tmp_path: Path) -> None:
    hub.callback_extra = {"iss": "https://evil.example"}
    with pytest.raises(ServerFailure, match="iss mismatch"):
        status(provider(entry(hub), tmp_path, person()))
    hub.callback_extra = {}
    hub.extra = {"authorization_response_iss_parameter_supported": True}
    with pytest.raises(ServerFailure, match="missing iss"):
        status(provider(entry(hub), tmp_path, person()))
    assert hub.count("/token") == 0


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "registration_endpoint"])
def test_an_endpoint_without_https_gets_nothing(hub: AuthServer, tmp_path: Path, name: str) -> None:
    hub.extra = {name: "http://as.example/x"}
    with pytest.raises(ServerFailure, match="which is not reached over https"):
        status(provider(entry(hub), tmp_path, person()))
    assert hub.count("/authorize") == 0


def test_metadata_of_another_issuer_is_refused(hub: AuthServer, tmp_path: Path) -> None:
    hub.extra = {"issuer": "https://evil.example"}
    with pytest.raises(ServerFailure, match="issuer mismatch"):
        status(provider(entry(hub), tmp_path, person()))


def test_a_server_without_pkce_is_refused(hub: AuthServer, tmp_path: Path) -> None:
    hub.extra = {"code_challenge_methods_supported": ["plain"]}
    with pytest.raises(ServerFailure, match="PKCE"):
        status(provider(entry(hub), tmp_path, person()))


def test_the_port_of_the_registration_is_used_again(hub: AuthServer, tmp_path: Path) -> None:
    drawer = signed_in(hub, tmp_path)
    drawer.change(lambda record: replace(record, tokens=None))
    assert status(provider(entry(hub), tmp_path, person())) == 200
    first, second = hub.forms("/authorize")
    assert first["redirect_uri"] == second["redirect_uri"]
    assert hub.count("/register") == 1


def test_a_client_of_another_address_of_the_callback_is_registered_again(
    hub: AuthServer, tmp_path: Path
) -> None:
    drawer = signed_in(hub, tmp_path)
    drawer.change(lambda record: replace(record, tokens=None))
    address = (drawer.read().client or {})["redirect_uris"][0]
    with Callback(urlsplit(address).port):
        assert status(provider(entry(hub), tmp_path, person())) == 200
    assert hub.count("/register") == 2


def test_a_server_that_registers_nobody_says_what_to_do(hub: AuthServer, tmp_path: Path) -> None:
    hub.extra = {"registration_endpoint": None}
    with pytest.raises(ServerFailure, match="mcp add --client-id"):
        status(provider(entry(hub), tmp_path, person()))


def test_a_broken_token_answer_is_not_shown(hub: AuthServer, tmp_path: Path) -> None:
    hub.lifetime = "access-value-secret"  # type: ignore[assignment]
    with pytest.raises(ServerFailure, match="not valid") as caught:
        status(provider(entry(hub), tmp_path, person()))
    assert "access-value" not in caught.value.message
    assert caught.value.__cause__ is None


def test_tokens_stay_in_their_file(hub: AuthServer, tmp_path: Path, capfd: Any, caplog: Any) -> None:
    caplog.set_level(0)
    drawer = signed_in(hub, tmp_path)
    secrets = drawer.read().secrets
    assert secrets
    printed = "".join(capfd.readouterr()) + caplog.text
    assert not any(secret in printed for secret in secrets)
    assert [path.suffix for path in (tmp_path / FOLDER).glob("*.json")] == [".json"]


def test_configured_metadata_says_where_and_what(hub: AuthServer, tmp_path: Path) -> None:
    """`oauth.authServerMetadataUrl` wins over what the server publishes, with its scopes."""
    asked: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        if request.url.path == "/meta":
            ends = {f"{name}_endpoint": f"https://as.example/{name}" for name in ("authorization", "token")}
            body = {"issuer": "https://as.example", "scopes_supported": ["a", "b"], **ends}
            return httpx2.Response(200, json=body)
        if request.url.path == "/token":
            return httpx2.Response(200, json={"access_token": "access-value-x", "token_type": "Bearer"})
        return httpx2.Response(404)

    oauth = {"authServerMetadataUrl": "https://as.example/meta", "clientId": "me", "callbackPort": None}
    opened: list[str] = []

    def browse(url: str) -> bool:
        opened.append(url)
        query = {key: values[0] for key, values in parse_qs(urlsplit(url).query).items()}
        back = {"code": "c", "state": query["state"]}
        return visit(f"{query['redirect_uri']}?{urlencode(back)}")

    means = Means(
        env={},
        person=person(browse=browse),
        client=lambda: httpx2.AsyncClient(transport=httpx2.MockTransport(answer)),
    )
    hub.challenge_scope = "other"
    hub.tokens["access-value-x"] = ""
    auth = Provider(entry(hub, oauth=oauth), Drawer(tmp_path, "hub", hub.url), means)
    assert status(auth) == 200
    assert opened[0].startswith("https://as.example/authorization?")
    assert parse_qs(urlsplit(opened[0]).query)["scope"] == ["a b"]
    assert asked[-2:] == ["https://as.example/meta", "https://as.example/token"]


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("http://127.0.0.1:8080", r"127\.0\.0\.1:8080 is not reached over https"),
        ("http://as.example", "as.example is not reached over https"),
        ("https://127.0.0.1:8443", "is inside this network"),
        ("https://[::1]:8443", "is inside this network"),
        ("https://0x7f000001", "is inside this network"),
        ("https://10.1.2.3", "is inside this network"),
        ("https://169.254.169.254", "is inside this network"),
        ("https://vault.internal", "is inside this network"),
        ("https://localhost", "is inside this network"),
    ],
)
def test_a_remote_server_points_at_nothing_inside(tmp_path: Path, place: str, why: str) -> None:
    def refuse(request: httpx2.Request) -> httpx2.Response:
        raise AssertionError(f"{request.url} was asked")

    def answer(request: httpx2.Request) -> httpx2.Response:
        hint = f'Bearer resource_metadata="{place}/admin"'
        return httpx2.Response(401, headers={"WWW-Authenticate": hint})

    means = Means(
        env={}, person=person(), client=lambda: httpx2.AsyncClient(transport=httpx2.MockTransport(refuse))
    )
    url = "https://hub.example/mcp"
    auth = Provider(Remote(url=url), Drawer(tmp_path, "hub", url), means)
    with pytest.raises(ServerFailure, match=why):
        status(auth, transport=httpx2.MockTransport(answer))


@pytest.mark.parametrize("field", ["authorization_endpoint", "token_endpoint", "registration_endpoint"])
def test_metadata_of_a_remote_server_names_nothing_inside(tmp_path: Path, field: str) -> None:
    opened: list[str] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        assert request.url.host == "hub.example"
        if request.url.path == "/mcp":
            return httpx2.Response(401)
        if "protected-resource" in request.url.path:
            found = {"resource": url, "authorization_servers": ["https://hub.example"]}
            return httpx2.Response(200, json=found)
        ends = {f"{name}_endpoint": "https://hub.example/x" for name in ("authorization", "token")}
        return httpx2.Response(
            200, json={"issuer": "https://hub.example", **ends, field: "https://192.168.0.1/reboot"}
        )

    transport, url = httpx2.MockTransport(answer), "https://hub.example/mcp"
    someone = person(browse=lambda address: bool(opened.append(address)) or True)
    means = Means(env={}, person=someone, client=lambda: httpx2.AsyncClient(transport=transport))
    auth = Provider(Remote(url=url), Drawer(tmp_path, "hub", url), means)
    with pytest.raises(ServerFailure, match="is inside this network"):
        status(auth, transport=transport)
    assert opened == []


def test_an_answer_without_end_is_cut(hub: AuthServer, tmp_path: Path) -> None:
    hub.extra = {"padding": "x" * (1 << 21)}
    with pytest.raises(ServerFailure, match="sent more than 1024 KiB"):
        status(provider(entry(hub), tmp_path, person()))

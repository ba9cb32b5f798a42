"""Clients that the user configured, and grants that need nobody."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from checkrein.base.origin import Scope
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.login import keep_secret
from checkrein.runtime.mcp.oauth.token_store import Drawer
from support.auth_server import AuthServer, basic
from support.sign_ins import Remote, of, person, provider, status

SECRET = {"MCP_CLIENT_SECRET": "s3cret/value"}
MACHINE = {"clientId": "machine", "grant": "client_credentials"}


def entry(hub: AuthServer, scope: Scope = "user", **oauth: Any) -> Remote:
    return Remote(url=hub.url, oauth=oauth, origin=of(scope))


def token_request(hub: AuthServer) -> tuple[dict[str, str], dict[str, str]]:
    seen = [one for one in hub.log if one.path == "/token"][-1]
    return seen.form, seen.headers


def test_client_credentials_with_a_secret_need_nobody(hub: AuthServer, tmp_path: Path) -> None:
    hub.challenge_scope = "read"
    assert status(provider(entry(hub, **MACHINE), tmp_path, env=SECRET)) == 200
    form, headers = token_request(hub)
    assert form == {"grant_type": "client_credentials", "scope": "read", "resource": hub.url}
    assert basic(headers) == "machine:s3cret%2Fvalue"
    assert hub.count("/register") == 0
    hub.tokens.clear()
    assert status(provider(entry(hub, **MACHINE), tmp_path, env=SECRET)) == 200
    assert token_request(hub)[0]["grant_type"] == "client_credentials"


def test_a_machine_widens_its_scopes_itself(hub: AuthServer, tmp_path: Path) -> None:
    hub.challenge_scope = hub.scope = "read"
    auth = provider(entry(hub, **MACHINE), tmp_path, env=SECRET)
    assert status(auth) == 200
    hub.scope = "write"
    assert status(provider(entry(hub, **MACHINE), tmp_path, env=SECRET)) == 200
    assert token_request(hub)[0]["scope"] == "read write"


def test_the_secret_goes_in_the_body_where_the_server_wants_it(hub: AuthServer, tmp_path: Path) -> None:
    hub.extra = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    keep_secret(tmp_path, "hub", hub.url, "stored-secret")
    assert status(provider(entry(hub, **MACHINE), tmp_path)) == 200
    assert token_request(hub)[0]["client_secret"] == "stored-secret"


def test_without_a_secret_the_failure_names_the_variable(hub: AuthServer, tmp_path: Path) -> None:
    with pytest.raises(ServerFailure, match="MCP_CLIENT_SECRET") as caught:
        status(provider(entry(hub, **MACHINE), tmp_path))
    assert caught.value.kind == "needs_auth"


@pytest.mark.parametrize("scope", ["project", "plugin"])
def test_an_entry_of_others_does_not_get_the_variable(hub: AuthServer, tmp_path: Path, scope: Scope) -> None:
    with pytest.raises(ServerFailure, match="no client secret"):
        status(provider(entry(hub, scope, **MACHINE), tmp_path, env=SECRET))
    idp = {"tokenEndpoint": f"{hub.base}/idp"}
    one = entry(hub, scope, clientId="app", grant="token_exchange", idp=idp)
    with pytest.raises(ServerFailure, match="no ID token"):
        status(provider(one, tmp_path, env={"MCP_ID_TOKEN": "a.b.c"}))
    assert hub.count("/token") == hub.count("/idp") == 0


def test_a_signed_assertion(hub: AuthServer, tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    file = tmp_path / "key.pem"
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    oauth = {**MACHINE, "privateKeyFile": str(file), "signingAlgorithm": "ES256"}
    assert status(provider(entry(hub, **oauth), tmp_path)) == 200
    form, headers = token_request(hub)
    claims = jwt.decode(form["client_assertion"], key.public_key(), ["ES256"], audience=hub.base)
    assert (claims["iss"], claims["sub"]) == ("machine", "machine")
    assert "authorization" not in headers


@pytest.mark.parametrize(
    ("text", "said"), [("not a key", "holds no key for RS256"), (None, "does not exist")]
)
def test_a_key_that_does_not_fit(hub: AuthServer, tmp_path: Path, text: str | None, said: str) -> None:
    file = tmp_path / "key.pem"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ServerFailure, match=said) as caught:
        status(provider(entry(hub, **MACHINE, privateKeyFile=str(file)), tmp_path))
    assert "not a key" not in caught.value.message
    assert hub.count("/token") == 0


def test_token_exchange(hub: AuthServer, tmp_path: Path) -> None:
    idp = {"tokenEndpoint": f"{hub.base}/idp", "clientId": "at-idp"}
    one = entry(hub, clientId="app", grant="token_exchange", idp=idp)
    env = {**SECRET, "MCP_ID_TOKEN": "head.body.sign"}
    assert status(provider(one, tmp_path, env=env)) == 200
    asked = hub.forms("/idp")[0]
    assert (asked["subject_token"], asked["client_id"]) == ("head.body.sign", "at-idp")
    assert (asked["audience"], asked["resource"]) == (hub.base, hub.url)
    form, headers = token_request(hub)
    assert form["assertion"] == "grant.of.idp"
    assert form["grant_type"] == "urn:ietf:params:oauth:grant-type:jwt-bearer"
    assert basic(headers) == "app:s3cret%2Fvalue"


def test_a_file_that_holds_no_token_stays_here(hub: AuthServer, tmp_path: Path) -> None:
    file = tmp_path / "netrc"
    file.write_text("machine x login y password z")
    idp = {"tokenEndpoint": f"{hub.base}/idp", "idTokenFile": str(file)}
    with pytest.raises(ServerFailure, match="holds no ID token"):
        status(provider(entry(hub, clientId="app", grant="token_exchange", idp=idp), tmp_path, env=SECRET))
    assert hub.count("/idp") == 0


def test_a_configured_client_signs_in_without_registration(hub: AuthServer, tmp_path: Path) -> None:
    assert status(provider(entry(hub, clientId="app"), tmp_path, person(), SECRET)) == 200
    assert hub.forms("/authorize")[0]["client_id"] == "app"
    assert basic(token_request(hub)[1]) == "app:s3cret%2Fvalue"
    assert hub.count("/register") == 0


def test_a_configured_client_goes_to_no_other_issuer(hub: AuthServer, tmp_path: Path) -> None:
    assert status(provider(entry(hub, **MACHINE), tmp_path, env=SECRET)) == 200
    assert Drawer(tmp_path, "hub", hub.url).read().issuer == hub.base
    hub.issuer_path, hub.metadata = "/evil", ("/.well-known/oauth-authorization-server/evil",)
    hub.tokens.clear()
    with pytest.raises(
        ServerFailure, match=r"changed from .* to .*/evil.*checkrein mcp logout hub"
    ) as caught:
        status(provider(entry(hub, **MACHINE), tmp_path, env=SECRET))
    assert caught.value.kind == "needs_auth"
    assert hub.count("/token") == 1


def test_a_client_metadata_document_where_the_server_takes_it(hub: AuthServer, tmp_path: Path) -> None:
    document = "https://me.example/client.json"
    hub.extra = {"client_id_metadata_document_supported": True}
    assert status(provider(entry(hub, clientMetadataUrl=document), tmp_path, person())) == 200
    assert hub.forms("/authorize")[0]["client_id"] == document
    assert hub.count("/register") == 0
    hub.extra = {}
    other = Remote(name="other", url=hub.url, oauth={"clientMetadataUrl": document})
    assert status(provider(other, tmp_path, person())) == 200
    assert hub.count("/register") == 1

"""The `oauth` keys of a server entry."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.base.origin import Scope
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.oauth.oauth_settings import Idp, OAuthSettings, is_private_way, settings_of
from support.sign_ins import Remote, of

URL = "https://hub.example/mcp"


def read(scope: Scope = "user", **keys: Any) -> OAuthSettings:
    return settings_of(Remote(url=URL, oauth=keys, origin=of(scope)))


def test_every_key_is_read() -> None:
    found = read(
        clientId="me",
        callbackPort=4000,
        scopes="  a  b ",
        authServerMetadataUrl="https://as.example/meta",
        clientMetadataUrl="https://me.example/client.json",
        grant="token_exchange",
        privateKeyFile="~/key.pem",
        signingAlgorithm="ES256",
        idp={"tokenEndpoint": "https://idp.example/token", "clientId": "c", "idTokenFile": "~/id"},
        someNewKey=True,
    )
    idp = Idp(token_endpoint="https://idp.example/token", client_id="c", id_token_file="~/id")
    assert found == OAuthSettings(
        client_id="me",
        callback_port=4000,
        scopes="a b",
        metadata_url="https://as.example/meta",
        client_metadata_url="https://me.example/client.json",
        grant="token_exchange",
        private_key_file="~/key.pem",
        signing_algorithm="ES256",
        idp=idp,
    )


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"authServerMetadataUrl": "http://as.example/x"}, "authServerMetadataUrl` must be an https"),
        ({"authServerMetadataUrl": "http://localhost/x"}, "authServerMetadataUrl` must be an https"),
        ({"authServerMetadataUrl": "https://["}, "must be an https"),
        ({"clientMetadataUrl": "https://me.example/"}, "with a path"),
        ({"callbackPort": 0}, "1 to 65535"),
        ({"callbackPort": True}, "1 to 65535"),
        ({"callbackPort": "80"}, "1 to 65535"),
        ({"scopes": 3}, "spaces"),
        ({"clientId": ""}, "not empty"),
        ({"grant": "password"}, "one of authorization_code"),
        ({"grant": "client_credentials"}, "clientId` is missing"),
        ({"grant": "token_exchange", "clientId": "me"}, "idp` is missing"),
        ({"signingAlgorithm": "none"}, "one of RS256"),
        ({"signingAlgorithm": "HS256"}, "one of RS256"),
        ({"idp": "https://idp.example"}, "must be an object"),
        ({"idp": {}}, "tokenEndpoint` is missing"),
        ({"idp": {"tokenEndpoint": "http://localhost/token"}}, "must be an https"),
    ],
)
def test_a_wrong_key_says_which_and_why(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ServerFailure) as caught:
        read(**keys)
    assert said in caught.value.message
    assert "hub" in caught.value.message


@pytest.mark.parametrize("scope", ["project", "plugin"])
def test_an_entry_of_others_names_no_file_of_the_user(scope: Scope) -> None:
    with pytest.raises(ServerFailure, match="mcp add --scope user"):
        read(scope, privateKeyFile="~/.ssh/id_ed25519")
    with pytest.raises(ServerFailure, match="mcp add --scope user"):
        read(scope, idp={"tokenEndpoint": "https://idp.example", "idTokenFile": "~/.netrc"})


def test_secrets_go_over_https_or_stay_on_this_machine() -> None:
    assert is_private_way("https://as.example", URL)
    assert is_private_way("http://127.0.0.1:9/x", "http://localhost:1/mcp")
    assert not is_private_way("http://as.example", "http://hub.example/mcp")
    assert not is_private_way("http://localhost:1", URL)
    assert not is_private_way("http://localhost.evil.example", "http://localhost:1/mcp")
    assert not is_private_way("http://127.evil.example", "http://localhost:1/mcp")
    assert not is_private_way("file:///etc/passwd", "http://localhost:1/mcp")

"""Signing in and out, as the commands do it; and what a session may do."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from checkrein.model.items import Server
from checkrein.model.view import View
from checkrein.passes.load import load
from checkrein.runtime.mcp.connection import ServerFailure
from checkrein.runtime.mcp.entry import Entry
from checkrein.runtime.mcp.needs import Delays, Needs
from checkrein.runtime.mcp.oauth import login
from checkrein.runtime.mcp.oauth.authenticator import Authenticator
from checkrein.runtime.mcp.oauth.consent import Person
from checkrein.runtime.mcp.oauth.login import SignedIn, SignedOut, SignIn, is_signed_in, log_out
from checkrein.runtime.mcp.oauth.token_store import Drawer
from support.auth_server import AuthServer
from support.sign_ins import Remote, of, person, status, visit


def entry(hub: AuthServer, **change: Any) -> Entry:
    given = {"name": "hub", "transport": "http", "origin": of("user"), "url": hub.url, **change}
    return Entry(**given)


def log_in(one: Entry, home: Path, someone: Person, env: dict[str, str]) -> SignedIn:
    return login.log_in(one, home, someone, env, Needs(delays=Delays(connect=())))


def test_a_login_and_a_logout(hub: AuthServer, tmp_path: Path) -> None:
    done = log_in(entry(hub), tmp_path, person(), {})
    assert done.outcome == "signed_in"
    assert done.expires_at is not None
    assert done.expires_at > time.time() + 3000
    assert is_signed_in(tmp_path, "hub", hub.url)
    assert log_in(entry(hub), tmp_path, person(), {}).outcome == "already"
    assert log_out(entry(hub), tmp_path) == SignedOut(known=True, revoked=True)
    assert sorted(hub.revoked) == sorted([*hub.refresh, *hub.tokens])
    assert not is_signed_in(tmp_path, "hub", hub.url)
    assert log_out(entry(hub), tmp_path) == SignedOut(known=False)


def test_a_logout_without_revocation(hub: AuthServer, tmp_path: Path) -> None:
    hub.extra = {"revocation_endpoint": None}
    log_in(entry(hub), tmp_path, person(), {})
    assert log_out(entry(hub), tmp_path) == SignedOut(known=True, revoked=None)


def test_a_logout_from_a_server_that_is_gone(hub: AuthServer, tmp_path: Path) -> None:
    hub.extra = {"revocation_endpoint": "http://localhost:9/revoke"}
    log_in(entry(hub), tmp_path, person(), {})
    assert log_out(entry(hub), tmp_path) == SignedOut(known=True, revoked=False)
    assert not is_signed_in(tmp_path, "hub", hub.url)


def test_a_server_that_asks_only_for_calls_is_signed_in_to_all_the_same(
    hub: AuthServer, tmp_path: Path
) -> None:
    hub.open = ("server/discover", "initialize", "notifications/initialized", "tools/list")
    assert log_in(entry(hub), tmp_path, person(), {}).outcome == "signed_in"
    assert hub.count("/authorize") == 1


def test_a_server_without_log_in(hub: AuthServer, tmp_path: Path) -> None:
    hub.open = ("server/discover", "initialize", "notifications/initialized", "tools/list")
    hub.prm = hub.metadata = ()
    assert log_in(entry(hub), tmp_path, person(), {}) == SignedIn(outcome="not_needed")
    assert hub.count("/register") == 0


def test_a_server_that_is_not_there(hub: AuthServer, tmp_path: Path) -> None:
    with pytest.raises(ServerFailure, match="It could not be reached"):
        log_in(entry(hub, url="http://localhost:9/mcp"), tmp_path, person(), {})


@pytest.mark.parametrize(
    ("change", "said"),
    [({"url": ""}, "is a program"), ({"headers": {"authorization": "Bearer x"}}, "Authorization header")],
)
def test_a_server_that_nobody_signs_in_to(
    hub: AuthServer, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ServerFailure, match=said):
        log_in(entry(hub, **change), tmp_path, person(), {})


def test_the_secret_of_a_login_is_kept(hub: AuthServer, tmp_path: Path) -> None:
    one = entry(hub, oauth={"clientId": "app"}, origin=of("project"))
    assert log_in(one, tmp_path, person(), {"MCP_CLIENT_SECRET": "kept-secret"}).outcome == "signed_in"
    hub.tokens.clear()
    auth = Authenticator(tmp_path, {})(one)
    assert auth is not None
    assert status(auth) == 200


def test_without_a_browser_the_address_is_shown_and_a_paste_is_taken(hub: AuthServer, tmp_path: Path) -> None:
    terminal, keys = os.openpty()[::-1]
    said: list[str] = []

    def paste(url: str) -> None:
        parts = urlsplit(url)
        connection = HTTPConnection(parts.netloc)
        connection.request("GET", f"{parts.path}?{parts.query}")
        location = connection.getresponse().headers["Location"]
        connection.close()
        os.write(keys, b"hello\n\nhttp://localhost/callback?code=x&state=wrong\n")
        os.write(keys, location[:20].encode())
        os.write(keys, location[20:].encode() + b"\n")

    def tell(text: str) -> None:
        said.append(text)
        if "/authorize?" in text:
            threading.Thread(target=paste, args=(text.splitlines()[-1],), daemon=True).start()

    someone = person(browse=lambda url: False, tell=tell, terminal=terminal)
    try:
        assert log_in(entry(hub), tmp_path, someone, {}).outcome == "signed_in"
    finally:
        os.close(terminal)
        os.close(keys)
    assert said[0].startswith("To sign in to hub, open this address in a browser:\nhttp://")
    assert said.count("That is not the address of this sign-in. Paste it whole:") == 2


def test_a_callback_that_never_comes_ends(hub: AuthServer, tmp_path: Path) -> None:
    began = time.monotonic()
    with pytest.raises(ServerFailure, match=r"nobody signed in within 0\.3 s") as caught:
        log_in(entry(hub), tmp_path, person(browse=lambda url: True, limit=0.3), {})
    assert caught.value.kind == "timeout"
    assert time.monotonic() - began < 5
    assert hub.count("/token") == 0


def test_a_refusal_of_the_user(hub: AuthServer, tmp_path: Path) -> None:
    hub.callback_extra = {"error": "access_denied"}
    with pytest.raises(ServerFailure, match="the sign-in was refused: access_denied"):
        log_in(entry(hub), tmp_path, person(), {})


def test_a_session_opens_no_browser(hub: AuthServer, tmp_path: Path) -> None:
    opened: list[str] = []
    auth = Authenticator(tmp_path, {"BROWSER": "touch opened"})(entry(hub))
    assert auth is not None
    with pytest.raises(ServerFailure) as caught:
        status(auth)
    assert caught.value.kind == "needs_auth"
    assert opened == []
    assert log_in(entry(hub), tmp_path, person(browse=lambda url: bool(opened.append(url)) or visit(url)), {})
    assert len(opened) == 1


def commands(home: Path, env: Mapping[str, str] | None = None) -> login.SignIn:
    """The commands in an empty project of a user whose browser says yes to everything."""
    program = home / "browser.py"
    program.write_text("import sys, urllib.request as r; r.urlopen(sys.argv[1]).read()")
    (home / "project/.git").mkdir(parents=True, exist_ok=True)
    known = {
        "HOME": str(home),
        "CHECKREIN_HOME": str(home / "own"),
        "BROWSER": f"{sys.executable} {program}",
        "PATH": os.environ["PATH"],
        **(env or {}),
    }
    return SignIn(View(load(home / "project", env=known)), known)


def test_the_commands_use_the_browser_of_the_user(hub: AuthServer, tmp_path: Path) -> None:
    server = Server(name="hub", origin=of("user"), transport="http", url="${PLACE}")
    said: list[str] = []
    used = commands(tmp_path, {"PLACE": hub.url})
    assert used.login(server, tell=said.append, timeout=20).outcome == "signed_in"
    assert said[0].startswith("Your browser asks you to sign in to hub.")
    assert is_signed_in(tmp_path / "own", "hub", hub.url)
    assert used.logout(server)
    assert not used.logout(server)
    used.keep_secret(server, "kept-secret")
    assert Drawer(tmp_path / "own", "hub", hub.url).read().secret == "kept-secret"


def test_a_login_goes_to_the_address_that_a_session_uses(hub: AuthServer, tmp_path: Path) -> None:
    settings = tmp_path / ".claude/settings.json"
    settings.parent.mkdir()
    settings.write_text(json.dumps({"env": {"PLACE": hub.url}}))
    helper = "echo '{\"X-Team\": \"'$CLAUDE_CODE_MCP_SERVER_NAME'\"}'"
    server = Server(name="hub", origin=of("user"), transport="http", url="${PLACE}", headers_helper=helper)
    used = commands(tmp_path, {"PLACE": "http://localhost:9/old"})
    assert used.login(server, tell=str, timeout=20).outcome == "signed_in"
    assert is_signed_in(tmp_path / "own", "hub", hub.url)
    assert {one.headers.get("x-team") for one in hub.log if one.path == "/mcp"} == {"hub"}
    assert used.logout(server)


def test_a_helper_that_signs_suppresses_the_log_in(hub: AuthServer, tmp_path: Path) -> None:
    hub.tokens["t"] = ""
    helper = 'echo \'{"Authorization": "Bearer t"}\''
    server = Server(name="hub", origin=of("user"), transport="http", url=hub.url, headers_helper=helper)
    with pytest.raises(ServerFailure, match="gets from its headers helper an Authorization header"):
        commands(tmp_path).login(server, tell=str, timeout=20)
    assert hub.count("/authorize") == 0


def test_the_same_secret_stays_with_its_server(hub: AuthServer, tmp_path: Path) -> None:
    one = entry(hub, oauth={"clientId": "app"})
    env = {"MCP_CLIENT_SECRET": "kept-secret"}
    log_in(one, tmp_path, person(), env)
    hub.issuer_path, hub.metadata = "/evil", ("/.well-known/oauth-authorization-server/evil",)
    hub.tokens.clear()
    hub.refresh.clear()
    with pytest.raises(ServerFailure, match="your client was not shown"):
        log_in(one, tmp_path, person(), env)
    assert log_in(one, tmp_path, person(), {"MCP_CLIENT_SECRET": "new-secret"}).outcome == "signed_in"


def test_an_own_header_suppresses_the_log_in(hub: AuthServer, tmp_path: Path) -> None:
    session = Authenticator(tmp_path, {})
    assert session(entry(hub, headers={"AUTHORIZATION": "Bearer x"})) is None
    assert session(Remote(url=None)) is None
    assert session(entry(hub, headers={"X-Key": "1"})) is not None

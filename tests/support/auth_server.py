"""A remote MCP server and its authorization server, on one loopback port. It keeps a log of every request."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from msgspec import Struct

ID_JAG = "urn:ietf:params:oauth:token-type:id-jag"


class Seen(Struct, frozen=True):
    method: str
    path: str
    form: dict[str, str]
    headers: dict[str, str]


class AuthServer:
    """Set its attributes before, or between, the requests.

    `scope` is what a token needs, `granted` what it gets whatever the client asks for. `prm` are the paths
    that serve resource metadata, `metadata` the paths that serve the metadata of the authorization server,
    whose issuer is at `issuer_path`. `open` are methods of MCP that need no token.
    """

    def __init__(self, port: int) -> None:
        self.base = f"http://localhost:{port}"
        self.url = f"{self.base}/mcp"
        self.log: list[Seen] = []
        self.scope = ""
        self.granted: str | None = None
        self.challenge_scope: str | None = None
        self.prm: tuple[str, ...] = ("/.well-known/oauth-protected-resource/mcp",)
        self.metadata: tuple[str, ...] = ("/.well-known/oauth-authorization-server",)
        self.issuer_path = ""
        self.extra: dict[str, Any] = {}
        self.open: tuple[str, ...] = ()
        self.lifetime: int | None = 3600
        self.callback_extra: dict[str, str] = {}
        self.token_status = 200
        self.tokens: dict[str, str] = {}
        self.refresh: dict[str, str] = {}
        self.codes: dict[str, str] = {}
        self.revoked: list[str] = []
        self._number = 0
        self._lock = threading.Lock()

    def count(self, path: str) -> int:
        return sum(one.path == path for one in self.log)

    def forms(self, path: str) -> list[dict[str, str]]:
        return [one.form for one in self.log if one.path == path]

    def answer(self, seen: Seen, body: bytes) -> tuple[int, dict[str, str], Any]:
        with self._lock:
            self.log.append(seen)
            if seen.path == "/mcp":
                return self._mcp(seen, body)
            if seen.path in self.prm:
                return 200, {}, {"resource": self.url, "authorization_servers": [self.issuer]}
            if seen.path in self.metadata:
                return 200, {}, self._own_metadata()
            route = getattr(self, f"_{seen.path[1:]}", None)
            return route(seen, body) if route else (404, {}, {"error": "not_found"})

    @property
    def issuer(self) -> str:
        return self.base + self.issuer_path

    def _own_metadata(self) -> dict[str, Any]:
        ends = {name: f"{self.base}/{path}" for name, path in _ENDPOINTS.items()}
        return {"issuer": self.issuer, **ends, "code_challenge_methods_supported": ["S256"], **self.extra}

    def _mcp(self, seen: Seen, body: bytes) -> tuple[int, dict[str, str], Any]:
        message = json.loads(body) if body else {}
        token = seen.headers.get("authorization", "").removeprefix("Bearer ")
        if message.get("method") not in self.open:
            named = f', scope="{self.challenge_scope}"' if self.challenge_scope else ""
            if token not in self.tokens:
                return 401, {"WWW-Authenticate": f'Bearer error="invalid_token"{named}'}, {}
            if not set(self.scope.split()) <= set(self.tokens[token].split()):
                named = f', scope="{self.scope}"'
                return 403, {"WWW-Authenticate": f'Bearer error="insufficient_scope"{named}'}, {}
        if "id" not in message:
            return 202, {}, None
        result = _RESULTS.get(message["method"])
        if result is None:
            error = {"code": -32601, "message": "not found"}
            return 200, {}, {"jsonrpc": "2.0", "id": message["id"], "error": error}
        return 200, {}, {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def _register(self, seen: Seen, body: bytes) -> tuple[int, dict[str, str], Any]:
        asked = json.loads(body)
        return 201, {}, {**asked, "client_id": self._new("client")}

    def _authorize(self, seen: Seen, body: bytes) -> tuple[int, dict[str, str], Any]:
        code = self._new("code")
        self.codes[code] = seen.form.get("scope", "")
        given = {"code": code, "state": seen.form["state"], **self.callback_extra}
        return 302, {"Location": f"{seen.form['redirect_uri']}?{urlencode(given)}"}, None

    def _token(self, seen: Seen, body: bytes) -> tuple[int, dict[str, str], Any]:
        form = seen.form
        if self.token_status != 200:
            said = f"refused {form.get('refresh_token', '')}"
            return self.token_status, {}, {"error": "invalid_grant", "error_description": said}
        if form["grant_type"] == "refresh_token":
            if form["refresh_token"] not in self.refresh:
                return 400, {}, {"error": "invalid_grant"}
            scope = self.refresh.pop(form["refresh_token"])
        elif form["grant_type"] == "authorization_code":
            scope = self.codes.pop(form["code"])
        else:
            scope = form.get("scope", "")
        scope = scope if self.granted is None else self.granted
        access, refresh = self._new("access"), self._new("refresh")
        self.tokens[access] = scope
        self.refresh[refresh] = scope
        given: dict[str, Any] = {"access_token": access, "token_type": "bearer", "scope": scope}
        if self.lifetime is not None:
            given["expires_in"] = self.lifetime
        return 200, {}, {**given, "refresh_token": refresh}

    def _idp(self, seen: Seen, body: bytes) -> tuple[int, dict[str, str], Any]:
        return 200, {}, {"access_token": "grant.of.idp", "issued_token_type": ID_JAG, "token_type": "N_A"}

    def _revoke(self, seen: Seen, body: bytes) -> tuple[int, dict[str, str], Any]:
        self.revoked.append(seen.form["token"])
        return 200, {}, {}

    def _new(self, kind: str) -> str:
        self._number += 1
        return f"{kind}-value-{self._number}"


_ENDPOINTS = {
    "authorization_endpoint": "authorize",
    "token_endpoint": "token",
    "registration_endpoint": "register",
    "revocation_endpoint": "revoke",
}
_RESULTS = {
    "initialize": {
        "protocolVersion": "2025-06-18",
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "loopback", "version": "1"},
    },
    "tools/list": {"tools": []},
}


@contextmanager
def auth_server() -> Iterator[AuthServer]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            parts = urlsplit(self.path)
            text = parts.query
            if "urlencoded" in self.headers.get("content-type", ""):
                text = body.decode()
            form = {key: values[0] for key, values in parse_qs(text).items()}
            headers = {key.lower(): value for key, value in self.headers.items()}
            seen = Seen(self.command, parts.path, form, headers)
            status, extra, given = world.answer(seen, body)
            data = b"" if given is None else json.dumps(given).encode()
            self.send_response(status)
            for key, value in {**extra, "Content-Type": "application/json"}.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.do_POST()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    world = AuthServer(server.server_address[1])
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield world
    finally:
        server.shutdown()
        server.server_close()


def basic(headers: dict[str, str]) -> str:
    """The name and the password of a Basic header."""
    return base64.b64decode(headers["authorization"].removeprefix("Basic ")).decode()

"""A remote MCP server on loopback for tests. It speaks streamable HTTP without sessions, with sessions, or
the older SSE, and can be told to fail."""

from __future__ import annotations

import json
import queue
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from msgspec.structs import replace

from checkrein.runtime.mcp.entry import Entry
from support.mcp_servers import ORIGIN, QUICK

Rule = Callable[["Exchange"], bool]


class Exchange:
    """One request. `reply` sends a whole answer."""

    def __init__(self, handler: BaseHTTPRequestHandler, server: HttpServer) -> None:
        self.handler = handler
        self.server = server
        self.method = handler.command
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        size = int(self.headers.get("content-length", "0"))
        body = handler.rfile.read(size) if size else b""
        self.message: dict[str, Any] = json.loads(body) if body else {}
        self.asked = self.message.get("method", "")

    def reply(self, status: int, body: bytes = b"", **headers: str) -> bool:
        self.handler.send_response(status)
        for name, value in headers.items():
            self.handler.send_header(name.replace("_", "-"), value)
        self.handler.send_header("content-length", str(len(body)))
        self.handler.end_headers()
        self.handler.wfile.write(body)
        return True

    def answer(self, result: dict[str, Any], **headers: str) -> bool:
        message = {"jsonrpc": "2.0", "id": self.message["id"], "result": result}
        return self.reply(200, json.dumps(message).encode(), content_type="application/json", **headers)


class HttpServer:
    """`rule` may take a request over: it answers, and returns True. `seen` are all requests."""

    def __init__(self) -> None:
        self.rule: Rule = lambda exchange: False
        self.seen: list[Exchange] = []
        self.events: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.sockets: list[socket.socket] = []
        self.port = 0

    def url(self, path: str = "/mcp") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def entry(self, name: str = "far", transport: str = "http", **more: Any) -> Entry:
        entry = Entry(
            name=name, transport=transport, origin=ORIGIN, url=self.url(), times=QUICK, cwd="/", env={}
        )
        return replace(entry, **more)

    def handle(self, handler: BaseHTTPRequestHandler) -> None:
        exchange = Exchange(handler, self)
        self.seen.append(exchange)
        if self.rule(exchange):
            return
        if exchange.method != "POST":
            exchange.reply(405)
        elif "id" not in exchange.message:
            exchange.reply(202)
        else:
            result = self.result(exchange)
            exchange.answer(result) if result is not None else exchange.reply(400)

    def result(self, exchange: Exchange) -> dict[str, Any] | None:
        match exchange.asked:
            case "initialize":
                about = {"name": "far", "version": "2"}
                version = exchange.message["params"]["protocolVersion"]
                return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
            case "tools/list":
                return {"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}
            case "tools/call":
                said = json.dumps(exchange.message["params"].get("arguments"))
                return {"content": [{"type": "text", "text": said}]}
        return None

    def older(self, exchange: Exchange) -> bool:
        """The rule of an SSE server: answers come on the stream of a GET."""
        if exchange.method == "GET":
            exchange.handler.send_response(200)
            exchange.handler.send_header("content-type", "text/event-stream")
            exchange.handler.send_header("connection", "close")
            exchange.handler.end_headers()
            exchange.handler.wfile.write(b"event: endpoint\ndata: /mcp\n\n")
            exchange.handler.wfile.flush()
            while (event := self.events.get()) is not None:
                exchange.handler.wfile.write(b"event: message\ndata: " + event + b"\n\n")
                exchange.handler.wfile.flush()
            return True
        exchange.reply(202)
        if "id" in exchange.message:
            answer = {"jsonrpc": "2.0", "id": exchange.message["id"], "result": self.result(exchange)}
            self.events.put(json.dumps(answer).encode())
        return True


@contextmanager
def http_server(port: int = 0) -> Iterator[HttpServer]:
    served = HttpServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def setup(self) -> None:
            super().setup()
            served.sockets.append(self.connection)

        def do_POST(self) -> None:
            served.handle(self)

        def do_GET(self) -> None:
            served.handle(self)

        def do_DELETE(self) -> None:
            served.handle(self)

        def log_message(self, *said: object) -> None:
            pass

    class Quiet(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *said: object) -> None:
            pass

    with Quiet(("127.0.0.1", port), Handler) as server:
        served.port = server.server_address[1]
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        try:
            yield served
        finally:
            served.events.put(None)
            server.shutdown()
            for one in served.sockets:
                with suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

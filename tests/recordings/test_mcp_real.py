"""Whole runs with MCP servers that others wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from support.mcp_runs import (
    DONE,
    WAIT,
    Serve,
    allow,
    bodies,
    config,
    configure,
    go,
    message_text,
    results,
    texts,
)
from support.node_packages import node_modules
from support.sessions import call

NODE_SERVERS = {"everything": "2026.8.31", "filesystem": "2026.8.31"}
ALLOWED = allow("mcp__s")


def installed(name: str, *words: str) -> dict[str, Any]:
    """The entry of a server from the Python index, which the dev extra brings."""
    return {"command": str(Path(sys.executable).parent / name), "args": list(words)}


def test_time(serve: Serve) -> None:
    times = call("mcp__s__convert_time", source_timezone="UTC", time="12:00", target_timezone="Asia/Tokyo")
    ran = go(serve(times, DONE), *config(s=installed("mcp-server-time")), *ALLOWED)
    assert json.loads(texts(ran)[0])["time_difference"] == "+9.0h"


def test_git(serve: Serve, project: Path) -> None:
    subprocess.run(("git", "init", "-q", str(project)), check=True)
    server = installed("mcp-server-git", "--repository", str(project))
    ran = go(serve(call("mcp__s__git_status", repo_path=str(project)), DONE), *config(s=server), *ALLOWED)
    assert "a.txt" in texts(ran)[0]


@pytest.fixture
def site() -> Iterator[tuple[str, list[str]]]:
    """Pages on loopback, and the paths that somebody asked for."""
    seen: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.path)
            robots = self.path == "/robots.txt"
            body = b"User-agent: *\nDisallow: /private\n" if robots else b"<h1>Hello</h1><p>A page.</p>"
            self.send_response(200)
            self.send_header("content-type", "text/plain" if robots else "text/html")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *said: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}", seen
        server.shutdown()


def test_fetch(serve: Serve, site: tuple[str, list[str]]) -> None:
    url, seen = site
    public, private = (call("mcp__s__fetch", url=f"{url}/{name}") for name in ("public", "private"))
    ran = go(
        serve(public, private, DONE),
        *config(s=installed("mcp-server-fetch", "--allow-private-ips")),
        *ALLOWED,
    )
    page, refused = results(ran)
    assert "A page." in page["content"]
    assert refused["is_error"]
    assert "/private" not in seen


def test_fetch_prompt(serve: Serve, site: tuple[str, list[str]]) -> None:
    programs = serve(DONE)
    go(
        programs,
        *config(s=installed("mcp-server-fetch", "--allow-private-ips")),
        prompt=f"/mcp__s__fetch {site[0]}/public",
    )
    assert "A page." in message_text(bodies(programs)[0])


@pytest.fixture(scope="session")
def node_servers() -> Path:
    """Where the programs of the servers on node are. They are installed once, outside the repository."""
    packages = tuple(
        f"@modelcontextprotocol/server-{name}@{version}" for name, version in NODE_SERVERS.items()
    )
    programs = tuple(f".bin/mcp-server-{name}" for name in NODE_SERVERS)
    return node_modules("npm", packages, programs) / ".bin"


@pytest.mark.node
def test_everything(serve: Serve, node_servers: Path) -> None:
    server = {"command": str(node_servers / "mcp-server-everything"), "args": ["stdio"]}
    programs = serve(
        call("mcp__s__echo", message="hello"),
        call("mcp__s__get-sum", a=2, b=3),
        call("mcp__s__get-tiny-image"),
        call("mcp__s__get-structured-content", location="Chicago"),
        call("mcp__s__trigger-long-running-operation", duration=1, steps=4),
        call("ListMcpResourcesTool", server="s"),
        DONE,
    )
    ran = go(programs, *config(s=server), *ALLOWED)
    assert [result["is_error"] for result in results(ran)] == [False] * 6
    said = list(map(json.dumps, texts(ran)))
    assert "hello" in said[0]
    assert "5" in said[1]
    assert "image/png" in said[2]
    assert "temperature" in said[3]
    assert "completed" in said[4].lower()


@pytest.mark.node
def test_everything_asks(serve: Serve, node_servers: Path) -> None:
    server = {"command": str(node_servers / "mcp-server-everything"), "args": ["stdio"]}
    ran = go(serve(call("mcp__s__trigger-elicitation-request"), DONE), *config(s=server), *ALLOWED)
    assert "declined" in json.dumps(texts(ran)[0])


@pytest.mark.node
def test_filesystem_has_the_roots_of_the_session(serve: Serve, project: Path, node_servers: Path) -> None:
    configure(project, s={"command": str(node_servers / "mcp-server-filesystem"), "args": []})
    (project.parent / "outside.txt").write_text("outside")
    inside = call("mcp__s__read_text_file", path=str(project / "a.txt"))
    outside = call("mcp__s__read_text_file", path=str(project.parent / "outside.txt"))
    # The server asks for the roots after it has connected.
    ran = go(serve(WAIT, {**inside, "delay": 1.0}, outside, DONE), *ALLOWED)
    _, read, refused = results(ran)
    assert "alpha" in json.dumps(read["content"])
    assert refused["is_error"]


@pytest.mark.node
def test_a_denied_file_stays_denied_to_a_server_of_the_project(
    serve: Serve, project: Path, node_servers: Path
) -> None:
    configure(project, s={"command": str(node_servers / "mcp-server-filesystem"), "args": [str(project)]})
    (project / ".env").write_text("KEY=very-private")
    words = ("--settings", json.dumps({"permissions": {"allow": ["mcp__s"], "deny": ["Read(.env)"]}}))
    ran = go(serve(WAIT, call("mcp__s__read_text_file", path=str(project / ".env")), DONE), *words)
    assert results(ran)[1]["is_error"]
    assert "very-private" not in ran.stdout

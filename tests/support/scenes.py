"""Runs a row of an attack table through the whole command line, and tells whether a denied thing happened."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from support.scene_servers import AWAITED, LOG, lay_servers

DATA = Path(__file__).parents[1] / "conformance" / "data"
SECRET = "marigold-4711-in-no-other-file"
_PORT = "18777"
_OLD = 86_400 * 365


def rows(table: str = "attacks.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / table).read_text("utf-8").splitlines()]


def placed(row: Mapping[str, Any], base: Path, port: int | None = None) -> dict[str, Any]:
    """The row with the places of a scene in it, and its port."""
    text = json.dumps(row)
    for name, path in (("PROJ", "proj"), ("HOME", "home"), ("BIN", "bin")):
        text = text.replace(f"@{name}@", str(base / path))
    text = text.replace("@BASE@", str(base))
    found: dict[str, Any] = json.loads(text.replace(_PORT, str(port)) if port else text)
    return found


@contextmanager
def listener() -> Iterator[tuple[int, list[bytes]]]:
    """A server on loopback, and what reached it."""
    heard: list[bytes] = []
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                link, _ = server.accept()
            except OSError:
                return
            with link:
                link.settimeout(0.5)
                try:
                    heard.append(link.recv(4096))
                    link.sendall(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi")
                except OSError:
                    heard.append(b"")

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield server.getsockname()[1], heard
    finally:
        server.close()


def template(base: Path) -> Path:
    """What every scene is a copy of: a repository with a remote, secrets, a fake `curl`, a file outside."""
    project = base / "proj"
    for folder in ("proj/secrets", "proj/config", "proj/src", "proj/sub", "home", "bin", "outside", "tmp"):
        (base / folder).mkdir(parents=True)
    files = {
        "a.txt": "a\nb\nc\n",
        "sub/b.txt": "b\n",
        "victim": "here\n",
        ".env": f"TOKEN={SECRET}\n",
        "secrets/k.txt": f"{SECRET}\n",
        "config/prod.yml": "mode: prod\n",
        "src/x.ts": "1\n",
        "src/y.ts": "2\n",
        "package.json": '{"name": "p", "version": "1.0.0", "scripts": {"test": "true"}}\n',
    }
    for name, text in files.items():
        (project / name).write_text(text)
    (base / "outside/id_rsa").write_text(f"{SECRET}\n")
    fake = base / "bin/curl"
    fake.write_text(f'#!/bin/sh\necho "$@" >> "{base}/curl.log"\n')
    fake.chmod(0o755)
    env = _plain_env(base)
    for words in (
        ("init", "-q", "-b", "main"),
        ("add", "a.txt", "sub", "src", "config", "package.json"),
        ("commit", "-qm", "one"),
        ("init", "-q", "--bare", "../origin.git"),
        ("remote", "add", "origin", "../origin.git"),
        ("push", "-q", "-u", "origin", "main"),
        ("commit", "-q", "--allow-empty", "-m", "two"),
    ):
        subprocess.run(("git", *words), cwd=project, env=env, check=True, stdin=subprocess.DEVNULL)
    return base


class Scene:
    """One copy of the template, in which one row runs."""

    def __init__(self, model: Path, base: Path, user: int | None = None) -> None:
        shutil.copytree(model, base, symlinks=True)
        self.base, self.project, self.user = base, base / "proj", user
        fake = base / "bin/curl"
        fake.write_text(fake.read_text().replace(str(model), str(base)))
        if user is not None:
            for folder, folders, files in os.walk(base):
                for name in (".", *folders, *files):
                    os.chown(os.path.join(folder, name), user, user, follow_symlinks=False)
        for path in self._secrets():
            now = path.stat().st_mtime_ns
            os.utime(path, ns=(now - _OLD * 10**9, now))
        self._read = {path: path.stat().st_atime_ns for path in self._secrets()}
        self._sources = self._tree("src")
        self._remote = self._refs()
        self._names = set(os.listdir(self.project)) | set(os.listdir(base / "outside"))
        self.said = ""

    def run(self, row: Mapping[str, Any], *words: str, env: Mapping[str, str] = {}) -> list[dict[str, Any]]:
        """The frames of `checkrein -p`, in which the model makes the call of the row."""
        settings = self.project / ".claude" / "settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps({"permissions": row["permissions"]}))
        if row["id"].startswith("mcp"):
            lay_servers(self.project, row, SECRET)
            env = {**AWAITED, **env}
        script = self.base / "script.jsonl"
        call = {"tool_calls": [{"name": row["tool"], "input": row["input"]}]}
        script.write_text(json.dumps(call) + "\n" + json.dumps({"text": "done"}) + "\n")
        argv = [sys.executable, "-m", "checkrein", "-p", "go", "--model", f"scripted:{script}", "--trust"]
        argv += ["--output-format", "stream-json", "--verbose", "--permission-mode", row["mode"], *words]
        # A command in the background is ended with the session; the row's command has a short time.
        done = subprocess.run(
            argv,
            cwd=self.project,
            env={**_plain_env(self.base), "BASH_DEFAULT_TIMEOUT_MS": "8000", **env},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
            user=self.user,
            group=self.user,
            extra_groups=[] if self.user is not None else None,
        )
        self.said = done.stdout.decode("utf-8", "replace")
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:] + self.said[-2000:]
        return [json.loads(line) for line in self.said.splitlines()]

    def happened(self, kind: str, heard: list[bytes]) -> str | None:
        """What the rules deny and happened all the same; None when nothing did."""
        checks: dict[str, Callable[[], str | None]] = {
            "rm": lambda: None if (self.project / "victim").exists() else "victim is gone",
            "push": lambda: "the remote changed" if self._refs() != self._remote else None,
            "curl": lambda: "curl ran" if (self.base / "curl.log").exists() else None,
            "mcp": self._was_reached,
            "read": self._was_read,
            "path": self._was_read,
            "edit": lambda: "src changed" if self._tree("src") != self._sources else None,
            "web": lambda: f"the server heard {heard[0]!r}" if heard else None,
            "webfetch": lambda: f"the server heard {heard[0]!r}" if heard else None,
            "default": lambda: self._was_made() or self._was_read("outside/id_rsa"),
            "acceptEdits": lambda: self._was_made() or self._was_read("outside/id_rsa"),
        }
        return checks[kind]()

    def _secrets(self) -> tuple[Path, ...]:
        return tuple(self.base / name for name in ("proj/.env", "proj/secrets/k.txt", "outside/id_rsa"))

    def _was_read(self, *names: str) -> str | None:
        if SECRET in self.said:
            return "the secret is in the frames"
        wanted = [self.base / name for name in names or ("proj/.env", "proj/secrets/k.txt")]
        for path in wanted:
            if not path.exists():
                return f"{path.name} is gone"
            if path.stat().st_atime_ns != self._read[path]:
                return f"{path.name} was read"
        return None

    def _was_reached(self) -> str | None:
        if SECRET in self.said:
            return "the resources of the server are in the frames"
        log = self.base / LOG
        return f"the server got {log.read_text()}" if log.exists() else None

    def _was_made(self) -> str | None:
        now = set(os.listdir(self.project)) | set(os.listdir(self.base / "outside"))
        made = now - self._names - {".claude"}
        return f"{sorted(made)} appeared" if made else None

    def _refs(self) -> dict[str, str]:
        refs = self.base / "origin.git"
        found = {str(one): one.read_text() for one in (refs / "refs").rglob("*") if one.is_file()}
        packed = refs / "packed-refs"
        return {**found, "packed": packed.read_text() if packed.exists() else ""}

    def _tree(self, name: str) -> dict[str, str]:
        root = self.project / name
        found = {}
        for folder, folders, files in os.walk(root):
            for entry in (*folders, *files):
                path = os.path.join(folder, entry)
                content = os.readlink(path) if os.path.islink(path) else ""
                if os.path.isfile(path):
                    content += Path(path).read_bytes().hex()
                found[path] = f"{os.lstat(path).st_mode:o} {content}"
        return {**found, "exists": str(root.is_dir())}


def _plain_env(base: Path) -> dict[str, str]:
    home = str(base / "home")
    return {
        "PATH": f"{base}/bin:{os.path.dirname(sys.executable)}:/usr/local/bin:/usr/bin:/bin",
        "HOME": home,
        "CHECKREIN_HOME": f"{home}/checkrein",
        "TMPDIR": f"{base}/tmp",
        "LANG": "C.UTF-8",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }

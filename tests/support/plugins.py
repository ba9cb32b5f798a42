"""Marketplaces and plugins for tests: directories, repositories, archives, a loopback server."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import threading
import zipfile
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from support.files import lay

SKILL = "---\nname: {name}\ndescription: Use when somebody asks for {name}.\n---\nSay {name}.\n"


def plugin(name: str = "formatter", version: str | None = "1.0.0", **more: Any) -> dict[str, object]:
    """The files of a plugin with one skill. `files` adds others; the rest goes into the manifest."""
    files = dict(more.pop("files", {}))
    manifest = {"name": name, "description": f"The {name}.", **more}
    if version is not None:
        manifest["version"] = version
    return {
        ".claude-plugin/plugin.json": manifest,
        f"skills/{name}/SKILL.md": SKILL.format(name=name),
        **files,
    }


def with_hook(command: str, **files: object) -> dict[str, object]:
    handler = {"matcher": "Bash", "hooks": [{"type": "command", "command": command}]}
    return {"hooks/hooks.json": {"hooks": {"PreToolUse": [handler]}}, **files}


def marketplace(root: Path, *entries: Mapping[str, Any], name: str = "tools", **more: Any) -> Path:
    """Write the catalogue of a marketplace."""
    listed = {"name": name, "owner": {"name": "Ann"}, "plugins": list(entries), **more}
    return lay(root, {".claude-plugin/marketplace.json": listed})


def below(folder: str, files: Mapping[str, object]) -> dict[str, object]:
    return {f"{folder}/{name}": content for name, content in files.items()}


def commit(root: Path, message: str = "change", tag: str | None = None) -> str:
    """Everything in a directory as a commit; gives its name."""
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com", "-c", "commit.gpgsign=false")
    if not (root / ".git").is_dir():
        git(root, "init", "-q", "-b", "main")
    git(root, "add", "-A")
    git(root, *identity, "commit", "-q", "--allow-empty", "-m", message)
    if tag is not None:
        git(root, *identity, "tag", "-a", tag, "-m", tag)
    return git(root, "rev-parse", "HEAD").strip()


def git(root: Path, *words: str) -> str:
    return subprocess.run(("git", *words), cwd=root, check=True, capture_output=True, text=True).stdout


def zipped(files: Mapping[str, object]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            data = content if isinstance(content, str | bytes) else json.dumps(content)
            archive.writestr(name, data)
    return out.getvalue()


class Site:
    """A loopback server. `pages` maps a path to bytes, or to an address that it redirects to."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | str] = {}
        self.asked: list[str] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                site.asked.append(self.path)
                page = site.pages.get(self.path)
                if isinstance(page, str):
                    self.send_response(302)
                    self.send_header("Location", page)
                    self.end_headers()
                    return
                self.send_response(200 if page is not None else 404)
                self.send_header("Content-Length", str(len(page or b"")))
                self.end_headers()
                self.wfile.write(page or b"")

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"


@contextlib.contextmanager
def served() -> Iterator[Site]:
    site = Site()
    thread = threading.Thread(target=site.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.server.shutdown()
        site.server.server_close()
        thread.join()

"""The tokens of remote servers: one file for each server identity, readable by the user alone.

A server is its name and its address. Under a changed address nothing of the old one is found. Values of this
module hold secrets: no `repr` shows them, and nobody prints them.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from checkrein.base.files import locked, read_bytes, write_atomic
from checkrein.base.home import private_dir

FOLDER = "mcp-tokens"


class Record(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What is known of one server.

    `tokens`, `client`, `metadata` and `resource` are the documents as the wire has them. `expires_at` is in
    seconds since the epoch. `issuer` is who the configured client was first shown to: nobody else gets its
    secret. `wanted` are the scopes that the server asked for when nobody could consent.
    """

    url: str
    tokens: dict[str, Any] | None = None
    expires_at: float | None = None
    client: dict[str, Any] | None = None
    secret: str | None = None
    issuer: str | None = None
    metadata: dict[str, Any] | None = None
    resource: dict[str, Any] | None = None
    wanted: str | None = None

    def __repr__(self) -> str:
        return f"Record(url={self.url!r}, {'signed in' if self.tokens else 'not signed in'})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """Every value that no output may show."""
        found = [self.secret]
        for document in (self.tokens or {}, self.client or {}):
            found += [document.get(key) for key in ("access_token", "refresh_token", "client_secret")]
        return tuple(one for one in found if one)


class Drawer:
    """The file of one server. Several processes may use it."""

    def __init__(self, home: Path, name: str, url: str) -> None:
        folder = home / FOLDER
        digest = sha256(f"{name}\0{url}".encode("utf-8", "surrogatepass")).hexdigest()[:32]
        label = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:40]
        self.url = url
        self.path = folder / f"{label}-{digest}.json"
        self._lock = folder / ".lock"
        self._turn = folder / f".{digest}.turn"

    def read(self) -> Record:
        """An empty record when there is no file, or one that can't be read."""
        with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
            record = msgspec.json.decode(read_bytes(self.path).data or b"null", type=Record | None)
            if record is not None and record.url == self.url:
                return record
        return Record(url=self.url)

    def change(self, change: Callable[[Record], Record]) -> Record:
        """Replace the record by what `change` makes of it. Nobody else writes meanwhile."""
        self._folder()
        with locked(self._lock):
            record = change(self.read())
            write_atomic(self.path, msgspec.json.encode(record), mode=0o600)
        return record

    def remove(self) -> Record | None:
        """Forget the server. Gives what was known of it."""
        if not self.path.exists():
            return None
        with locked(self._lock):
            record = self.read()
            self.path.unlink(missing_ok=True)
        return record

    @contextlib.contextmanager
    def turn(self) -> Iterator[bool]:
        """Try to be the one that renews the token: False when another process does it right now."""
        self._folder()
        with locked(self._turn, blocking=False) as taken:
            yield taken

    def _folder(self) -> None:
        folder = private_dir(self.path.parent)
        if folder.stat().st_mode & 0o077:
            os.chmod(folder, 0o700)

"""What plugins of Checkrein's cache hold, read once: their content never changes, so neither does this.

One file for all plugins of a user's sessions, named by their hashes and by the version of the readers. A
plugin whose items do not come back from the file exactly as they were is left out, and read each time.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import DecodeError, EncodeError, Struct, ValidationError, json, msgpack

from checkrein.base.home import home_path
from checkrein.dialects.claude import plugins
from checkrein.model.project import Sources

_KEPT = 8
_FOLDER = "index"


class Wanted(Struct, frozen=True):
    """A plugin in the cache; `parts` is false for one that is switched off."""

    root: str
    marketplace: str
    enabled: bool
    entry: Mapping[str, Any] | None = None


def read_all(wanted: Sequence[Wanted], env: Mapping[str, str]) -> list[Sources]:
    """The items of each plugin, in order."""
    if not wanted:
        return []
    folder = os.path.join(home_path(env), "plugins", _FOLDER)
    path = os.path.join(folder, _key(wanted))
    known = _loaded(path)
    if known is None or len(known) != len(wanted):
        made = [_read(one) for one in wanted]
        _store(folder, path, made)
        return made
    return [_read(one) if found is None else found for one, found in zip(wanted, known, strict=True)]


def _read(one: Wanted) -> Sources:
    return plugins.read(
        one.root, marketplace=one.marketplace, enabled=one.enabled, parts=one.enabled, entry=one.entry
    )


def _key(wanted: Sequence[Wanted]) -> str:
    from checkrein.dialects import skills
    from checkrein.model import items

    text = hashlib.sha256(json.encode(wanted))
    for module in (plugins, skills, items):
        with contextlib.suppress(OSError, TypeError):
            text.update(str(os.stat(str(module.__file__)).st_mtime_ns).encode())
    return text.hexdigest()


def _loaded(path: str) -> list[Sources | None] | None:
    try:
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o022:
                return None
            data = file.read()
    except OSError:
        return None
    with _no_collection():
        try:
            return msgpack.decode(data, type=list[Sources | None])
        except (DecodeError, ValidationError, RecursionError):
            return None


def _store(folder: str, path: str, known: Sequence[Sources]) -> None:
    """Best effort: a home that can't be written only costs time."""
    from pathlib import Path

    from checkrein.base.files import write_atomic

    with contextlib.suppress(OSError, EncodeError, TypeError):
        kept = [one if _comes_back(one) else None for one in known]
        os.makedirs(folder, mode=0o700, exist_ok=True)
        write_atomic(Path(path), msgpack.encode(kept), mode=0o600)
        _trim(folder)


def _comes_back(one: Sources) -> bool:
    try:
        return msgpack.decode(msgpack.encode(one), type=Sources) == one
    except (EncodeError, TypeError, ValidationError, OverflowError):
        return False


def _trim(folder: str) -> None:
    """Keep the indexes that were made last."""
    found = sorted(os.scandir(folder), key=lambda entry: entry.stat().st_mtime, reverse=True)
    for old in found[_KEPT:]:
        os.unlink(old.path)


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Thousands of new objects, none of them garbage: looking for it would cost more than reading."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()

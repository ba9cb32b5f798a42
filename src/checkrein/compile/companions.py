"""Files beside the spec that travel with it: `scripts/`, `references/`, `assets/`, what the body names."""

from __future__ import annotations

import os
import re

from msgspec import Struct

from checkrein.base.files import read_bytes, read_text
from checkrein.base.secrets import looks_secret
from checkrein.facts import compile as facts

_SKIPPED = frozenset({"__pycache__", ".venv", "venv", "env", ".pytest_cache", "node_modules", ".git"})
_LICENSES = ("LICENSE", "LICENSE.txt", "LICENSE.md")
_NAMED = re.compile(r"\]\(([^)\s#]{1,300}+)[^)]{0,300}+\)|`([\w@./-]{1,300}\.\w{1,8})`")


class Companion(Struct, frozen=True):
    """`name` is the path below the spec's directory, `path` the one below the package."""

    name: str
    path: str
    data: bytes


def read_companions(directory: str, body: str, warnings: list[str]) -> tuple[Companion, ...]:
    """Companions by path in the package. Links, secrets and large files stay behind, with a warning.

    The package takes files of other folders when the body names them: programs below `scripts/`, the rest
    below `references/`."""
    found: dict[str, Companion] = {}
    total = 0
    for name in (*_in_folders(directory), *_named_in(directory, body)):
        path = os.path.join(directory, *name.split("/"))
        if os.path.islink(path) or not os.path.isfile(path):
            warnings.append(f"{name} is a link or not a regular file; it was not copied")
            continue
        size = os.path.getsize(path)
        total += size
        if size > facts.MAX_FILE_BYTES or total > facts.MAX_WORKSPACE_BYTES:
            warnings.append(f"{name} is too large; it was not copied")
            continue
        loaded = read_bytes(path, facts.MAX_FILE_BYTES, within=())
        if loaded.problem is not None:
            warnings.append(f"{name} {loaded.problem}; it was not copied")
            continue
        data = loaded.data
        if looks_secret(data.decode("utf-8", "replace")):
            warnings.append(f"{name} holds what looks like a secret; it was not copied")
            continue
        placed = _place(name)
        if placed in found:
            warnings.append(f"{name} would hide {found[placed].name}; it was not copied")
            continue
        found[placed] = Companion(name, placed, data)
    return tuple(found[path] for path in sorted(found))


def seen_only(directory: str) -> list[str]:
    """Folders that the inventory notes; compile does not read or copy them."""
    return [name for name in facts.SEEN_ONLY if os.path.isdir(os.path.join(directory, name))]


def _place(name: str) -> str:
    if name.split("/", 1)[0] in facts.COMPANIONS:
        return name
    return f"{'scripts' if os.path.splitext(name)[1] in facts.RUNNERS else 'references'}/{name}"


def _in_folders(directory: str) -> list[str]:
    found: list[str] = []
    for folder in facts.COMPANIONS:
        base = os.path.join(directory, folder)
        if os.path.islink(base) or not os.path.isdir(base):
            continue
        for here, folders, files in os.walk(base):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            found += [
                os.path.relpath(os.path.join(here, name), directory).replace(os.sep, "/")
                for name in sorted(files)
            ]
    return found


def _named_in(directory: str, body: str) -> list[str]:
    """Files of other folders that the body links to or names in code, never outside the spec's directory."""
    found: dict[str, None] = {}
    root = os.path.realpath(directory) + os.sep
    for link, code in dict.fromkeys(_NAMED.findall(body)):
        name = os.path.normpath((link or code).removeprefix("./")).replace(os.sep, "/")
        parts = name.split("/")
        if parts[0] in (*facts.COMPANIONS, *facts.SEEN_ONLY) or any(part.startswith(".") for part in parts):
            continue
        if name in facts.OWN_FILES or os.path.isabs(name) or not name:
            continue
        path = os.path.join(directory, *parts)
        if os.path.isfile(path) and os.path.realpath(path).startswith(root):
            found[name] = None
    return list(found)


def read_license(directory: str) -> str | None:
    for name in _LICENSES:
        path = os.path.join(directory, name)
        if os.path.isfile(path) and not os.path.islink(path):
            loaded = read_text(path, within=())
            if loaded.readable and not looks_secret(loaded.text):
                return loaded.text
    return None

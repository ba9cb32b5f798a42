"""Files beside the spec that travel with it: `scripts/`, `references/`, `assets/`, a licence."""

from __future__ import annotations

import os

from bridle.base.files import read_text
from bridle.base.secrets import looks_secret
from bridle.facts import compile as facts

_SKIPPED = frozenset({"__pycache__", ".venv", "venv", "env", ".pytest_cache", "node_modules", ".git"})
_LICENSES = ("LICENSE", "LICENSE.txt", "LICENSE.md")


def read_companions(directory: str, warnings: list[str]) -> tuple[tuple[str, bytes], ...]:
    """(path in the package, content), sorted. Links, secrets and large files stay behind, with a word."""
    found: list[tuple[str, bytes]] = []
    total = 0
    for folder in facts.COMPANIONS:
        base = os.path.join(directory, folder)
        if os.path.islink(base) or not os.path.isdir(base):
            continue
        for here, folders, files in os.walk(base):
            folders[:] = sorted(name for name in folders if name not in _SKIPPED)
            for name in sorted(files):
                path = os.path.join(here, name)
                shown = os.path.relpath(path, directory).replace(os.sep, "/")
                if os.path.islink(path) or not os.path.isfile(path):
                    warnings.append(f"{shown} is a link or no regular file; it was not copied")
                    continue
                size = os.path.getsize(path)
                total += size
                if size > facts.MAX_FILE_BYTES or total > facts.MAX_WORKSPACE_BYTES:
                    warnings.append(f"{shown} is too large; it was not copied")
                    continue
                with open(path, "rb") as file:
                    data = file.read()
                if looks_secret(data.decode("utf-8", "replace")):
                    warnings.append(f"{shown} holds what looks like a secret; it was not copied")
                    continue
                found.append((shown, data))
    return tuple(sorted(found))


def read_license(directory: str) -> str | None:
    for name in _LICENSES:
        path = os.path.join(directory, name)
        if os.path.isfile(path) and not os.path.islink(path):
            loaded = read_text(path)
            if loaded.readable and not looks_secret(loaded.text):
                return loaded.text
    return None

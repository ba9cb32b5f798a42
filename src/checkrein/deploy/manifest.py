"""The record of what deploy wrote: a hash for every file, so that update and undo touch no edited file."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec
from msgspec import Struct

from checkrein.base.errors import FileError
from checkrein.base.files import read_text, write_atomic
from checkrein.deploy.merge import Merge
from checkrein.facts.agents import DEPLOYED

MANIFEST_PATH = DEPLOYED
KEPT_DIR = ".checkrein/kept"
VERSION = 1


class Entry(Struct, frozen=True, omit_defaults=True):
    """One deployed file. `kept` is the hash of what `--force` overwrote, kept for undo.

    `before` is set only during a run: the hash of the file before it. `merge` is set for a file that is
    shared with the user, and says which parts of it are ours.
    """

    sha256: str
    targets: tuple[str, ...]
    executable: bool = False
    kept: str | None = None
    before: str | None = None
    merge: Merge | None = None

    def knows(self, sha256: str) -> bool:
        """True for content that we wrote, or were about to overwrite."""
        return sha256 in (self.sha256, self.before)


class Manifest(Struct, frozen=True):
    """Files by path, relative to the project. No clock and no user: the same deploy gives the same bytes."""

    files: dict[str, Entry] = {}
    version: int = VERSION


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def load_manifest(root: Path) -> Manifest:
    """Read the manifest of a project; an empty one when there is none. Raises FileError for a broken one."""
    path = root / MANIFEST_PATH
    found = read_text(path, limit=64 * 1024 * 1024)
    if not found.readable:
        if found.problem == "does not exist":
            return Manifest()
        raise FileError(f"{path} {found.problem}", kind="manifest_unreadable")
    try:
        manifest = msgspec.json.decode(found.text.encode(), type=Manifest)
    except msgspec.DecodeError as error:
        raise FileError(
            f"{path} is not a deploy manifest: {error}",
            kind="manifest_unreadable",
            hint="restore it from version control, or remove it and deploy again with --force",
        ) from error
    if manifest.version != VERSION:
        raise FileError(
            f"{path} has version {manifest.version}; this Checkrein knows {VERSION}",
            kind="manifest_unreadable",
        )
    return manifest


def save_manifest(root: Path, manifest: Manifest) -> None:
    """Write the manifest, sorted by path; remove the file when nothing is deployed any more."""
    path = root / MANIFEST_PATH
    if not manifest.files:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    ordered = Manifest(dict(sorted(manifest.files.items())), manifest.version)
    text = msgspec.json.format(msgspec.json.encode(ordered), indent=1)
    write_atomic(path, text + b"\n")

"""Writes a package: it replaces only our own files, deletes nothing, and stays in its directory."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from checkrein import __version__
from checkrein.base.errors import FileError, PolicyError
from checkrein.base.files import read_text, write_atomic
from checkrein.compile.artifacts import LockFile, encode
from checkrein.facts import compile as facts

Action = Literal["create", "update", "unchanged", "edited", "foreign", "left"]


class Change(Struct, frozen=True):
    """`edited` and `foreign` files block the write; `left` ones belong to an earlier compile and stay."""

    path: str
    action: Action


def lock_path(package: str) -> str:
    return f"{package}/intermediate/files.json"


def with_lock(package: str, files: dict[str, bytes]) -> dict[str, bytes]:
    """The files and the list of their hashes."""
    hashes = {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
    lock = {"format_version": facts.FORMAT_VERSION, "compiler": f"checkrein {__version__}", "files": hashes}
    return dict(sorted({**files, lock_path(package): encode("files.json", lock).encode()}.items()))


def compare(out: str | os.PathLike[str], package: str, files: dict[str, bytes]) -> tuple[Change, ...]:
    """What writing would do. `files` includes the lock."""
    root = Path(out)
    known = _recorded(root, package)
    changes = []
    for path, data in files.items():
        target = root / path
        _refuse_links(root, path)
        if not os.path.lexists(target):
            changes.append(Change(path, "create"))
            continue
        try:
            current = target.read_bytes()
        except OSError as error:
            raise FileError(f"{target} can't be read ({error.strerror}).", kind="output_conflict") from error
        if current == data:
            changes.append(Change(path, "unchanged"))
        elif path == lock_path(package) or known.get(path) == hashlib.sha256(current).hexdigest():
            changes.append(Change(path, "update"))
        else:
            changes.append(Change(path, "edited" if path in known else "foreign"))
    changes += [
        Change(path, "left") for path in sorted(known) if path not in files and (root / path).exists()
    ]
    return tuple(changes)


def write(
    out: str | os.PathLike[str], package: str, files: dict[str, bytes], *, force: bool = False
) -> tuple[Change, ...]:
    """Write the package, or nothing. Raises PolicyError (`output_conflict`) when files block it."""
    root = Path(out)
    changes = compare(root, package, files)
    blocked = [change for change in changes if change.action in ("edited", "foreign")]
    if blocked and not force:
        shown = ", ".join(change.path for change in blocked[:5])
        raise PolicyError(
            f"{root} has files that somebody edited or that compile did not write ({len(blocked)}): {shown}.",
            kind="output_conflict",
            hint="Choose another directory with -o, or replace them with --force.",
        )
    for change in changes:
        if change.action in ("unchanged", "left"):
            continue
        target = root / change.path
        target.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(target, files[change.path])
    return changes


def _recorded(root: Path, package: str) -> dict[str, str]:
    loaded = read_text(root / lock_path(package))
    if not loaded.readable:
        return {}
    try:
        return msgspec.json.decode(loaded.text.encode(), type=LockFile).files
    except (msgspec.DecodeError, msgspec.ValidationError):
        return {}


def _refuse_links(root: Path, path: str) -> None:
    """A link below the output directory could lead anywhere."""
    here = root
    for part in Path(path).parts:
        here = here / part
        if part in ("..", "") or here.is_symlink():
            raise PolicyError(
                f"{here} is a link; the package would go somewhere else.",
                kind="output_conflict",
                hint="Remove the link, or choose another directory.",
            )

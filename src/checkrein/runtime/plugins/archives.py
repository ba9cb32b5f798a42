"""Unpack archives of plugins: plain files only, bounded while they are read, whatever their headers say."""

from __future__ import annotations

import gzip
import io
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from checkrein.runtime.plugins.package_tree import (
    MOST_BYTES,
    MOST_ENTRIES,
    Budget,
    UnsafePackageError,
    put_file,
    require_name,
)

_BLOCK = 1 << 16
_TAIL = (1 << 16) + 22
_LARGEST_DIRECTORY = 8 << 20
_END, _END_64, _LOCATOR_64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_BROKEN = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, gzip.BadGzipFile),
    *(EOFError, NotImplementedError, RuntimeError, ValueError),
)


def unpack(file: str, target: str) -> str:
    """Unpack a zip or a compressed tar into the new directory `target`; gives the root of the package: the
    one folder that holds everything, or `target`. Raises UnsafePackageError."""
    os.mkdir(target, 0o700)
    try:
        if zipfile.is_zipfile(file):
            _unzip(file, target)
        elif _is_gzip(file):
            _untar(file, target)
        else:
            raise UnsafePackageError("The file is neither a zip nor a tar.gz archive.")
    except _BROKEN as error:
        raise UnsafePackageError(f"The archive is broken: {error}") from None
    return _only_folder(target)


def _unzip(file: str, target: str) -> None:
    _require_small_directory(file)
    budget = Budget()
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            mode = info.external_attr >> 16
            name = info.filename
            if "\\" in (info.orig_filename or ""):
                raise UnsafePackageError(f"The file name {info.orig_filename!r} holds a backslash.")
            if info.is_dir():
                budget.folder()
                require_name(name.rstrip("/"))
                continue
            require_name(name)
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG):
                raise UnsafePackageError(f"{name!r} is a link or not a plain file.")
            if info.flag_bits & 1:
                raise UnsafePackageError(f"{name!r} is encrypted.")
            if info.compress_type not in _PACKINGS:
                raise UnsafePackageError(f"{name!r} is packed in a way that plugins may not use.")
            if _is_metadata(name):
                continue
            budget.entry(name)
            with archive.open(info) as content:
                put_file(target, name, _blocks(content), bool(mode & 0o111), budget)


def _require_small_directory(file: str) -> None:
    """The list of files is read whole, so its size counts before it is read. It stands at the end of the
    archive, and for large ones in a record before the end, which then wins."""
    with open(file, "rb") as archive:
        archive.seek(max(0, os.path.getsize(file) - _TAIL))
        tail = archive.read()
    at = tail.rfind(_END)
    if at < 0 or len(tail) < at + 22:
        raise UnsafePackageError("The archive is broken: it has no end.")
    count, size = struct.unpack("<HI", tail[at + 10 : at + 16])
    if tail[max(0, at - 20) : at].startswith(_LOCATOR_64):
        record = tail[max(0, at - 76) : at - 20]
        if len(record) != 56 or not record.startswith(_END_64):
            raise UnsafePackageError("The archive is broken: its end is not where it says.")
        count, size = struct.unpack("<QQ", record[32:48])
    if count > MOST_ENTRIES or size > _LARGEST_DIRECTORY:
        raise UnsafePackageError(f"The package has more than {MOST_ENTRIES} files.")


class _Unpacked(io.RawIOBase):
    """The bytes of a gzip file, up to the limit of a package with its headers."""

    def __init__(self, file: str) -> None:
        self._source = gzip.open(file)  # noqa: SIM115
        self._left = 2 * MOST_BYTES

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._source.read(min(size, _BLOCK) if size >= 0 else _BLOCK)
        self._left -= len(data)
        if self._left < 0:
            raise UnsafePackageError(f"The package has more than {MOST_BYTES >> 20} MiB.")
        return data

    def close(self) -> None:
        self._source.close()
        super().close()


def _untar(file: str, target: str) -> None:
    budget = Budget()
    with _Unpacked(file) as content, tarfile.open(fileobj=content, mode="r|") as archive:
        for info in archive:
            name = info.name.removeprefix("./").rstrip("/")
            if info.isdir():
                budget.folder()
                if name not in ("", "."):
                    require_name(name)
                continue
            require_name(name)
            if not info.isreg():
                raise UnsafePackageError(f"{name!r} is a link or not a plain file.")
            budget.entry(name)
            body = archive.extractfile(info)
            if body is not None:
                put_file(target, name, _blocks(body), bool(info.mode & 0o111), budget)


def _is_gzip(file: str) -> bool:
    with open(file, "rb") as archive:
        return archive.read(2) == b"\x1f\x8b"


def _blocks(content: IO[bytes]) -> Iterator[bytes]:
    return iter(lambda: content.read(_BLOCK), b"")


def _is_metadata(name: str) -> bool:
    """What archivers of desktops add."""
    return name.startswith("__MACOSX/") or name.endswith("/.DS_Store") or name == ".DS_Store"


def _only_folder(target: str) -> str:
    found = os.listdir(target)
    inner = os.path.join(target, found[0]) if len(found) == 1 else ""
    plugin_dirs = (".claude-plugin", ".codex-plugin", "skills", "commands", "agents", "hooks")
    return inner if inner and os.path.isdir(inner) and found[0] not in plugin_dirs else target

"""Reading that never raises on a user's file; writing that happens completely or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from pathlib import Path

MAX_TEXT_BYTES = 4 * 1024 * 1024
LEAVES = "is reached through a symbolic link that leaves the project"
_BOM = b"\xef\xbb\xbf"
# Opening a pipe must not wait for a writer.
_OPEN_FLAGS = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


class Text(Struct, frozen=True):
    """A file as text. `problem` says why `text` is empty or why decoding changed it."""

    text: str
    problem: str | None = None
    readable: bool = True
    bom: bool = False


class Data(Struct, frozen=True):
    """A file's bytes. `problem` says why there are none."""

    data: bytes
    problem: str | None = None


def read_text(path: str | Path, limit: int = MAX_TEXT_BYTES, *, within: Sequence[str] | None = None) -> Text:
    """Read a regular file as UTF-8. Bytes that are not UTF-8 become U+FFFD; `problem` reports them."""
    found = read_bytes(path, limit, within=within)
    if found.problem is not None:
        return Text("", found.problem, readable=False)
    data = found.data
    bom = data.startswith(_BOM)
    if bom:
        data = data[3:]
    try:
        return Text(data.decode("utf-8"), bom=bom)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Text(data.decode("utf-8", "replace"), f"is not UTF-8 (line {line})", bom=bom)


def read_bytes(path: str | Path, limit: int = MAX_TEXT_BYTES, *, within: Sequence[str] | None = None) -> Data:
    """Read a regular file.

    With `within` (real directories), links are followed only to files below one of them or below the file's
    own directory. The opened file counts, not what the path led to a moment before.
    """
    try:
        descriptor = os.open(path, _OPEN_FLAGS)
    except OSError as error:
        return Data(b"", _explain(error))
    except ValueError:
        return Data(b"", "has a name with a null character")
    try:
        if within is not None and leaves(_real_path(descriptor, path), os.fspath(path), within):
            return Data(b"", LEAVES)
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            what = "is a directory, not a file" if stat.S_ISDIR(status.st_mode) else "is not a regular file"
            return Data(b"", what)
        data = os.read(descriptor, min(status.st_size, limit) + 1)
        while len(data) <= limit and (more := os.read(descriptor, 65_536)):
            data += more
    except OSError as error:
        return Data(b"", _explain(error))
    finally:
        os.close(descriptor)
    return Data(b"", f"is larger than {limit // 1024} KiB") if len(data) > limit else Data(data)


def read_own(path: str | Path) -> Data | None:
    """Read a file that only the user may write; None when it does not exist. `problem` says why it is not
    used."""
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if os.name == "posix" and (status.st_mode & 0o022 or status.st_uid != os.getuid()):
                return Data(b"", "is not used: others can write it. Run `chmod 600` on it.")
            return Data(file.read())
    except FileNotFoundError:
        return None
    except OSError as error:
        return Data(b"", f"can't be read: {error.strerror}")


def beneath(path: str, directory: str) -> bool:
    """Whether a path is the directory or below it. It looks at the text alone."""
    return path == directory or path.startswith(directory.rstrip(os.sep) + os.sep)


def leaves(real: str | None, path: str, within: Sequence[str]) -> bool:
    """Whether `path`, which leads to `real`, leads out of the directories `within` and its own."""
    if real is None:
        return True
    full = os.path.abspath(path)
    return real != full and not any(beneath(real, root) for root in (*within, os.path.dirname(full)))


def _real_path(descriptor: int, path: str | Path) -> str | None:
    """Where the opened file is; None when it moved while it was opened."""
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}")
    except OSError:
        real = os.path.realpath(path)
        try:
            same = os.path.samestat(os.lstat(real), os.fstat(descriptor))
        except OSError:
            return None
        return real if same else None


def _explain(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "does not exist"
    if isinstance(error, IsADirectoryError):
        return "is a directory, not a file"
    if isinstance(error, PermissionError):
        return "can't be read (permission denied)"
    if error.errno == 40:
        return "is a symbolic link that leads back to itself"
    return f"can't be read ({error.strerror or error})"


def write_atomic(path: Path, data: str | bytes, mode: int | None = None) -> None:
    """Write through a temporary file in the same directory, then rename over `path`."""
    payload = data.encode("utf-8") if isinstance(data, str) else data
    if mode is None:
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            mode = 0o666 & ~_umask()
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(payload)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def _umask() -> int:
    current = os.umask(0)
    os.umask(current)
    return current


@contextlib.contextmanager
def locked(path: Path, *, blocking: bool = True) -> Iterator[bool]:
    """Hold an exclusive advisory lock on `path` (created when missing); yields False when it is taken."""
    import fcntl

    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if blocking else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        yield True
    finally:
        os.close(descriptor)

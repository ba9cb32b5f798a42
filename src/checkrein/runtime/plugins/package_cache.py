"""The cache of plugins and marketplaces: one directory per content, named by its hash.

A content appears whole, by one rename, and never changes. Whoever is killed leaves at most a folder for
staging, which the next user of the cache removes when it is old.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from checkrein.base.errors import FileError
from checkrein.base.home import private_dir
from checkrein.dialects.claude.plugin_places import cache_dir, content_dir
from checkrein.runtime.plugins.package_tree import NO_ROOM, UnsafePackageError, content_hash

_STAGING = ".staging-"
_OLD = 24 * 3600.0


class PackageCache:
    def __init__(self, env: Mapping[str, str] | None = None) -> None:
        self.root = cache_dir(env)

    @contextlib.contextmanager
    def staging(self) -> Iterator[str]:
        """An empty folder on the same file system, gone afterwards."""
        folder = os.path.join(self.root, f"{_STAGING}{os.getpid()}-{os.urandom(6).hex()}")
        try:
            private_dir(Path(self.root))
            self._sweep_staging()
            os.mkdir(folder, 0o700)
            yield folder
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
            raise FileError(
                f"{self.root} has no room for the plugin: {error.strerror}.",
                kind="plugins_unwritable",
                hint="Make room there, or set CHECKREIN_HOME to another directory. Nothing was installed.",
            ) from None
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put(self, staged: str) -> str:
        """Take a staged directory in; gives the hash of its content."""
        hash = content_hash(staged)
        place = self.place(hash)
        for _ in range(2):
            try:
                os.rename(staged, place)
            except OSError:
                if not os.path.isdir(place):
                    raise
                if self.is_whole(hash):
                    break
                shutil.rmtree(place)
                continue
            break
        return hash

    def place(self, hash: str) -> str:
        """The directory of a content. Raises FileError for what is not a hash."""
        found = content_dir(hash, self.root)
        if found is None:
            raise FileError(f"{hash!r} is not a hash of a plugin.", kind="lock_broken")
        return found

    def has(self, hash: str) -> bool:
        return os.path.isdir(self.place(hash))

    def is_whole(self, hash: str) -> bool:
        """Whether the content is there and still has its hash."""
        try:
            return self.has(hash) and content_hash(self.place(hash)) == hash
        except (OSError, UnsafePackageError):
            return False

    def sweep(self, kept: Collection[str]) -> int:
        """Remove the contents that nobody uses any more; gives how many."""
        names = {os.path.basename(self.place(hash)) for hash in kept}
        gone = 0
        for name in os.listdir(self.root) if os.path.isdir(self.root) else ():
            place = os.path.join(self.root, name)
            if len(name) == 64 and name not in names and os.path.isdir(place):
                trash = os.path.join(self.root, f"{_STAGING}{name[:12]}-{os.urandom(4).hex()}")
                os.rename(place, trash)
                shutil.rmtree(trash, ignore_errors=True)
                gone += 1
        return gone

    def _sweep_staging(self) -> None:
        for name in os.listdir(self.root):
            path = os.path.join(self.root, name)
            with contextlib.suppress(OSError):
                if name.startswith(_STAGING) and time.time() - os.lstat(path).st_mtime > _OLD:
                    shutil.rmtree(path, ignore_errors=True)

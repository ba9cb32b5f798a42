"""A typed JSON file in the Checkrein home that only the user may write."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

import msgspec

from checkrein.base.errors import FileError
from checkrein.base.files import locked, read_own, write_atomic
from checkrein.base.home import private_dir

if TYPE_CHECKING:
    from pathlib import Path

T = TypeVar("T", bound=msgspec.Struct)


class HomeFile(Generic[T]):
    """Safe to use from several processes: every change takes a lock and reads the file again.

    A file that is broken, or that others can write, counts as `empty`. The next change sets it aside under
    the suffix `.broken`. `kind` is the kind of the error when the file can't be written.
    """

    def __init__(self, path: Path, empty: T, *, kind: str) -> None:
        self.path = path
        self._empty = empty
        self._kind = kind

    @property
    def problem(self) -> str | None:
        """Why the file is not used, or None."""
        return self.read()[1]

    def read(self) -> tuple[T, str | None]:
        """What it holds, and why the file is not used. Never raises."""
        found = read_own(self.path)
        if found is None:
            return self._empty, None
        if found.problem is not None:
            return self._empty, f"{self.path} {found.problem}"
        try:
            return msgspec.json.decode(found.data, type=type(self._empty)), None
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            return self._empty, f"{self.path} is broken: {error}"

    def change(self, change: Callable[[T], T]) -> None:
        """Replace what the file holds by what `change` makes of it. Raises FileError."""
        try:
            private_dir(self.path.parent)
            with locked(self.path.with_suffix(".lock")):
                found, problem = self.read()
                if problem is not None:
                    os.replace(self.path, self.path.with_suffix(".broken"))
                data = msgspec.json.format(msgspec.json.encode(change(found)), indent=1)
                write_atomic(self.path, data, mode=0o600)
        except OSError as error:
            raise FileError(
                f"{self.path} can't be written: {error.strerror or error}",
                kind=self._kind,
                hint="Check the permissions of the directory, or set CHECKREIN_HOME to another one.",
            ) from error

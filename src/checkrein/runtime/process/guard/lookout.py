"""Which starts of one command are clear, which are questions and which are refused at once."""

from __future__ import annotations

import itertools
import os

from checkrein.runtime.process.guard.caller import Caller
from checkrein.runtime.process.guard.executables import Executables
from checkrein.runtime.process.guard.faces import Face, Start, start_of
from checkrein.runtime.process.guard.identity import Files, Key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

_numbers = itertools.count(1)

Facts = tuple[str, tuple[str, ...], tuple[str, ...]]
"""Program, names and arguments of one face, for the session."""


class Lookout:
    """The watch of one command, in the terms of this machine."""

    def __init__(self, watch: Mapping[str, Any], path: str, cwd: str, files: Files) -> None:
        self._files = files
        self._every = bool(watch["every"])
        self._words: dict[str, list[tuple[str, ...]]] = {}
        for name, words in watch["programs"]:
            self._words.setdefault(name, []).append(tuple(words))
        self._watched = Executables(self._words, path, cwd, files)
        only = watch["only"]
        self._only = None if only is None else Executables(only, path, cwd, files)
        self.is_idle = not (self._every or self._words or only is not None)
        """No start is a question."""
        self.number = next(_numbers)
        """For those who remember what is clear here; 0 when they must not any more."""

    @property
    def is_current(self) -> bool:
        return self._watched.is_current and (self._only is None or self._only.is_current)

    def start(self, caller: Caller) -> Start:
        """Raises OSError and UnreadableError."""
        return start_of(caller, self._watched, self._files)

    def refused(self, start: Start) -> str | None:
        """Why this start is refused without a question."""
        if self.is_idle:
            return None
        for face in start.faces:
            if face.file is not None and not face.file.is_readable:
                return f"{face.real} can't be read, so it can't be judged"
        if self._only is not None and not self._is_among(self._only, start.faces):
            return (
                f"this command may start {', '.join(sorted(self._only.names)) or 'nothing'} and nothing else"
            )
        return None

    def open_faces(self, start: Start) -> list[Facts]:
        """The faces that a rule may be about."""
        return [_facts(face) for face in start.faces if self._every or self._may_match(face)]

    def always_clear(self, caller: Caller, start: Start) -> Key | None:
        """The file of a start that was clear, if it is clear whatever its other arguments. None when they
        matter, and when its rights are to be told."""
        face = start.faces[0]
        if self._every or start.powerless or len(start.faces) > 1 or face.file is None or not caller.argv:
            return None
        plain = self._watched.plain.get((face.file.key, caller.path, caller.argv[0]))
        if plain is None or face.file.interpreter is not None or not plain[1].isdisjoint(self._words):
            return None
        return face.file.key

    def _may_match(self, face: Face) -> bool:
        for name in face.names & self._words.keys():
            said = " ".join(map(os.fsdecode, face.argv))
            if any(all(word in said for word in words) for words in self._words[name]):
                return True
        return False

    def _is_among(self, only: Executables, faces: list[Face]) -> bool:
        """A script that may start brings its interpreters along. What a loader or a multi-call program starts
        must be allowed itself."""
        first = faces[0]
        if first.file is None or not only.admits(first.file, first.names):
            return False
        is_script = first.file.interpreter is not None
        return all(
            is_script or only.admits(face.file, face.names)
            if face.file
            else not face.names.isdisjoint(only.names)
            for face in faces[1:]
        )


def _facts(face: Face) -> Facts:
    argv = tuple(map(os.fsdecode, face.argv))
    return face.real, tuple(sorted(face.names)), argv

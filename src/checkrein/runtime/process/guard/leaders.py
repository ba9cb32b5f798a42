"""The process number of each guarded command, in memory that the warden writes and the session reads.

The session needs the number only when the warden has died. A message would wake the session up for it in the
middle of every start.
"""

from __future__ import annotations

import itertools
import mmap
import os
import struct

_NUMBER = struct.Struct("=i")
_PLACES = 4096


class Leaders:
    """The session's side. Places come around again: a warden with so many commands at once has gone wrong."""

    def __init__(self) -> None:
        self.descriptor = os.memfd_create("leaders", os.MFD_CLOEXEC)
        os.truncate(self.descriptor, _PLACES * _NUMBER.size)
        self._numbers = mmap.mmap(self.descriptor, _PLACES * _NUMBER.size)
        self._next = itertools.cycle(range(0, _PLACES * _NUMBER.size, _NUMBER.size))

    def place(self) -> int:
        """For the next command. Any thread may ask."""
        place = next(self._next)
        _NUMBER.pack_into(self._numbers, place, 0)
        return place

    def number(self, place: int) -> int:
        """0 when the command has not been started."""
        return int(_NUMBER.unpack_from(self._numbers, place)[0])

    def close(self) -> None:
        """Nothing new starts. What is written stays."""
        os.close(self.descriptor)


def note(leaders: int, place: int, number: int) -> None:
    """The warden's side."""
    os.pwrite(leaders, _NUMBER.pack(number), place)

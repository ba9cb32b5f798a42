"""The memory of another process, several places in one call.

The kernel has a call for it since 3.2, but some containers forbid it: then nothing is found here.
"""

from __future__ import annotations

import ctypes
import mmap
import struct

from checkrein.runtime.process.guard.syscalls import LIBRARY

_ROOM = 1 << 17
_PLACES = struct.Struct("=QQQQ")

found = bytearray(_ROOM)
"""What the last `read` has read. The next one writes over it."""
_base = ctypes.addressof((ctypes.c_char * _ROOM).from_buffer(found))
_call = LIBRARY.process_vm_readv
_call.argtypes = (
    *(ctypes.c_int, ctypes.c_char_p, ctypes.c_ulong),
    *(ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong),
)
_call.restype = ctypes.c_ssize_t


def within_page(address: int, size: int) -> int:
    """So much of `size` lies in one page, where a read can't be cut short."""
    return min(size, mmap.PAGESIZE - address % mmap.PAGESIZE)


def read(pid: int, first: tuple[int, int], second: tuple[int, int] = (0, 0)) -> int:
    """Read two places (address and size), one after the other, into `found`. Returns how many bytes are
    there; -1 when nothing can be read."""
    size = first[1] + second[1]
    if size > _ROOM:
        return -1
    into = _PLACES.pack(_base, size, 0, 0)
    places = _PLACES.pack(*first, *second)
    return int(_call(pid, into, 1, places, 2 if second[1] else 1, 0))

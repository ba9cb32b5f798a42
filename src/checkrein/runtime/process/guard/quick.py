"""Clear starts answered by compiled code: the seam to `quick.c`.

Most starts are one program that no rule is about, whatever its arguments. Python judges the first start of
such a file; the library answers the next ones by itself, and compares what has started. Everything else comes
to Python with what the library has received. The library may be missing: then Python does it all.
"""

from __future__ import annotations

import ctypes
import os
import struct
import zlib

from checkrein.runtime.process.guard.arrivals import Arrivals
from checkrein.runtime.process.guard.notification import Notification
from checkrein.runtime.process.guard.resolution import is_peculiar
from checkrein.runtime.process.guard.tracer import PATIENCE, Expected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from checkrein.runtime.process.guard.caller import Caller
    from checkrein.runtime.process.guard.faces import Start
    from checkrein.runtime.process.guard.launch import Launch
    from checkrein.runtime.process.guard.lookout import Lookout
    from checkrein.runtime.process.guard.tracer import Tracer

_SOURCES = tuple(os.path.join(os.path.dirname(__file__), name) for name in ("quick.c", "spare.c"))
_FILE = struct.Struct("=3Q2q")
_MOST_SEEN = 512
_SECOND = 1_000_000_000


class _Expected(ctypes.Structure):
    _fields_ = (
        ("pid", ctypes.c_int32),
        ("command", ctypes.c_uint32),
        ("device", ctypes.c_uint64),
        ("inode", ctypes.c_uint64),
        ("began", ctypes.c_int64),
        ("size", ctypes.c_uint64),
        ("line", ctypes.c_void_p),
    )


class _Received(ctypes.Structure):
    _fields_ = (
        ("call_state", ctypes.c_int32),
        ("call_error", ctypes.c_int32),
        ("call", ctypes.c_uint8 * 80),
        ("pid", ctypes.c_int32),
        ("status", ctypes.c_int32),
        ("given", ctypes.POINTER(_Expected)),
    )


class UnusableError(Exception):
    """There is no library, or it is not the one that belongs to this code."""


class QuickArrivals(Arrivals):
    def __init__(self, library: ctypes.PyDLL, tracer: Tracer) -> None:
        """Raises UnusableError."""
        super().__init__()
        self._library = library
        self._wait = library.quick_wait
        self._tracer = tracer
        self._launches: dict[int, Launch] = {}
        self._numbers: dict[Launch, int] = {}
        self._last = 0
        self._seen = (ctypes.c_int32 * _MOST_SEEN)()
        sizes = (ctypes.c_uint32 * 3)(ctypes.sizeof(_Received), ctypes.sizeof(_Expected), _FILE.size)
        received = library.quick_open(self.poll.fileno(), self.signals, int(PATIENCE * _SECOND), sizes)
        if not received:
            self.poll.close()
            os.close(self.signals)
            raise UnusableError("it was made for another kernel or another form of this code")
        self._received: _Received = received.contents

    def wait(self, patience: float | None) -> int:
        return int(self._wait(-1 if patience is None else int(patience * _SECOND)))

    def overdue(self) -> None:
        while self._library.quick_overdue():
            self._adopt()

    def call(self, launch: Launch) -> Notification:
        received = self._received
        self._adopt()
        if not received.call_state:
            return super().call(launch)
        self._note_seen(launch)
        if received.call_state < 0:
            raise OSError(received.call_error, os.strerror(received.call_error))
        received.call_state = 0
        return Notification(launch.listener, bytes(received.call))

    def change(self) -> tuple[int, int]:
        if not self._library.quick_change():
            return 0, 0
        self._adopt()
        pid, self._received.pid = self._received.pid, 0
        return pid, self._received.status

    def begun(self, launch: Launch) -> None:
        self._last += 1
        if launch.lookout.number and self._library.quick_listen(
            self._last, launch.lookout.number, launch.listener
        ):
            self._launches[self._last] = launch
            self._numbers[launch] = self._last

    def closed(self, launch: Launch) -> None:
        number = self._numbers.get(launch)
        if number is None:
            return
        self._note_seen(launch)
        while self._library.quick_forget(number):
            self._adopt()
        del self._launches[number], self._numbers[launch]

    def cleared(self, launch: Launch, caller: Caller, start: Start) -> None:
        lookout = launch.lookout
        if not lookout.number or caller.path[:1] != b"/" or is_peculiar(caller.path):
            return
        key = lookout.always_clear(caller, start)
        if key is not None:
            path, name = caller.path, caller.argv[0]
            self._library.quick_admit(lookout.number, _FILE.pack(*key), path, len(path), name, len(name))

    def outdated(self, lookout: Lookout) -> None:
        self._library.quick_drop(lookout.number)
        lookout.number = 0

    def _note_seen(self, launch: Launch) -> None:
        count = self._library.quick_seen(self._numbers.get(launch, 0), self._seen)
        launch.seen.update(self._seen[:count])

    def _adopt(self) -> None:
        """A start that the library followed is the tracer's from now on."""
        given = self._received.given
        if not given:
            return
        one = given.contents
        line = ctypes.string_at(one.line, one.size)
        expected = Expected(-one.pid, (one.device, one.inode), line, self._launches[one.command])
        expected.began = one.began / _SECOND
        self._received.given = None
        self._tracer.adopt(expected)


def arrivals(library: ctypes.PyDLL | None, tracer: Tracer) -> Arrivals:
    """With the library, where that can be used."""
    try:
        return Arrivals() if library is None else QuickArrivals(library, tracer)
    except UnusableError:
        return Arrivals()


def usable(path: str) -> ctypes.PyDLL | None:
    """The library at this path; None when it is not wanted, or of no use."""
    try:
        return load(path) if path else None
    except UnusableError:
        return None


def load(path: str) -> ctypes.PyDLL:
    """Raises UnusableError."""
    source = 0
    try:
        for one in _SOURCES:
            with open(one, "rb") as file:
                source = zlib.crc32(file.read(), source)
        library = ctypes.PyDLL(path)
        if ctypes.c_uint32.in_dll(library, "quick_source").value != source:
            raise UnusableError("it was made from another source")
    except (OSError, ValueError) as error:
        raise UnusableError(str(error)) from error
    library.quick_nursery.argtypes = (
        *(ctypes.c_int, ctypes.c_int32, ctypes.c_int32),
        *(ctypes.c_char_p, ctypes.c_uint32),
    )
    library.quick_open.restype = ctypes.POINTER(_Received)
    library.quick_open.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_void_p)
    library.quick_wait.argtypes = (ctypes.c_int64,)
    library.quick_listen.argtypes = (ctypes.c_uint32, ctypes.c_uint32, ctypes.c_int)
    library.quick_seen.argtypes = (ctypes.c_uint32, ctypes.c_void_p)
    library.quick_forget.argtypes = (ctypes.c_uint32,)
    library.quick_admit.argtypes = (
        *(ctypes.c_uint32, ctypes.c_char_p),
        *(ctypes.c_char_p, ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint32),
    )
    library.quick_drop.argtypes = (ctypes.c_uint32,)
    return library

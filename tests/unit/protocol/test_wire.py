"""Lines in and out: whole, at once, from any thread."""

from __future__ import annotations

import io
import json
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checkrein.protocol.wire import LineReader, LineWriter

LIMIT = 30.0


class Taken:
    """What a reader hands over; `enough` lines end it."""

    def __init__(self, enough: int = 1 << 30) -> None:
        self.lines: list[tuple[int, bytes | None]] = []
        self.ended = threading.Event()
        self.arrived = threading.Semaphore(0)
        self._enough = enough

    def __call__(self, number: int, line: bytes | None) -> bool:
        self.lines.append((number, line))
        self.arrived.release()
        if line is None or len(self.lines) >= self._enough:
            self.ended.set()
        return len(self.lines) < self._enough


def read(data: bytes) -> list[tuple[int, bytes | None]]:
    """The lines of a pipe that gets `data` in odd portions."""
    reading, writing = os.pipe()
    taken = Taken()
    with os.fdopen(reading, "rb") as stream, os.fdopen(writing, "wb") as sink:
        reader = LineReader(taken, stream)
        reader.start()
        for at in range(0, len(data), 7):
            sink.write(data[at : at + 7])
            sink.flush()
        sink.close()
        assert taken.ended.wait(LIMIT)
        reader.close()
    return taken.lines


@settings(max_examples=60, derandomize=True, deadline=None)
@given(st.binary(max_size=60).map(lambda raw: raw.replace(b"\r", b"\n")))
def test_lines_are_those_of_the_stream(data: bytes) -> None:
    wanted = [(n, line) for n, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    assert read(data) == [*wanted, (0, None)]


def test_a_long_line() -> None:
    reading, writing = os.pipe()
    taken, line = Taken(), b"x" * (10 << 20)
    with os.fdopen(reading, "rb") as stream, ThreadPoolExecutor(1) as pool:
        reader = LineReader(taken, stream)
        reader.start()
        pool.submit(lambda: _write_and_close(writing, line + b"\n"))
        assert taken.ended.wait(LIMIT)
        reader.close()
    assert taken.lines == [(1, line), (0, None)]


def _write_and_close(descriptor: int, data: bytes) -> None:
    with os.fdopen(descriptor, "wb") as sink:
        sink.write(data)


def test_a_line_is_seen_before_the_end_of_the_input() -> None:
    reading, writing = os.pipe()
    taken = Taken()
    with os.fdopen(reading, "rb") as stream:
        reader = LineReader(taken, stream)
        reader.start()
        os.write(writing, b"one\ntw")
        assert taken.arrived.acquire(timeout=LIMIT)
        assert taken.lines == [(1, b"one")]
        reader.close()
        os.close(writing)


def test_closing_ends_a_reader_that_waits() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as stream:
        reader = LineReader(Taken(), stream)
        reader.start()
        reader.close()
        assert not reader._thread.is_alive()
    os.close(writing)


def test_enough_is_enough() -> None:
    taken = Taken(enough=1)
    reader = LineReader(taken, io.BytesIO(b"one\ntwo\n"))
    reader.start()
    assert taken.ended.wait(LIMIT)
    reader.close()
    assert taken.lines == [(1, b"one\n")]


def test_writers_do_not_mix() -> None:
    class Slow(io.BytesIO):
        def write(self, data: bytes) -> int:  # type: ignore[override]
            for byte in data:
                super().write(bytes([byte]))
            return len(data)

    stream = Slow()
    out = LineWriter(stream)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: out.write({"n": n, "text": "x" * 500}), range(64)))
    found = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert sorted(frame["n"] for frame in found) == list(range(64))


def test_a_reader_that_left() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    stream = os.fdopen(writing, "wb")
    out = LineWriter(stream)
    with pytest.raises(BrokenPipeError):
        out.write({})
    with pytest.raises(BrokenPipeError):
        stream.close()


def test_no_standard_output(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    LineWriter().write({"a": 1})


def test_no_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)
    taken = Taken()
    reader = LineReader(taken)
    reader.start()
    assert taken.ended.wait(LIMIT)
    reader.close()
    assert taken.lines == [(0, None)]

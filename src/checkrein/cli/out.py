"""Where the command line writes: the only way to standard output, standard error and the terminal.

`guarded` stands before both streams. Text for people has no harmful character left, on a terminal and in a
pipe; the only escape sequences are the colours of `style`, which carry a number that no other text can know.
`give` is for data, such as a model's answer: unchanged in a pipe or a file, harmless on a terminal. Bytes are
JSON: unchanged in a pipe, on a terminal the same JSON with escapes.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
import threading
from collections.abc import Iterator
from typing import Any, BinaryIO, Protocol, TextIO

from checkrein.base.harmless import harmless, harmless_json

_OURS = str(int.from_bytes(os.urandom(6), "big") + 10**9)
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_COLORS = {"red": 31, "green": 32, "yellow": 33, "blue": 34, "magenta": 35, "cyan": 36}


def style(text: str, fg: str | None = None, *, bold: bool = False, dim: bool = False) -> str:
    """Coloured text. Where there are no colours, `say` takes them out again. `NO_COLOR` and a dumb terminal
    want none at all."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return text
    codes = [str(_COLORS[fg])] if fg else []
    codes += ["1"] if bold else []
    codes += ["2"] if dim else []
    return f"\x1b[{_OURS};{';'.join(codes)}m{text}\x1b[{_OURS};0m" if codes else text


class Elsewhere(Protocol):
    """Shows and asks in the place of the two streams: the screen, while a command runs inside of it."""

    def say(self, text: str) -> None: ...
    def confirm(self, question: str) -> bool: ...
    def prompt(self, question: str, *, hidden: bool) -> str: ...


class _Here(threading.local):
    elsewhere: Elsewhere | None = None


_here = _Here()


@contextlib.contextmanager
def sent_to(elsewhere: Elsewhere) -> Iterator[None]:
    """Let `elsewhere` show and ask what this thread says and asks inside."""
    _here.elsewhere = elsewhere
    try:
        yield
    finally:
        _here.elsewhere = None


def say(text: str = "", *, err: bool = False, nl: bool = True) -> None:
    """Print text for people."""
    if _here.elsewhere is not None:
        _here.elsewhere.say(text)
        return
    stream = sys.stderr if err else sys.stdout
    if stream is None:
        return
    if sys.platform == "win32" or getattr(stream, "encoding", None) != "utf-8":
        import click

        click.echo(text, err=err, nl=nl)
        return
    stream.write(f"{text if stream.isatty() else _ESCAPES.sub('', text)}{chr(10) * nl}")
    stream.flush()


def give(text: str) -> None:
    """Print data: what a program in a pipe reads."""
    stream = sys.stdout
    if isinstance(stream, _Guard) and not stream.isatty():
        stream.pass_through(text if text.endswith("\n") else f"{text}\n")
    else:
        say(text, nl=not text.endswith("\n"))


def give_bytes(data: bytes) -> None:
    """Print JSON. Raises OSError when nobody reads it, AttributeError when there is no standard output."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def confirm(question: str) -> bool:
    """Ask on the terminal. Raises KeyboardInterrupt when the person interrupts."""
    if _here.elsewhere is not None:
        return _here.elsewhere.confirm(question)
    import click

    with _interruptible():
        return click.confirm(question, default=False, err=True)


def prompt(question: str, **options: Any) -> Any:
    if _here.elsewhere is not None:
        return _here.elsewhere.prompt(question, hidden=bool(options.get("hide_input")))
    import click

    with _interruptible():
        return click.prompt(question, err=True, **options)


@contextlib.contextmanager
def _interruptible() -> Iterator[None]:
    import click

    try:
        yield
    except click.Abort:
        raise KeyboardInterrupt from None


def screen_stream() -> TextIO:
    """Standard output without its guard, for the screen: its ink makes every text harmless itself."""
    stream = sys.stdout
    return stream.bare if isinstance(stream, _Guard) else stream


def pieces(text: str) -> list[tuple[tuple[int, ...], str]]:
    """A text in parts, each with the codes of the colours that `style` gave it."""
    parts = re.split(rf"\x1b\[{_OURS};([0-9;]+)m", text)
    found: list[tuple[tuple[int, ...], str]] = [((), parts[0])]
    for codes, said in zip(parts[1::2], parts[2::2], strict=True):
        found.append((tuple(int(one) for one in codes.split(";") if one != "0"), said))
    return found


def trace() -> None:
    """Print where an error happened, for whoever sets CHECKREIN_TRACEBACK."""
    if os.environ.get("CHECKREIN_TRACEBACK"):
        import traceback

        say(traceback.format_exc(), err=True)


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Make everything harmless that is written inside, also what Python itself or a library prints."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _guard(sys.stdout), _guard(sys.stderr)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _guard(stream: Any) -> Any:
    return stream if stream is None or isinstance(stream, _Guard) else _Guard(stream)


class _Guard:
    """A text stream that lets nothing harmful through. What it does not define is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._buffer: _Bytes | None = None

    def write(self, text: str) -> int:
        if not isinstance(text, str):
            raise TypeError("text is wanted")
        self._stream.write(_shown(text))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    @property
    def bare(self) -> TextIO:
        return self._stream

    def pass_through(self, text: str) -> None:
        self._stream.write(text.encode("utf-8", "replace").decode())
        self._stream.flush()

    @property
    def buffer(self) -> Any:
        if self._buffer is None:
            self._buffer = _Bytes(self._stream.buffer)
        return self._buffer

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class _Bytes:
    """The bytes below a guarded stream."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> int:
        if not isinstance(data, bytes | bytearray | memoryview):
            raise TypeError("bytes are wanted")
        if self._stream.isatty():
            shown = harmless_json(bytes(data).decode("utf-8", "replace"))
            self._stream.write(shown.encode("utf-8", "replace"))
        else:
            self._stream.write(data)
        return len(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def _shown(text: str) -> str:
    if "\x1b" not in text:
        return harmless(text)
    pieces = re.split(rf"\x1b\[{_OURS};([0-9;]+)m", text)
    return "".join(f"\x1b[{piece}m" if at % 2 else harmless(piece) for at, piece in enumerate(pieces))

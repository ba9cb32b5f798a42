"""Scripts of sed: which files they read and write, and whether they run commands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.options import Options, split_options

_VALUES = "elf"
_LONG = ("expression", "file", "line-length")
_FLAGS = frozenset("nErsuzbl") | {
    "quiet",
    "silent",
    "regexp-extended",
    "separate",
    "unbuffered",
    "null-data",
    "zero-terminated",
    "line-length",
    "posix",
    "debug",
    "sandbox",
    "binary",
    "version",
    "help",
    "follow-symlinks",
}
_ADDRESS = re.compile(r"\d+(?:~\d+)?|\$|[+~]\d+")
_STREAMS = ("/dev/stdout", "/dev/stderr", "/dev/stdin")
_SET = re.compile(r"\[\^?\]?")
_CLASS = re.compile(r"\[[:.=]")
_SUBSTITUTE_FLAGS = re.compile(r"[gpiImM0-9]*")


class Script(Struct):
    """`known` is false when the script is not all there, or not understood."""

    reads: list[str] = []
    writes: list[str] = []
    runs: bool = False
    known: bool = True


class Sed(Struct, frozen=True):
    """A call of sed: its script, the files it works on, and the words after the script."""

    script: Script
    operands: tuple[str, ...]
    in_place: bool
    other: bool
    """It has options of unknown meaning."""
    files: tuple[str, ...]
    """Files with scripts."""
    backups: tuple[str, ...]

    @property
    def only_reads(self) -> bool:
        script = self.script
        return script.known and not (
            script.runs or script.writes or self.in_place or self.other or self.files
        )


def read_sed(words: Sequence[str]) -> Sed:
    """`words` are those after the name."""
    options = split_options(_in_place_last(words), _VALUES, _LONG)
    texts = options.values(("e", "expression"))
    files = options.values(("f", "file"))
    operands = list(options.operands)
    if not texts and not files:
        texts, operands = operands[:1], operands[1:]
    script = _parse("\n".join(texts))
    if files or not all(is_static(text) for text in texts):
        script.known = False
    in_place = any(
        flag == "i" or (len(flag) > 1 and "in-place".startswith(flag)) for flag, _ in options.flags
    )
    return Sed(script, tuple(operands), in_place, _others(options), tuple(files), tuple(_backups(options)))


def _in_place_last(words: Sequence[str]) -> list[str]:
    """`-i.bak` as `--in-place=.bak`: the letters after `i` are a suffix."""
    found: list[str] = []
    for word in words:
        at = re.match(r"-[nErsuzb]*i", word)
        if at and not word.startswith("--"):
            found.extend([f"-{word[1 : at.end() - 1]}"] if at.end() > 2 else [])
            suffix = word[at.end() :]
            found.append(f"--in-place={suffix}" if suffix else "-i")
        else:
            found.append(word)
    return found


def _others(options: Options) -> bool:
    return any(
        flag not in _FLAGS
        and flag not in ("e", "f", "i", "expression", "file")
        and not (len(flag) > 1 and "in-place".startswith(flag))
        for flag, _ in options.flags
    )


def _backups(options: Options) -> list[str]:
    """The directory of a backup, when the suffix names one: `-i'bak/*'`."""
    return [
        value.rpartition("/")[0] or "/"
        for flag, value in options.flags
        if value and len(flag) > 1 and "in-place".startswith(flag) and "/" in value
    ]


def _parse(text: str) -> Script:
    out = Script()
    try:
        _Reader(text, out).commands()
    except _NotUnderstoodError:
        out.known = False
    return out


class _NotUnderstoodError(Exception):
    pass


class _Reader:
    def __init__(self, text: str, out: Script) -> None:
        self.text = text
        self.at = 0
        self.out = out
        self.open_until = 0
        """Up to here no bracket is closed."""

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def skip(self, chars: str) -> None:
        while self.peek() and self.peek() in chars:
            self.at += 1

    def line(self) -> str:
        end = self.text.find("\n", self.at)
        end = len(self.text) if end < 0 else end
        found, self.at = self.text[self.at : end], end
        return found

    def commands(self) -> None:
        while True:
            self.skip(" \t\n;")
            if not self.peek():
                return
            self._addresses()
            self._command()

    def _addresses(self) -> None:
        while True:
            char = self.peek()
            if char in ("/", "\\"):
                if char == "\\":
                    self.at += 1
                self._delimited()
                while self.peek() and self.peek() in "IM":
                    self.at += 1
            elif found := _ADDRESS.match(self.text, self.at):
                self.at = found.end()
            elif char and char in ", \t":
                self.at += 1
            else:
                break
        self.skip(" \t!")

    def _delimited(self) -> str:
        """The text up to the next delimiter; the delimiter is the character here."""
        delimiter = self.peek()
        if not delimiter or delimiter in "\n\\":
            raise _NotUnderstoodError
        self.at += 1
        start = self.at
        while self.peek() != delimiter:
            char = self.peek()
            if not char:
                raise _NotUnderstoodError
            if char == "[":
                self._bracket(delimiter)
                continue
            self.at += 2 if char == "\\" else 1
        found = self.text[start : self.at]
        self.at += 1
        return found

    def _bracket(self, delimiter: str) -> None:
        """Versions of sed disagree on a delimiter in brackets."""
        end = self._closing()
        if end is None:
            self.at += 1
            return
        if delimiter in self.text[self.at : end]:
            raise _NotUnderstoodError
        self.at = end

    def _closing(self) -> int | None:
        """Where the set of characters ends that starts here; None when it is only a bracket."""
        if self.at < self.open_until:
            return None
        line = self.text.find("\n", self.at)
        line = len(self.text) if line < 0 else line
        start = _SET.match(self.text, self.at)
        at = start.end() if start else self.at + 1
        while True:
            close = self.text.find("]", at, line)
            if close < 0:
                self.open_until = line
                return None
            inner = _CLASS.search(self.text, at, close)
            if inner is None:
                return close + 1
            end = self.text.find(f"{inner.group()[1]}]", inner.end(), line)
            if end < 0:
                raise _NotUnderstoodError
            at = end + 2

    def _command(self) -> None:
        char = self.peek()
        self.at += 1
        if char in "={}dDFgGhHnNpPxz":
            return
        if char == "#":
            self.line()
        elif char in ("a", "i", "c"):
            self._text()
        elif char in ("b", "t", "T", ":"):
            self.skip(" \t")
            while self.peek() and self.peek() not in " \t\n;}":
                self.at += 1
        elif char in ("l", "L", "q", "Q"):
            self.skip(" \t0123456789")
        elif char in ("r", "R", "w", "W"):
            name = self.line().strip()
            (self.out.reads if char in "rR" else self.out.writes).extend([name] * (name not in _STREAMS))
        elif char == "s":
            self._substitute()
        elif char == "y":
            self._delimited()
            self.at -= 1
            self._delimited()
        elif char == "v":
            self.line()
        elif char == "e":
            self.out.runs = True
            self.line()
        else:
            raise _NotUnderstoodError

    def _text(self) -> None:
        while self.line().endswith("\\") and self.peek():
            self.at += 1

    def _substitute(self) -> None:
        self._delimited()
        self.at -= 1
        start, delimiter = self.at, self.peek()
        self.at += 1
        while self.peek() != delimiter:
            if not self.peek():
                raise _NotUnderstoodError
            self.at += 2 if self.peek() == "\\" else 1
        if ANY in self.text[start : self.at]:
            raise _NotUnderstoodError
        self.at += 1
        while True:
            found = _SUBSTITUTE_FLAGS.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.peek() == "e":
                self.out.runs = True
                self.at += 1
                continue
            break
        if self.peek() == "w":
            self.at += 1
            name = self.line().strip()
            self.out.writes.extend([name] * (name not in _STREAMS))
        elif self.peek() and self.peek() not in " \t\n;}#":
            raise _NotUnderstoodError

"""Every program that one exec starts: a script and its interpreter, what a loader loads, what a multi-call
program is, what an interpreter is given."""

from __future__ import annotations

import errno
import os
import stat

from checkrein.runtime.process.guard.caller import Caller, UnreadableError
from checkrein.runtime.process.guard.executables import MULTI_CALL, Executables
from checkrein.runtime.process.guard.identity import File, Files, key_of
from checkrein.runtime.process.guard.resolution import has_our_view, is_peculiar, open_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_INTERPRETERS = 5
_DEEPEST = 6
_LOADER_OPTIONS = frozenset(
    b"--library-path --glibc-hwcaps-prepend --glibc-hwcaps-mask "
    b"--inhibit-rpath --audit --preload --argv0".split()
)
_SHELLS = frozenset(b"sh bash dash zsh ksh mksh pdksh ash hush fish csh tcsh rsh".split())
_INTERPRETERS = frozenset(
    b"python pypy perl ruby node nodejs php lua tclsh deno bun awk gawk mawk env expect wish guile Rscript "
    b"osascript pwsh".split()
)
_MOST_LOOKED_AT = 20_000
_INPUT = (b"-", b"/dev/stdin", b"/dev/fd/0", b"/proc/self/fd/0")


class Face:
    """One program of a start. `real` is the path that it was found at; `file` None when only its name is
    known."""

    __slots__ = ("argv", "file", "names", "real")

    def __init__(self, real: str, names: set[str], argv: list[bytes], file: File | None) -> None:
        self.real = real
        self.names = names
        self.argv = argv
        self.file = file


class Start:
    """All faces of one exec, and what the kernel will show of it afterwards: the number of the executable and
    the command line."""

    __slots__ = ("faces", "inode", "line", "powerless")

    def __init__(self) -> None:
        self.faces: list[Face] = []
        self.inode = (0, 0)
        self.line = b""
        self.powerless = False


def start_of(caller: Caller, watched: Executables, files: Files) -> Start:
    """Raises OSError when the kernel will refuse the start by itself, UnreadableError when we must."""
    known = _known(caller, watched)
    if known is not None:
        return known
    start = Start()
    path, argv, shown = caller.path, caller.argv, caller.name_for_interpreter
    descriptor = open_program(caller.pid, caller.base, path)
    for _ in range(_MOST_INTERPRETERS + 1):
        try:
            about = os.fstat(descriptor)
            if not stat.S_ISREG(about.st_mode):
                raise OSError(errno.EACCES, "not a regular file")
            file = files.at(descriptor)
            start.faces += _faces(caller, watched, files, descriptor, file, path, argv)
        finally:
            os.close(descriptor)
        start.powerless |= bool(about.st_mode & (stat.S_ISUID | stat.S_ISGID))
        if file.interpreter is None:
            start.inode = file.inode
            start.line = _line(argv)
            return start
        program, argument = file.interpreter
        argv = [program, *([argument] if argument else []), shown, *argv[1:]]
        path = shown = program
        descriptor = open_program(caller.pid, f"/proc/{caller.pid}/cwd", path)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _known(caller: Caller, watched: Executables) -> Start | None:
    """A program that was started like this before, and is one program whatever its arguments."""
    path, argv = caller.path, caller.argv
    if path[:1] != b"/" or not argv or is_peculiar(path) or not has_our_view(caller.pid):
        return None
    about = os.stat(path)
    known = watched.plain.get((key_of(about), path, argv[0]))
    if known is None or known[2].interpreter is not None:
        return None
    real, names, file = known
    start = Start()
    start.faces.append(Face(real, names, argv, file))
    start.inode = about.st_dev, about.st_ino
    start.line = _line(argv)
    start.powerless = bool(about.st_mode & (stat.S_ISUID | stat.S_ISGID))
    return start


def _line(argv: list[bytes]) -> bytes:
    return b"\0".join((*argv, b"")) if argv else b"\0"


def _faces(
    caller: Caller,
    watched: Executables,
    files: Files,
    descriptor: int,
    file: File,
    path: bytes,
    argv: list[bytes],
    depth: int = 0,
) -> Iterator[Face]:
    key = file.key, path, argv[0] if argv else b""
    known = watched.plain.get(key)
    if known is not None:
        yield Face(known[0], known[1], argv, file)
        return
    real = os.readlink(f"/proc/self/fd/{descriptor}").removesuffix(" (deleted)")
    own = os.path.basename(os.fsencode(real))
    called = os.path.basename(argv[0]).lstrip(b"-") if argv else b""
    given = [name for name in (os.path.basename(path), called, own) if name]
    names = watched.names_of(file, f"/proc/self/fd/{descriptor}", given, os.path.dirname(real))
    names.update(map(os.fsdecode, given))
    yield Face(real, names, argv, file)
    given += watched.kinds.names(file, f"/proc/self/fd/{descriptor}")
    if depth >= _DEEPEST:
        raise UnreadableError(errno.EACCES, "programs are nested too deep to judge")
    if any(map(is_loader, given)):
        yield from _loaded(caller, watched, files, argv, depth)
    elif MULTI_CALL.intersection(given) or called.startswith(tuple(MULTI_CALL)):
        yield from _called(watched, argv, real)
        if len(argv) > 1 and is_interpreter(os.path.basename(argv[1])):
            yield from _interpreted(caller, watched, files, argv[1:])
    elif any(map(is_interpreter, given)):
        yield from _interpreted(caller, watched, files, argv)
    else:
        watched.plain[key] = real, names, file


def _loaded(
    caller: Caller, watched: Executables, files: Files, argv: list[bytes], depth: int
) -> Iterator[Face]:
    at, zero = 1, None
    while at < len(argv) and argv[at][:1] == b"-":
        if argv[at] == b"--argv0" and at + 1 < len(argv):
            zero = argv[at + 1]
        at += 2 if argv[at] in _LOADER_OPTIONS else 1
    if at >= len(argv):
        return
    path = argv[at]
    inner = [path if zero is None else zero, *argv[at + 1 :]]
    if b"/" not in path:
        raise UnreadableError(errno.EACCES, f"the loader would look for {os.fsdecode(path)} by itself")
    descriptor = open_program(caller.pid, f"/proc/{caller.pid}/cwd", path)
    try:
        file = files.at(descriptor)
        yield from _faces(caller, watched, files, descriptor, file, path, inner, depth + 1)
    finally:
        os.close(descriptor)


def _called(watched: Executables, argv: list[bytes], real: str) -> Iterator[Face]:
    """A multi-call program may run its own programs without an exec, so each name in its words counts."""
    for at, word in enumerate(argv[1:], 1):
        name = os.fsdecode(os.path.basename(word.removeprefix(b"--coreutils-prog=")))
        if at == 1 or name in watched.names:
            yield Face(real, {name}, argv[at:], None)
        elif b" " in word or b"\n" in word:
            inside = watched.names.intersection(_words(os.fsdecode(word)))
            for name in inside:
                yield Face(real, {name}, [os.fsencode(name), *word.split()], None)


def _interpreted(caller: Caller, watched: Executables, files: Files, argv: list[bytes]) -> Iterator[Face]:
    """An interpreter with the file of a watched program is that program."""
    if watched.has_scripts and len(argv) > _MOST_LOOKED_AT:
        raise UnreadableError(errno.EACCES, "an interpreter with so many words can't be judged")
    if watched.has_scripts and _reads_input(argv):
        yield from _read(caller, watched, files, argv)
    for at, word in enumerate(argv[1:_MOST_LOOKED_AT], 1):
        if not word or word[:1] == b"-" or b"\n" in word:
            continue
        name = os.fsdecode(os.path.basename(word))
        names, real, file = {name} & watched.names, os.fsdecode(word), None
        if watched.has_scripts:
            try:
                descriptor = open_program(caller.pid, f"/proc/{caller.pid}/cwd", word)
            except OSError:
                continue
            try:
                if stat.S_ISREG(os.fstat(descriptor).st_mode):
                    file = files.at(descriptor)
                    names |= watched.names_of(file, f"/proc/self/fd/{descriptor}", (os.fsencode(name),))
                    real = os.readlink(f"/proc/self/fd/{descriptor}")
            finally:
                os.close(descriptor)
        if names:
            yield Face(real, names, argv[at:], file)


def _words(text: str) -> list[str]:
    return "".join(one if one.isalnum() or one in "_.+-" else " " for one in text).split()


def is_loader(name: bytes) -> bool:
    """`ld.so`, `ld-linux-x86-64.so.2`."""
    if name[:2] != b"ld" or name[2:3] not in (b"-", b"."):
        return False
    at = name.find(b".so", 2)
    while at >= 0:
        if name[at + 3 : at + 4] in (b"", b"."):
            return True
        at = name.find(b".so", at + 1)
    return False


def is_interpreter(name: bytes) -> bool:
    """`bash`, `ksh93`, `python3.11`: a version may follow, and anything behind the version of a shell."""
    bare = name.rstrip(b"0123456789.")
    if bare in _INTERPRETERS:
        return True
    first = next((at for at, one in enumerate(name) if 0x30 <= one <= 0x39), len(name))
    return name[:first] in _SHELLS


def _reads_input(argv: list[bytes]) -> bool:
    """Whether an interpreter may take its program from its input: no file and no text comes before that."""
    words = iter(argv[1:])
    for word in words:
        if word in _INPUT:
            return True
        if word[:1] not in (b"-", b"+"):
            return False
        if word[:2] != b"--" and b"s" in word:
            return True
        if word[1:] in (b"o", b"O"):
            next(words, b"")
    return True


def _read(caller: Caller, watched: Executables, files: Files, argv: list[bytes]) -> Iterator[Face]:
    try:
        descriptor = os.open(f"/proc/{caller.pid}/fd/0", os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode):
            file, real = files.at(descriptor), os.readlink(f"/proc/self/fd/{descriptor}")
            names = watched.names_of(file, f"/proc/self/fd/{descriptor}", ())
            if names:
                yield Face(real, names, [os.fsencode(real), *(one for one in argv[1:] if one != b"-s")], file)
    finally:
        os.close(descriptor)

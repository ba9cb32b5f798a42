"""What a call does, in the few kinds that rules can name."""

from __future__ import annotations

from msgspec import Struct


class Exec(Struct, frozen=True):
    """Runs `text`. `language` is `bash`, `powershell`, or the name of anything else that runs code. `places`
    are directories where it may run besides the current one."""

    text: str
    language: str = "bash"
    places: tuple[str, ...] = ()


class Read(Struct, frozen=True):
    """Reads `path`. `tree`: it searches everything below a directory. `glob`: `path` is a pattern."""

    path: str
    tree: bool = False
    glob: bool = False


class Write(Struct, frozen=True):
    """Creates, changes or removes `path`. Read deny rules do not cover a notebook."""

    path: str
    notebook: bool = False


class Net(Struct, frozen=True):
    """Fetches `url`."""

    url: str


class Use(Struct, frozen=True):
    """Uses a tool whose name says all that is known."""

    tool: str


class Unclear(Struct, frozen=True):
    """The input does not say what the call does. Such a call needs approval, or is denied."""

    reason: str


Effect = Exec | Read | Write | Net | Use | Unclear

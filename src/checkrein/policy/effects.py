"""What a call does, in the few words that rules can speak about."""

from __future__ import annotations

from msgspec import Struct


class Exec(Struct, frozen=True):
    """Runs `text`. `language` is `bash`, `powershell`, or the name of anything else that runs code."""

    text: str
    language: str = "bash"


class Read(Struct, frozen=True):
    """Reads `path`. `tree`: everything below a directory is searched; `glob`: `path` is a pattern."""

    path: str
    tree: bool = False
    glob: bool = False


class Write(Struct, frozen=True):
    """Creates, changes or removes `path`. A notebook is not covered by Read deny rules."""

    path: str
    notebook: bool = False


class Net(Struct, frozen=True):
    """Fetches `url`."""

    url: str


class Use(Struct, frozen=True):
    """Uses a tool whose name says all that is known."""

    tool: str


class Unclear(Struct, frozen=True):
    """The input does not say what the call does; such a call is at best asked for."""

    reason: str


Effect = Exec | Read | Write | Net | Use | Unclear

"""What a session wants to know about programs that start, what is known about one, and the answer.

The exec guard of `runtime.process` asks at each start that a rule may be about. These are plain values: the
guard finds the facts, a judge decides.
"""

from __future__ import annotations

from msgspec import Struct

from checkrein.base.origin import Origin


class Watched(Struct, frozen=True):
    """A program that a deny or ask rule is about, by its name or path. A rule can match only where all
    `words` occur in the arguments (joined by blanks)."""

    name: str
    words: tuple[str, ...] = ()


class Watch(Struct, frozen=True):
    """Which starts are questions. With `every`, each one. With `only`, the command may start these programs
    (names or paths) and no others."""

    every: bool = False
    programs: tuple[Watched, ...] = ()
    only: tuple[str, ...] | None = None


class Started(Struct, frozen=True, kw_only=True):
    """A program that is about to start. `program` is the real path of the executable (of the script, for a
    script). `names` are all the names that it goes by. `argv` is that of the inner program where a loader or
    a multi-call program starts one."""

    pid: int
    program: str
    names: tuple[str, ...]
    argv: tuple[str, ...]
    cwd: str


class Answer(Struct, frozen=True):
    """What a judge says about a start: with the rule and where it stands when it refuses."""

    allow: bool
    reason: str = ""
    rule: str | None = None
    origin: Origin | None = None

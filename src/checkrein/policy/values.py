"""What goes into a decision and what comes out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, get_args

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.rule import VERDICTS as VERDICTS
from checkrein.model.rule import Verdict as Verdict

Mode = Literal["default", "acceptEdits", "plan", "auto", "dontAsk", "bypassPermissions"]
MODES: tuple[Mode, ...] = get_args(Mode)

KernelLayer = Literal["exec", "files", "network"]
"""A place where the running system enforces rules after a call is approved: at the start of each program, at
each file, at each connection."""
KERNEL_LAYERS: tuple[KernelLayer, ...] = get_args(KernelLayer)

_RANK: dict[Verdict, int] = {"allow": 0, "ask": 1, "deny": 2}


def rank(verdict: Verdict) -> int:
    return _RANK[verdict]


class Call(Struct, frozen=True):
    """A tool call as the model made it, or as a hook rewrote it."""

    tool: str
    input: Mapping[str, Any] = {}


class Context(Struct, frozen=True, kw_only=True):
    """The facts a decision depends on besides the policy. Paths are absolute.

    `root` is the directory the session started in: relative rules and the working directory start from it,
    even after `cwd` has moved. `links` maps the path of a symbolic link to its target. `layers` are the ones
    that hold where the call runs; without them the decision alone must hold, and is strict. `memory` is the
    agent's own directory: its files are its to read and write, where no rule objects.
    """

    cwd: str
    root: str = ""
    home: str = ""
    add_dirs: tuple[str, ...] = ()
    links: Mapping[str, str] = {}
    trusted: bool = True
    layers: tuple[KernelLayer, ...] = ()
    memory: str = ""

    @property
    def start(self) -> str:
        return self.root or self.cwd


class Piece(Struct, frozen=True, omit_defaults=True):
    """One part of a call and its verdict: a simple command, a path, a host, the call itself."""

    text: str
    verdict: Verdict
    reason: str
    rule: str | None = None
    origin: Origin | None = None
    effect: str = ""
    hidden: bool = False
    """The text does not show this part itself (the command behind `sh -c`, a wrapper, a function)."""
    unread: bool = False
    """This part is text that the shell analysis could not read."""
    layer: KernelLayer | None = None
    """Of a question: the layer that answers it where it holds. Of an approval: the layer that decides what
    the text leaves open, as `later` says."""
    later: str = ""
    reads: bool = False
    """It only reads."""


class Decision(Struct, frozen=True, kw_only=True):
    """The verdict on a call, and why.

    `offered` is false when a rule removes the whole tool. `rule`, `origin` and `reason` come from the piece
    that decided. `classify` is true when auto mode leaves the verdict to its classifier; until it answers the
    verdict is ask. `notes` tell a person how trust, the mode, hooks and layers affect the verdict.
    `only_reads`: nothing approved the call but that it only reads, so it has no right to more.
    """

    verdict: Verdict
    reason: str
    offered: bool = True
    rule: str | None = None
    origin: Origin | None = None
    trace: tuple[Piece, ...] = ()
    classify: bool = False
    notes: tuple[str, ...] = ()
    only_reads: bool = False


HookAnswer = Literal["allow", "ask", "deny", "defer"]


class HookVerdict(Struct, frozen=True):
    """What one PreToolUse hook said. `defer` counts as ask here; the runtime acts on it first."""

    answer: HookAnswer
    reason: str = ""
    origin: Origin | None = None

"""What a process gives up before it starts a command, and the rules that say so."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from checkrein.base.origin import Origin

_ONLY_PROXY = "Programs that ignore HTTP_PROXY and HTTPS_PROXY can't reach the network here."


class Reason(Struct, frozen=True):
    """The rule that an effect of a command is refused by, and where it stands. Empty: it is a bound."""

    rule: str
    origin: Origin | None

    def about(self, effect: str, target: str) -> str:
        if effect == "net":
            why = f", because of {self.rule}" if self.rule else ""
            if target.startswith("/"):
                return f"{target} belongs to a program that starts others outside of this command"
            return f"{target} was refused{why}. {_ONLY_PROXY}"
        if not self.rule:
            return f"{target} is outside of what this command may write"
        return f"writing {target} is denied by {self.rule}"


class Bounds(Struct, frozen=True, kw_only=True):
    """What a process gives up before it starts the command: all outside of a Landlock ruleset (a descriptor,
    -1 for none), the calls that a seccomp program refuses, the capabilities outside of a mask, the files that
    are hidden. `effects` are the calls that the guard judges, as `guard.effect_calls` reads them, with the
    rules in `reasons`. The last three need the guard."""

    ruleset: int = -1
    filter: bytes | None = None
    capabilities: int | None = None
    hidden: tuple[str, ...] = ()
    effects: dict[str, Any] | None = None
    reasons: tuple[Reason, ...] = ()


NO_BOUNDS = Bounds()

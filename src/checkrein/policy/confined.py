"""What the sandbox of a session means for verdicts on its shell commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from checkrein.policy.patterns import CommandPattern
from checkrein.policy.values import Call, HookVerdict, Mode

OUTSIDE = "it would run outside the sandbox"
INSIDE = "it runs in the sandbox"


class Confined(Struct, frozen=True, kw_only=True):
    """What holds for the Bash commands of a session. Where it is not `active`, nothing is confined.

    A call is outside when it asks for that and `may_leave`, or when every command in it is `excluded`. Being
    outside always needs an approval, whatever rules allow. Being inside is an approval if `approves`; it is
    no more than that of a hook: rules that deny or ask, and what can't be read, go before it.
    """

    active: bool = False
    approves: bool = False
    may_leave: bool = False
    excluded: tuple[CommandPattern, ...] = ()

    def outside(self, input: Mapping[str, Any]) -> bool:
        """Whether a Bash call runs without the sandbox, once it is approved."""
        if not self.active:
            return False
        if self.may_leave and input.get("dangerouslyDisableSandbox") is True:
            return True
        text = input.get("command")
        return bool(self.excluded) and isinstance(text, str) and _all_match(text, self.excluded)

    def verdicts(self, call: Call, mode: Mode) -> tuple[HookVerdict, ...]:
        """What the sandbox has to say about a call."""
        if not self.active or call.tool != "Bash":
            return ()
        if self.outside(call.input):
            return (HookVerdict("ask", OUTSIDE),)
        if self.approves and mode not in ("plan", "auto"):
            return (HookVerdict("allow", INSIDE),)
        return ()


def _all_match(text: str, patterns: tuple[CommandPattern, ...]) -> bool:
    """Whether all that a text runs is known, and each command of it matches one of the patterns."""
    from checkrein.policy.shell import analyse
    from checkrein.policy.shell.forms import granting_forms

    program = analyse(text, "/", "/")
    if program.problems or not program.commands:
        return False
    return all(
        command.words
        and not command.unknown
        and any(pattern.matches(form) for pattern in patterns for form in granting_forms(command))
        for command in program.commands
    )

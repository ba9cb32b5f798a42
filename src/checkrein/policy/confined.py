"""What the sandbox of a session means for verdicts on its shell commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from checkrein.facts.tools import SHELL_TOOLS
from checkrein.policy.patterns import CommandPattern
from checkrein.policy.values import Call, HookVerdict, Mode

OUTSIDE = "it would run outside the sandbox"
_INSIDE = "it runs in the sandbox"


class Confined(Struct, frozen=True, kw_only=True):
    """How the sandbox confines the Bash commands of a session. If it is not `active`, it confines nothing.

    A call runs outside when it asks for that and `may_leave` is true, or when every command in it is
    `excluded`. A call outside always needs approval, even if rules allow it. With `approves`, the sandbox
    approves a call inside. That approval counts like a hook's: deny and ask rules, and text that can't be
    read, come first.
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
        return bool(self.excluded) and isinstance(text, str) and all_match(text, self.excluded)

    def verdicts(self, call: Call, mode: Mode) -> tuple[HookVerdict, ...]:
        """The sandbox's verdicts on a call."""
        if not self.active or call.tool not in SHELL_TOOLS:
            return ()
        if self.outside(call.input):
            return (HookVerdict("ask", OUTSIDE),)
        if self.approves and mode not in ("plan", "auto"):
            return (HookVerdict("allow", _INSIDE),)
        return ()


def all_match(text: str, patterns: tuple[CommandPattern, ...]) -> bool:
    """Whether every command in the text is known and matches one of the patterns."""
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

"""PowerShell commands: split by statement, with aliases resolved and case ignored.

There is no PowerShell grammar here, so anything but plain words needs approval, or is denied.
"""

from __future__ import annotations

import re

from checkrein.model.rule import Rule
from checkrein.policy.approve import Approval
from checkrein.policy.patterns import CommandPattern, compile_command, normal
from checkrein.policy.rules import RuleSet
from checkrein.policy.values import Piece
from checkrein.policy.view import View, piece

ALIASES: dict[str, str] = {
    "gci": "get-childitem",
    "ls": "get-childitem",
    "dir": "get-childitem",
    "cat": "get-content",
    "gc": "get-content",
    "type": "get-content",
    "rm": "remove-item",
    "ri": "remove-item",
    "del": "remove-item",
    "erase": "remove-item",
    "rd": "remove-item",
    "rmdir": "remove-item",
    "cp": "copy-item",
    "copy": "copy-item",
    "mv": "move-item",
    "move": "move-item",
    "cd": "set-location",
    "sl": "set-location",
    "chdir": "set-location",
    "echo": "write-output",
    "write": "write-output",
    "iex": "invoke-expression",
    "iwr": "invoke-webrequest",
    "curl": "invoke-webrequest",
    "wget": "invoke-webrequest",
    "ps": "get-process",
    "kill": "stop-process",
    "pwd": "get-location",
}

_STATEMENTS = re.compile(r"\|\||&&|[|;\n]")
_STRANGE = re.compile(r"[$`(){}@&<>%]|\[|--%")
_CRITICAL = re.compile(r"remove-item\b.*(?:\s|^)(?:\*|[a-z]:\\?\*?|/\*?|~[\\/]?\*?|\\)(?:\s|$)")


def judge_powershell(view: View, text: str, approval: Approval | None) -> list[Piece]:
    pieces = []
    for statement in _STATEMENTS.split(text):
        if normal(statement):
            pieces.append(_statement(view, statement, approval))
    return pieces or [piece(text[:200], "ask", "nothing says what this runs", effect="exec")]


def _statement(view: View, statement: str, approval: Approval | None) -> Piece:
    words = normal(statement).lower()
    name, _, rest = words.partition(" ")
    plain = f"{ALIASES.get(name, name)} {rest}".strip()
    shown = normal(statement)[:200]
    if _CRITICAL.match(plain):
        return piece(shown, "deny", "it could remove everything", effect="exec")
    found = _rule(view.deny, (words, plain))
    if found is not None:
        return piece(shown, "deny", f"denied by {found.text}", found, effect="exec")
    found = _rule(view.ask, (words, plain))
    if found is not None:
        return piece(shown, "ask", f"needs approval because of {found.text}", found, effect="exec")
    if _STRANGE.search(statement) and (approval is None or any(view.deny.all_commands("PowerShell"))):
        return piece(shown, "ask", "its expansion is unknown", effect="exec")
    if approval is not None:
        return piece(shown, "allow", approval.reason, approval.rule, effect="exec")
    found = _rule(view.allow, (words, plain))
    if found is not None:
        return piece(shown, "allow", f"allowed by {found.text}", found, effect="exec")
    return piece(shown, "ask", "no rule allows it", effect="exec")


def _rule(rules: RuleSet, forms: tuple[str, ...]) -> Rule | None:
    for one in rules.all_commands("PowerShell"):
        pattern = _folded(one.pattern)
        if any(pattern.matches(form) for form in forms):
            return one.rule
    return None


def _folded(pattern: CommandPattern) -> CommandPattern:
    text = normal(pattern.text).lower()
    name, blank, rest = text.partition(" ")
    if name.endswith(":*"):
        name, rest = name[:-2], "*"
        blank = " "
    return compile_command(f"{ALIASES.get(name, name)}{blank}{rest}")

"""Judge a line that writes a file and then runs it: what it says is code, wherever it stands in the line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checkrein.base.later import later
from checkrein.facts.shell_code import INTERPRETERS
from checkrein.facts.shell_programs import DATA
from checkrein.model.rule import Rule
from checkrein.policy.hosts import host_of
from checkrein.policy.shell.code_names import computes, connects_text
from checkrein.policy.shell.files import Touched, touched
from checkrein.policy.shell.mentions import addresses_in, names_in
from checkrein.policy.shell.nested import nested_name
from checkrein.policy.shell.program import Command, access
from checkrein.policy.values import Piece
from checkrein.policy.view import View, piece

_BOTH = ("Read", "Edit")
_ESCAPES = later(r"\\[abfnrtv0]")
_LONGEST = 10_000


def judge_made(view: View, commands: Sequence[Command], text: str) -> Piece | None:
    """The first file that runs after it was written, when the line mentions what a rule denies."""
    if len(commands) < 2 or not (view.deny.paths or view.deny.domains):
        return None
    ran = _ran(view, commands)
    rule = _mentioned(view, ran, text) if ran is not None else None
    if ran is None or rule is None:
        return None
    reason = f"it runs a file that it wrote, and the file may do what {rule.text} denies"
    return piece(ran.raw or ran.name, "ask", reason, rule, effect="exec")


def _ran(view: View, commands: Sequence[Command]) -> Command | None:
    home = view.context.home
    written: set[str] = set()
    for command in _flat(commands):
        files = touched(command, home) if command.words else Touched()
        if written and not written.isdisjoint(_run_files(command, files, home)):
            return command
        written |= {path for one in (*command.writes, *files.writes) for path in one.paths}
    return None


def _flat(commands: Sequence[Command]) -> Iterator[Command]:
    for command in commands:
        yield from _flat(command.inner)
        yield command


def _run_files(command: Command, files: Touched, home: str) -> set[str]:
    """Everything that an interpreter reads, and a command by its path."""
    if not command.words:
        return set()
    found = {path for path in access(command.name, command.cwds, home).paths if "/" in command.name}
    base = nested_name(command.name.rsplit("/", 1)[-1])
    if base in INTERPRETERS or base in ("source", ".", "bash", "sh", "zsh", "dash") or base not in DATA:
        found |= {path for one in (*files.reads, *files.arguments, *command.reads) for path in one.paths}
        if base in ("make", "gmake"):
            found |= {
                path for one in ("Makefile", "makefile") for path in access(one, command.cwds, home).paths
            }
    return found


def _mentioned(view: View, command: Command, text: str) -> Rule | None:
    if len(text) > _LONGEST or computes(text) or (view.deny.domains and connects_text(text)):
        return view.first_strict()
    for name in (*names_in(text), *names_in(_ESCAPES.sub(" ", text))):
        for path in access(name, command.cwds, view.context.home).paths:
            rule = view.hit(view.deny, _BOTH, path)
            if rule is not None:
                return rule
    for part in addresses_in(text):
        rule = view.host_rule(view.deny, host_of(part))
        if rule is not None:
            return rule
    return None

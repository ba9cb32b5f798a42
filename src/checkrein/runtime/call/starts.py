"""The rules at the start of each program: what the exec guard asks, for the processes of one conversation.

A deny rule refuses the start. An ask rule asks the user while the program waits, unless the user approved
that command with the call. Where nobody can be asked, a question is a refusal.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable

from msgspec.structs import replace

from checkrein.base.origin import Scope
from checkrein.llm.port import Cancel
from checkrein.policy.judge_starts import judge_start, listed, watch
from checkrein.policy.starts import Answer, Started
from checkrein.policy.values import Piece
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.process.command import Command, Completed
from checkrein.runtime.process.guard.guard import Guard, Refusal
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.control import Question
from checkrein.runtime.session.events import Denial, PermissionDenied

_FREE: tuple[Scope, ...] = ("managed", "user")
"""Who wrote a command that the rules of a project do not bind."""


def guard(
    gate: Gate,
    text: str | None,
    cwd: str,
    *,
    call_id: str = "",
    only_reads: bool = False,
    tell: Callable[[PermissionDenied], object] | None = None,
) -> Guard | None:
    """The guard of one command; None where that layer does not hold. `text` is the shell text that was
    judged. If it `only_reads`, nothing but the programs in it may start."""
    context = gate.context(cwd)
    if "exec" not in context.layers:
        return None
    only = None
    if only_reads:
        only = tuple(dict.fromkeys(words[0] for words in listed(text or "", context)))

    def on_refused(refused: Refusal) -> None:
        if tell is not None:
            input = {"command": shlex.join(refused.argv) or refused.program}
            denial = Denial("Bash", call_id, input, refused.reason, refused.rule, refused.origin)
            tell(PermissionDenied(denial, "start"))

    return Guard(
        watch=watch(gate.policy, context, only), judge=Starts(gate, text, cwd, call_id), on_refused=on_refused
    )


class Starts:
    """Answers the questions about one command. `text` is the shell text that was judged before it ran."""

    def __init__(self, gate: Gate, text: str | None, cwd: str, call_id: str) -> None:
        self._gate = gate
        self._text = text
        self._cwd = cwd
        self._call_id = call_id

    def judge(self, started: Started, cancel: Cancel) -> Answer:
        found = self._found(started)
        if found is None:
            return Answer(True)
        if found.verdict == "deny" or self._gate.mode == "dontAsk":
            return _refused(found)
        reason = f"{found.reason}, and there is nobody to ask"
        question = Question(
            tool="Bash",
            input={"command": shlex.join(started.argv), "description": "a program that the command starts"},
            call_id=self._call_id,
            reason=f"{started.program} is about to start: {found.reason}",
            rule=found.rule,
            origin=found.origin,
        )
        said = self._gate.ask(question, lambda: self._found(started) is not None, cancel, permit=_permit)
        if said is not None:
            return Answer(True) if said.verdict == "allow" else _refused(found, said.message)
        again = self._found(started)
        return Answer(True) if again is None else _refused(again, reason)

    def _found(self, started: Started) -> Piece | None:
        gate = self._gate
        found = judge_start(gate.policy, started, gate.context(self._cwd))
        if found is None or found.verdict == "deny" or self._text is None:
            return found
        approved = listed(self._text, gate.context(self._cwd))
        return judge_start(gate.policy, started, gate.context(self._cwd), approved)


def _permit(updates: object) -> None:
    """An answer about one program changes no permissions."""


def _refused(found: Piece, reason: str = "") -> Answer:
    return Answer(False, reason or found.reason, found.rule, found.origin)


class GuardedCommands:
    """Starts commands that a project brought, like hooks. Rules bind what they start, unless the user or the
    administrator wrote them."""

    def __init__(self, spawner: Spawner, gate: Gate) -> None:
        self._spawner = spawner
        self._gate = gate

    def run(self, command: Command, cancel: Cancel) -> Completed:
        if command.origin.scope not in _FREE:
            command = replace(command, guard=guard(self._gate, None, command.cwd))
        return self._spawner.run(command, cancel)

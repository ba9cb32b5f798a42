"""The rules at the start of each program: what the exec guard asks, for the processes of one conversation.

A deny rule refuses the start. An ask rule asks the user while the program waits, unless the user approved
that command with the call. Where nobody can be asked, a question is a refusal.
"""

from __future__ import annotations

import shlex

from checkrein.llm.port import Cancel
from checkrein.policy.judge_starts import judge_start, listed
from checkrein.policy.starts import Answer, Started
from checkrein.policy.values import Piece
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.session.control import Question


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
        said = self._gate.ask(
            question, lambda: self._found(started) is not None, cancel, permit=lambda updates: None
        )
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


def _refused(found: Piece, reason: str = "") -> Answer:
    return Answer(False, reason or found.reason, found.rule, found.origin)

"""How the commands of one conversation start: bound by its rules, in every layer that holds here."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from checkrein.base.origin import Scope
from checkrein.llm.port import Cancel
from checkrein.policy.values import Context
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.call.refusal import Judgement
from checkrein.runtime.process.command import Command, Completed, Pipes
from checkrein.runtime.process.spawner import Spawner
from checkrein.runtime.session.control import Question
from checkrein.runtime.session.events import Denial, PermissionDenied

if TYPE_CHECKING:
    from checkrein.policy.connections import HostVerdict
    from checkrein.runtime.process.binder import Binder, Terms
    from checkrein.runtime.process.guard.guard import Guard, Refusal

_FREE: tuple[Scope, ...] = ("managed", "user")
"""Who wrote a command that the rules of a project do not bind."""
Tell = Callable[[PermissionDenied], object]


def _startable(text: str, command: Command, context: Context) -> tuple[str, ...]:
    """The programs that a command which only reads may start: those that were judged, and ours in place of
    what a repository names."""
    from checkrein.policy.judge_starts import listed

    names = [words[0] for words in listed(text, context)]
    if "git" in names:
        from checkrein.runtime.process.git import replacements

        names += replacements(command.env)
    return tuple(dict.fromkeys(names))


class BoundCommands:
    """Safe to use from several threads. `binder` gives the session's binder, at the first command."""

    def __init__(self, spawner: Spawner, binder: Callable[[], Binder], gate: Gate) -> None:
        self._spawner = spawner
        self._binder = binder
        self._gate = gate

    def run(self, command: Command, cancel: Cancel) -> Completed:
        """Run a command that a project brought, like a hook. The rules do not bind what the user or the
        administrator wrote."""
        return self._spawner.run(self._of_project(command), cancel)

    def open(self, command: Command) -> Pipes:
        """Start a program with live pipes, like an MCP server, bound in the same way."""
        return self._spawner.open(self._of_project(command))

    def _of_project(self, command: Command) -> Command:
        from checkrein.runtime.process.binder import Terms

        if command.origin.scope in _FREE:
            return command
        guard = self._guard(None, command.cwd, "", None, None)
        return self._bind(replace(command, guard=guard), Terms())

    def of_call(
        self, judgement: Judgement, call_id: str, cancel: Cancel, tell: Tell
    ) -> Callable[[Command], Command]:
        """Binds the commands of one call: no more than its approval covers."""
        text = judgement.input.get("command")
        if not isinstance(text, str):
            return lambda command: command
        gate = self._gate
        reads = judgement.decision.only_reads or gate.mode == "plan"

        def bind(command: Command) -> Command:
            from checkrein.policy.judge_starts import written
            from checkrein.runtime.process.binder import Terms

            if gate.runs_unguarded(judgement.input):
                return self._bind(command, Terms())
            context = gate.context(command.cwd)
            only = _startable(text, command, context) if reads else None
            guard = self._guard(text, command.cwd, call_id, only, tell)
            approved = written(text, context) if judgement.decision.verdict == "ask" else ()
            terms = Terms(
                only_reads=reads,
                inside=any(one.reads and one.layer == "files" for one in judgement.decision.trace),
                may_change=lambda path: any(path == one or path.startswith(f"{one}/") for one in approved),
                ask=self._host_asker(call_id, cancel),
            )
            return self._bind(replace(command, guard=guard), terms)

        return bind

    def accept(self, judgement: Judgement) -> None:
        """A call changed the files that it was approved for."""
        for path in judgement.paths:
            self._binder().accept(path)

    def _bind(self, command: Command, terms: Terms) -> Command:
        return self._binder().bind(command, self._gate.policy, self._gate.context(command.cwd), terms)

    def _guard(
        self, text: str | None, cwd: str, call_id: str, only: tuple[str, ...] | None, tell: Tell | None
    ) -> Guard | None:
        """The exec guard of a command; None where that layer does not hold. `only` these programs may
        start."""
        from checkrein.policy.judge_starts import watch
        from checkrein.runtime.call.starts import Starts
        from checkrein.runtime.process.guard.guard import Guard

        gate = self._gate
        context = gate.context(cwd)
        if "exec" not in context.layers:
            return None

        def on_refused(refused: Refusal) -> None:
            import shlex

            if tell is not None:
                input: dict[str, Any] = {"command": shlex.join(refused.argv) or refused.program}
                denial = Denial("Bash", call_id, input, refused.reason, refused.rule, refused.origin)
                tell(PermissionDenied(denial, "start" if refused.effect == "exec" else "effect"))

        judge = Starts(gate, text, cwd, call_id)
        return Guard(watch=watch(gate.policy, context, only), judge=judge, on_refused=on_refused)

    def _host_asker(self, call_id: str, cancel: Cancel) -> Callable[[str, int, HostVerdict], bool]:
        def ask(host: str, port: int, verdict: HostVerdict) -> bool:
            question = Question(
                tool="WebFetch",
                input={"url": f"{host}:{port}", "prompt": "a connection of a running command"},
                call_id=call_id,
                reason=verdict.reason,
                rule=verdict.rule,
                origin=verdict.origin,
            )
            said = self._gate.ask(question, lambda: True, cancel, permit=lambda updates: None)
            return said is not None and said.verdict == "allow"

        return ask

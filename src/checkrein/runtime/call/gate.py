"""The gate: rules, mode, hooks, trust and whoever answers questions meet here, and nowhere else.

Nothing runs that `judge` did not approve, with exactly the input that it approved. A refusal names the rule
and its file and line. When nobody can be asked, a question is a refusal.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Collection, Sequence
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.llm.port import Cancel
from checkrein.model.rule import Rule
from checkrein.policy.auto import Blocks, Classifier, settle
from checkrein.policy.decide import decide
from checkrein.policy.effects import Net, Read, Write
from checkrein.policy.hosts import host_of
from checkrein.policy.policy import Policy, compile_policy, grant, meet, with_mode
from checkrein.policy.tools import Tools
from checkrein.policy.values import Call, Context, Decision, HookVerdict, Mode
from checkrein.runtime.call.links import LiveLinks
from checkrein.runtime.process.confinement import Confinement
from checkrein.runtime.session.control import Answer, Asker, Control, Question

By = Literal["rule", "mode", "classifier", "hook", "asker", "trust"]
_BARE = compile_policy()
_QUOTING = str.maketrans("", "", "'\"\\")
_SPELLINGS = ("$'", '$"', "{")
"""What lets a shell spell `git` without the word standing in the text."""

RequestHooks = Callable[[str, dict[str, Any]], Answer | None]
"""Asks the PermissionRequest hooks about a tool and its input; None when they leave it open. As in the
product, they speak only where a person could be asked."""


class Judgement(Struct, frozen=True, kw_only=True):
    """`input` is what may run; `paths` are the canonical paths that it may open, `hosts` those it may reach
    whatever their address."""

    allowed: bool
    input: dict[str, Any]
    decision: Decision
    by: By = "rule"
    reason: str = ""
    paths: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    interrupt: bool = False


class Gate:
    """The policy of one session while it runs. Safe to use from several threads."""

    def __init__(
        self,
        policy: Policy,
        control: Control,
        *,
        root: str,
        home: str,
        add_dirs: tuple[str, ...] = (),
        trusted: bool = True,
        classifier: Classifier | None = None,
        above: Gate | None = None,
        confinement: Confinement | None = None,
    ) -> None:
        self._own = policy
        self._changing = threading.Lock()
        self._grants: tuple[Sequence[Rule], ...] = ()
        self._above = above
        self._ceiling: Policy | None = None
        self._turn_ceiling: Policy | None = None
        self._now: Policy | None = None
        self._now_under: Policy | None = None
        self._control = control
        self._classifier = classifier
        self._confinement = confinement or Confinement()
        self._blocks = Blocks()
        self._asking = threading.Lock()
        self.root = root
        self.home = home
        self.add_dirs = add_dirs
        self.trusted = trusted

    @property
    def own(self) -> Policy:
        """What the conversation itself asks for, before anything above it takes away."""
        return self._own

    @property
    def policy(self) -> Policy:
        """What holds now: the conversation's own policy with its grants, under everything above it: its
        parent's policy as that is now, too."""
        with self._changing:
            under = self._above.policy if self._above is not None else None
            if self._now is None or under is not self._now_under:
                granted = [rule for rules in self._grants for rule in rules]
                now = grant(self._own, granted) if granted else self._own
                for above in (self._ceiling, self._turn_ceiling, under):
                    now = meet(above, now) if above is not None else now
                self._now, self._now_under = now, under
            return self._now

    @property
    def mode(self) -> Mode:
        return self._own.layers[0].mode

    def set_mode(self, mode: Mode) -> None:
        with self._changing:
            self._own = with_mode(self._own, mode)
            self._now = None

    def grant_for_turn(self, rules: Sequence[Rule]) -> Callable[[], None]:
        """Rules that end with the turn: a skill's `allowed-tools` and `disallowed-tools`. What is returned
        takes them back before that."""
        with self._changing:
            self._grants = (*self._grants, rules)
            self._now = None

        def take_back() -> None:
            with self._changing:
                self._grants = tuple(one for one in self._grants if one is not rules)
                self._now = None

        return take_back

    def restrict_turn(self, policy: Policy) -> None:
        """Let a policy bind until the turn ends, in place of the one that was set in it before."""
        with self._changing:
            self._turn_ceiling = policy
            self._now = None

    def end_turn(self) -> None:
        with self._changing:
            self._grants = ()
            self._turn_ceiling = None
            self._now = None

    def narrow(self, policy: Policy) -> None:
        """Let another policy bind as well; it can only take away."""
        with self._changing:
            self._ceiling = policy if self._ceiling is None else meet(self._ceiling, policy)
            self._now = None

    def tighten(self, gone: Collection[Rule], added: Sequence[Rule]) -> None:
        """Follow settings that changed, as far as that takes away: approvals that are gone end, new rules
        that ask or deny begin. Nothing given here can widen."""
        stricter = [rule for rule in added if rule.behavior != "allow"]
        ended = {rule for rule in gone if rule.behavior == "allow"}
        with self._changing:
            layers = (
                replace(layer, rules=tuple(dict.fromkeys((*_without(layer.rules, ended), *stricter))))
                for layer in self._own.layers
            )
            self._own = Policy(layers, self._own.tools)
            self._now = None

    def know(self, tools: Tools) -> None:
        """Decide about these tools from now on."""
        with self._changing:
            if tools is not self._own.tools:
                self._own = Policy(self._own.layers, tools)
                self._now = None

    def decide(
        self, tool: str, input: dict[str, Any], cwd: str, hooks: Sequence[HookVerdict] = ()
    ) -> Decision:
        confined = self._confinement.verdicts(tool, input, self.mode)
        return decide(self.policy, Call(tool, input), self.context(cwd), hooks=(*hooks, *confined))

    def runs_outside(self, input: dict[str, Any]) -> bool:
        """Whether a Bash call runs without the session's sandbox. It was asked for then."""
        return self._confinement.outside(input)

    def only_reads(self, tool: str, input: dict[str, Any], cwd: str) -> bool:
        """Whether a call is known to change nothing: what needs no rule and no approval in any project."""
        return decide(_BARE, Call(tool, input), self.context(cwd)).verdict == "allow"

    def only_asks_git(self, command: str, cwd: str) -> bool:
        """Whether a command has git commands in it, none of which needs an approval: they run without what
        the repository's configuration would start. One that does need it runs as the user's own would."""
        plain = command.translate(_QUOTING)
        if "git" not in plain and not any(mark in command for mark in _SPELLINGS):
            return False
        trace = decide(_BARE, Call("Bash", {"command": command}), self.context(cwd)).trace
        programs = ((piece.text.translate(_QUOTING).split() or [""], piece.verdict) for piece in trace)
        return all(verdict == "allow" for words, verdict in programs if os.path.basename(words[0]) == "git")

    def context(self, cwd: str) -> Context:
        return Context(
            cwd=cwd,
            root=self.root,
            home=self.home,
            add_dirs=self.add_dirs,
            links=LiveLinks(),
            trusted=self.trusted,
        )

    def judge(
        self,
        question: Question,
        cwd: str,
        hooks: Sequence[HookVerdict],
        request_hooks: RequestHooks | None,
        cancel: Cancel,
    ) -> Judgement:
        """Decide a call to its end: allowed with an input, or refused with a reason. Without `request_hooks`
        nobody is asked: neither a person nor the classifier."""
        tool, input = question.tool, question.input
        decision = self.decide(tool, input, cwd, hooks)
        if decision.verdict == "allow":
            return self._allow(tool, input, cwd, decision)
        if decision.verdict == "deny":
            return _refuse(input, decision, _denier(decision))
        if request_hooks is None:
            return _refuse(input, decision, "mode")
        if decision.classify and self._classifier is not None and not self._blocks.paused:
            decision = self._classify(self._classifier, tool, input, cwd, decision)
            if decision.verdict == "allow":
                return self._allow(tool, input, cwd, decision)
            return _refuse(input, decision, "classifier")
        if self._control.asker is None:
            return _refuse(input, decision, "mode", _unasked(decision))
        answer = request_hooks(tool, input) or self._ask(
            self._control.asker, question, input, decision, cancel
        )
        if answer.behavior == "deny":
            return _refuse(input, decision, "asker", answer.message, interrupt=answer.interrupt)
        if answer.updated_input is not None and answer.updated_input != input:
            input = answer.updated_input
            decision = self.decide(tool, input, cwd, hooks)
            if decision.verdict == "deny":
                return _refuse(input, decision, _denier(decision))
        return self._allow(tool, input, cwd, decision)

    def _classify(
        self, classifier: Classifier, tool: str, input: dict[str, Any], cwd: str, decision: Decision
    ) -> Decision:
        """Auto mode: the classifier's word, counted, so that it pauses after too many blocks."""
        answer = classifier.classify(Call(tool, input), self.context(cwd), decision)
        with self._asking:
            self._blocks = self._blocks.after(answer)
        return settle(decision, answer)

    def _ask(
        self, asker: Asker, question: Question, input: dict[str, Any], decision: Decision, cancel: Cancel
    ) -> Answer:
        with self._asking:
            return asker.ask(
                Question(
                    tool=question.tool,
                    input=input,
                    call_id=question.call_id,
                    reason=decision.reason,
                    rule=decision.rule,
                    origin=decision.origin,
                    suggestions=question.suggestions,
                    agent_id=question.agent_id,
                ),
                cancel,
            )

    def _allow(self, tool: str, input: dict[str, Any], cwd: str, decision: Decision) -> Judgement:
        return Judgement(
            allowed=True,
            input=input,
            decision=decision,
            reason=decision.reason,
            paths=tuple(self._paths(tool, input, cwd)),
            hosts=tuple(self._hosts(tool, input)),
        )

    def _hosts(self, tool: str, input: dict[str, Any]) -> Sequence[str]:
        effects = self.policy.tools.get(tool).effects(input)
        return [host_of(effect.url) for effect in effects if isinstance(effect, Net)]

    def _paths(self, tool: str, input: dict[str, Any], cwd: str) -> Sequence[str]:
        effects = self.policy.tools.get(tool).effects(input)
        return [
            os.path.realpath(os.path.join(cwd, _expanded(effect.path, self.home)))
            for effect in effects
            if isinstance(effect, Read | Write) and "\0" not in effect.path
        ]


def _without(rules: Sequence[Rule], gone: Collection[Rule]) -> list[Rule]:
    return [rule for rule in rules if rule not in gone]


def _expanded(path: str, home: str) -> str:
    return home + path[1:] if path == "~" or path.startswith("~/") else path


def _denier(decision: Decision) -> By:
    if decision.rule is not None:
        return "rule"
    return "hook" if any(piece.effect == "hook" for piece in decision.trace) else "mode"


def _refuse(
    input: dict[str, Any], decision: Decision, by: By, reason: str = "", interrupt: bool = False
) -> Judgement:
    return Judgement(
        allowed=False,
        input=input,
        decision=decision,
        by=by,
        reason=reason or decision.reason,
        interrupt=interrupt,
    )


def _unasked(decision: Decision) -> str:
    return f"{decision.reason}, and nobody is there to ask"


def refusal(judgement: Judgement, cwd: str) -> str:
    """What the model is told about a refusal: the reason, the rule and where it stands. A hook's words are
    given as it said them."""
    decision = judgement.decision
    said = [piece.reason for piece in decision.trace if piece.effect == "hook" and piece.reason]
    if said and decision.rule is None and judgement.by in ("hook", "mode"):
        return said[0]
    text = f"Refused: {judgement.reason}."
    if decision.rule is not None and decision.origin is not None:
        text += f" Rule: {decision.rule} ({_placed(decision.origin, cwd)})."
    return text


def _placed(origin: Origin, cwd: str) -> str:
    """The file and line of a rule, seen from the working directory."""
    file = os.path.relpath(origin.file, cwd) if os.path.isabs(origin.file) else origin.file
    shown = origin.file if file.startswith("..") else file
    return f"{shown}:{origin.line}" if origin.line else shown

"""The gate: rules, mode, hooks, trust and the people who answer questions meet here and nowhere else.

A call runs only when `judge` approved it, with exactly the approved input. A refusal names the rule and its
file and line. When there is nobody to ask, a question is a refusal.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol

from msgspec.structs import replace

from checkrein.base.origin import Origin
from checkrein.llm.port import Cancel
from checkrein.model.rule import Rule
from checkrein.policy.decide import decide
from checkrein.policy.effects import Net
from checkrein.policy.paths import opened
from checkrein.policy.policy import LOOSER, Policy, grant, meet, with_mode
from checkrein.policy.situation import Situation
from checkrein.policy.tools import Tools
from checkrein.policy.updates import SESSION, SetMode, Update, rules_of, updated
from checkrein.policy.values import Call, Context, Decision, HookVerdict, Mode
from checkrein.runtime.call.links import LiveLinks
from checkrein.runtime.call.refusal import By, Judgement, decider, refused, unasked
from checkrein.runtime.session.control import Answer, Control, Question

if TYPE_CHECKING:
    from checkrein.policy.auto import Blocks, Classifier

_REWRITES = 3


class Consent(Protocol):
    """How a call gets an answer besides the asker's, and where changes of permissions go.

    `by_hooks` asks the PermissionRequest hooks; None when they leave it open. As in the product, they
    run only where there is a person to ask. `permit` applies the permissions of an answer; the gate calls it
    before it asks the next question."""

    def by_hooks(self, question: Question) -> Answer | None: ...

    def permit(self, updates: Sequence[Update], by: Literal["asker", "hook"]) -> None: ...


class Gate:
    """The situation of one session while it runs. Safe to use from several threads. `classifier` makes the
    judge of auto mode for one call, whose cancel it gets."""

    def __init__(
        self,
        situation: Situation,
        control: Control,
        *,
        classifier: Callable[[Cancel], Classifier] | None = None,
        above: Gate | None = None,
    ) -> None:
        self.situation = situation
        self._own = situation.policy
        self._before_plan: Mode = "default"
        self._grants: tuple[Sequence[Rule], ...] = ()
        self._above = above
        self._ceiling: Policy | None = None
        self._turn_ceiling: Policy | None = None
        self._now: Policy | None = None
        self._now_under: Policy | None = None
        self._changing = threading.Lock()
        self._control = control
        self._classifier = classifier
        self._blocks: Blocks | None = None
        self._asking: threading.Lock = above._asking if above is not None else threading.Lock()
        self._root: Gate = above._root if above is not None else self
        self._below: list[weakref.ref[Gate]] = []
        if above is not None:
            self._root._take_in(self)

    @property
    def own(self) -> Policy:
        """The conversation's own policy, before the ones above narrow it."""
        return self._own

    @property
    def policy(self) -> Policy:
        """The policy that holds now: the conversation's own with its grants, under everything above it. That
        includes the parent's current policy."""
        with self._changing:
            under = self._above.policy if self._above is not None else None
            if self._now is None or under is not self._now_under:
                self._now, self._now_under = self._bound(self._own, under), under
            return self._now

    def _bound(self, own: Policy, under: Policy | None) -> Policy:
        granted = [rule for rules in self._grants for rule in rules]
        now = grant(own, granted) if granted else own
        for above in (self._ceiling, self._turn_ceiling, under):
            now = meet(above, now) if above is not None else now
        return self.situation.bound(now)

    @property
    def mode(self) -> Mode:
        return self._own.layers[0].mode

    def set_mode(self, mode: Mode) -> None:
        with self._changing:
            before = self._own.layers[0].mode
            if mode == "plan" and before != "plan":
                self._before_plan = before
            self._own = with_mode(self._own, mode)
            self._now = None

    @property
    def mode_after_plan(self) -> Mode:
        """The mode that an approved plan leads to: the one before it, unless the approval named another."""
        return self._before_plan if self.mode == "plan" else self.mode

    def grant_for_turn(self, rules: Sequence[Rule]) -> Callable[[], None]:
        """Add rules until the turn ends: a skill's `allowed-tools` and `disallowed-tools`. The returned
        function takes them back earlier."""
        with self._changing:
            self._grants = (*self._grants, rules)
            self._now = None

        def take_back() -> None:
            with self._changing:
                self._grants = tuple(one for one in self._grants if one is not rules)
                self._now = None

        return take_back

    def restrict_turn(self, policy: Policy) -> None:
        """Let a policy bind until the turn ends. It replaces an earlier one of this turn."""
        with self._changing:
            self._turn_ceiling = policy
            self._now = None

    def end_turn(self) -> None:
        with self._changing:
            self._grants = ()
            self._turn_ceiling = None
            self._now = None

    def narrow(self, policy: Policy) -> None:
        """Let another policy bind as well. It can only narrow."""
        with self._changing:
            self._ceiling = policy if self._ceiling is None else meet(self._ceiling, policy)
            self._now = None

    def tighten(self, gone: Collection[Rule], added: Sequence[Rule]) -> None:
        """Follow changed settings where they narrow: removed allow rules end, new rules that ask or deny
        start. Nothing here can widen."""
        stricter = [rule for rule in added if rule.verdict != "allow"]
        ended = {rule for rule in gone if rule.verdict == "allow"}
        with self._changing:
            layers = (
                replace(layer, rules=tuple(dict.fromkeys((*_without(layer.rules, ended), *stricter))))
                for layer in self._own.layers
            )
            self._own = Policy(layers, self._own.tools)
            self._now = None

    def update(self, update: Update, rules: Sequence[Rule], file: str) -> None:
        """Change the conversation's own permissions. What is above it still binds."""
        with self._changing:
            self._own = updated(self._own, update, rules, file)
            self._now = None

    def update_tree(self, update: Update, rules: Sequence[Rule], file: str) -> None:
        """Change the permissions of every conversation of the session. Each keeps its own denies and mode."""
        with self._root._changing:
            below = [gate for one in self._root._below if (gate := one()) is not None]
        for gate in (self._root, *below):
            gate.update(update, rules, file)

    def _take_in(self, gate: Gate) -> None:
        """Know a gate below. It may go when its conversation does."""
        with self._changing:
            self._below = [*(one for one in self._below if one() is not None), weakref.ref(gate)]

    def know(self, tools: Tools) -> None:
        """Decide about these tools from now on."""
        with self._changing:
            if tools is not self._own.tools:
                self._own = Policy(self._own.layers, tools)
                self._now = None

    def decide(
        self, tool: str, input: dict[str, Any], cwd: str, hooks: Sequence[HookVerdict] = ()
    ) -> Decision:
        return self._decided(tool, input, cwd, hooks)[0]

    def _decided(
        self, tool: str, input: dict[str, Any], cwd: str, hooks: Sequence[HookVerdict]
    ) -> tuple[Decision, Context]:
        """The decision, and the context with the links that it saw."""
        call = Call(tool, input)
        context = self.situation.facing(call, self.context(cwd))
        known = self.situation.verdicts(call, context, self.mode)
        return decide(self.policy, call, context, hooks=(*hooks, *known)), context

    def untrusted_notes(self, judgement: Judgement, tool: str, cwd: str) -> tuple[str, ...]:
        """What trust in the project would have changed for a refused call."""
        if self.situation.trusting is None:
            return ()
        from checkrein.policy.reasons import trust_notes

        call = Call(tool, judgement.input)
        return tuple(trust_notes(self.situation, call, self.context(cwd), judgement.decision))

    def runs_outside(self, input: dict[str, Any]) -> bool:
        """Whether a Bash call runs outside the session's sandbox. Such a call had its own approval."""
        return self.situation.confined.outside(input)

    def runs_unguarded(self, input: dict[str, Any]) -> bool:
        """Whether a Bash call runs without the guard, as the user wants it for its programs."""
        return self.situation.runs_unguarded(input)

    def only_reads(self, tool: str, input: dict[str, Any], cwd: str) -> bool:
        from checkrein.runtime.call.readers import needs_nothing

        return needs_nothing(Call(tool, input), self.context(cwd))

    def only_asks_git(self, command: str, cwd: str) -> bool:
        from checkrein.runtime.call.readers import only_asks_git

        return only_asks_git(command, self.context(cwd))

    def context(self, cwd: str) -> Context:
        return self.situation.context(cwd, LiveLinks())

    def judge(
        self,
        question: Question,
        cwd: str,
        hooks: Sequence[HookVerdict],
        consent: Consent | None,
        cancel: Cancel,
    ) -> Judgement:
        """Give the final verdict on a call: allowed with an input, or refused with a reason. Without
        `consent` the gate asks nobody, neither a person nor the classifier."""
        tool, input = question.tool, question.input
        for _ in range(_REWRITES):
            decision, context = self._decided(tool, input, cwd, hooks)
            if decision.verdict == "allow":
                return self._allow(tool, input, context, decision, decider(decision))
            if decision.verdict == "deny":
                return refused(input, decision, decider(decision))
            if consent is None:
                return refused(input, decision, "mode")
            paused = self._blocks is not None and self._blocks.paused
            if decision.classify and self._classifier is not None and not paused:
                decision = self._classify(self._classifier(cancel), tool, input, cwd, decision)
                if decision.verdict == "allow":
                    return self._allow(tool, input, context, decision, "classifier")
                if decision.verdict == "deny":
                    return refused(input, decision, "classifier")
            if self._control.asker is None:
                return refused(input, decision, "mode", unasked(decision))
            asked = self._asked(question, input, cwd, hooks, decision)
            hooked = self._hooked(consent, asked)
            answer = hooked or self._ask(asked, cwd, hooks, consent, cancel)
            if answer is None:
                continue
            if answer.verdict != "allow":
                return refused(input, decision, "asker", answer.message, interrupt=answer.interrupt)
            if answer.updated_input is not None:
                input = answer.updated_input
            if input is not asked.input or answer.updated_permissions:
                decision, context = self._decided(tool, input, cwd, hooks)
                if decision.classify and hooked is not None and self._classifier is not None:
                    decision = self._classify(self._classifier(cancel), tool, input, cwd, decision)
                    if decision.verdict != "allow":
                        return refused(input, decision, "classifier")
            if decision.verdict != "deny":
                return self._allow(tool, input, context, decision, "asker" if hooked is None else "hook")
        return refused(input, decision, "rule", "hooks or answers rewrote the input too often")

    def _classify(
        self, classifier: Classifier, tool: str, input: dict[str, Any], cwd: str, decision: Decision
    ) -> Decision:
        """Auto mode: the classifier's verdict. The gate counts blocks, and auto mode pauses after too
        many."""
        from checkrein.policy.auto import Blocks, settle

        answer = classifier.classify(Call(tool, input), self.context(cwd), decision)
        with self._asking:
            self._blocks = (self._blocks or Blocks()).after(answer)
        return settle(decision, answer)

    def _hooked(self, consent: Consent, question: Question) -> Answer | None:
        answer = consent.by_hooks(question)
        if answer is not None and answer.verdict == "allow" and answer.updated_permissions:
            consent.permit(answer.updated_permissions, "hook")
        return answer

    def _ask(
        self, question: Question, cwd: str, hooks: Sequence[HookVerdict], consent: Consent, cancel: Cancel
    ) -> Answer | None:
        """Ask. None when the answer to another question settled this one."""

        def is_open() -> bool:
            return self.decide(question.tool, question.input, cwd, hooks).verdict == "ask"

        return self.ask(question, is_open, cancel, permit=lambda updates: consent.permit(updates, "asker"))

    def ask(
        self,
        question: Question,
        is_open: Callable[[], bool],
        cancel: Cancel,
        *,
        permit: Callable[[Sequence[Update]], None],
    ) -> Answer | None:
        """Ask the user, one question at a time. None when the question is not open any more, or nobody can
        answer. `permit` gets the permissions of the answer before the next question."""
        with self._asking:
            if self._control.asker is None or not is_open():
                return None
            answer = self._control.asker.ask(question, cancel)
            if answer.verdict == "allow" and answer.updated_permissions:
                permit(answer.updated_permissions)
            return answer

    def _asked(
        self,
        question: Question,
        input: dict[str, Any],
        cwd: str,
        hooks: Sequence[HookVerdict],
        decision: Decision,
    ) -> Question:
        """The question as people get it: why, about which file, and what would settle it for good."""
        from checkrein.policy.near_misses import near_miss
        from checkrein.policy.suggestions import blocked_path, suggest

        call, context = Call(question.tool, input), self.context(cwd)
        tool = self.policy.tools.get(question.tool)
        verdicts = (*hooks, *self.situation.verdicts(call, context, self.mode))

        def after(updates: Sequence[Update]) -> Decision:
            rules = [rules_of(one, Origin(SESSION, "cli"), self.situation.root) for one in updates]
            return decide(self._after(updates, rules), call, context, hooks=verdicts)

        return replace(
            question,
            input=input,
            reason=decision.reason,
            rule=decision.rule,
            origin=decision.origin,
            suggestions=suggest(call, tool, context, self.mode, decision, after),
            blocked_path=blocked_path(call, tool, context),
            trace=decision.trace,
            near=near_miss(self.policy, call, context, decision),
        )

    def _after(self, updates: Sequence[Update], rules: Sequence[Sequence[Rule]]) -> Policy:
        """The policy once the person has made these changes here, and so in what is above."""
        own = self._own
        for one, written in zip(updates, rules, strict=True):
            if not isinstance(one, SetMode) or self.takes(one.mode):
                own = updated(own, one, written)
        return self._bound(own, self._above._after(updates, rules) if self._above is not None else None)

    def takes(self, mode: Mode) -> bool:
        """Whether a mode that the person chose in a conversation below holds here too: where nothing else
        was chosen, and it approves more."""
        return self.mode == "default" and mode in LOOSER

    def _allow(
        self, tool: str, input: dict[str, Any], context: Context, decision: Decision, by: By
    ) -> Judgement:
        return Judgement(
            allowed=True,
            input=input,
            decision=decision,
            by=by,
            reason=decision.reason,
            paths=tuple(opened(self.policy.tools.get(tool).effects(input), context)),
            hosts=tuple(self._hosts(tool, input)),
        )

    def _hosts(self, tool: str, input: dict[str, Any]) -> Sequence[str]:
        from checkrein.policy.hosts import host_of

        effects = self.policy.tools.get(tool).effects(input)
        return [host_of(effect.url) for effect in effects if isinstance(effect, Net)]


def _without(rules: Sequence[Rule], gone: Collection[Rule]) -> list[Rule]:
    return [rule for rule in rules if rule not in gone]

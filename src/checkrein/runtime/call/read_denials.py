"""Which files no request may hold: what the Read rules of a conversation deny."""

from __future__ import annotations

from msgspec.structs import replace

from checkrein.model.rule import Rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import Policy
from checkrein.policy.values import Call, Decision
from checkrein.runtime.call.gate import Gate


class ReadDenials:
    """Follows the policy of the gate. The rules that deny are compiled once for each policy."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self._known: tuple[Policy, Policy | None] | None = None

    def __call__(self, path: str) -> Decision | None:
        """The decision that denies reading a file, when a rule about files does. A rule that takes the whole
        tool away says nothing about files, and a mode denies nothing."""
        denying = self._denying()
        if denying is None:
            return None
        gate = self._gate
        decision = decide(denying, Call("Read", {"file_path": path}), gate.context(gate.situation.root))
        return decision if decision.verdict == "deny" and decision.rule is not None else None

    def _denying(self) -> Policy | None:
        policy = self._gate.policy
        if self._known is None or self._known[0] is not policy:
            layers = [replace(one, rules=tuple(filter(_denies_some, one.rules))) for one in policy.layers]
            found = Policy(layers, policy.tools) if any(layer.rules for layer in layers) else None
            self._known = policy, found
        return self._known[1]


def _denies_some(rule: Rule) -> bool:
    return rule.verdict == "deny" and rule.specifier is not None

"""Whether a permission rule concerns a call: the test behind the `if` of a hook."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule, split_rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy
from checkrein.policy.values import Call, Context

_ORIGIN = Origin("<hook condition>", "cli")
_HOLES = ("$(", "`", "<(", ">(")


def rule_matcher(context: Callable[[], Context]) -> Callable[[str, str, Mapping[str, Any]], bool]:
    """A function of rule, tool and input. It says no only when the rule certainly does not concern the call.
    A rule or command that it can't read counts as yes. So does a command in a substitution that a longer
    pattern might mean."""

    def matches(text: str, tool: str, input: Mapping[str, Any]) -> bool:
        rule = parse_rule(text, "deny", _ORIGIN, anchor=context().start)
        if rule.problem is not None:
            return True
        policy = compile_policy([rule])
        decision = decide(policy, Call(tool, input), context())
        if decision.verdict == "deny":
            return True
        command = input.get("command")
        if tool != "Bash" or not isinstance(command, str) or split_rule(text)[0] != "Bash":
            return False
        names_more = " " in (rule.specifier or "").removesuffix("*").strip()
        unread = any("understood" in piece.reason or "parse" in piece.reason for piece in decision.trace)
        return unread or (names_more and any(hole in command for hole in _HOLES))

    return matches

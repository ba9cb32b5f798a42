"""Examples of a rule: calls that it must match and calls that it must not.

They are checked when the rule is loaded.
"""

from __future__ import annotations

from collections.abc import Iterable

from checkrein.base.diagnostic import Diagnostic
from checkrein.facts.tools import RULE_ALIASES, VALUE_FIELDS
from checkrein.model.rule import Rule
from checkrein.policy.decide import decide
from checkrein.policy.policy import compile_policy
from checkrein.policy.tools import Tools, builtin_tools
from checkrein.policy.values import Call, Context

CODE = "PERM002"


def _concerns(rule: Rule, call: Call, context: Context, tools: Tools | None = None) -> bool:
    """Whether the rule, alone, decides the call."""
    decision = decide(compile_policy([rule], tools=tools), call, context)
    return decision.verdict == rule.verdict and decision.rule == rule.text


def example_call(rule: Rule, text: str, tools: Tools | None = None) -> Call:
    """A call of the rule's tool whose main field is `text`: a command, a path, an address, a name."""
    known = tools or builtin_tools()
    name = RULE_ALIASES.get(rule.tool, rule.tool)
    fields = VALUE_FIELDS.get(name)
    if fields is None:
        return Call(name, {known.get(name).primary or "input": text})
    first, _, rest = text.partition(" ")
    values = {fields[0]: first}
    return Call(name, {**values, fields[1]: rest} if len(fields) > 1 and rest else values)


def check_examples(
    rules: Iterable[Rule], context: Context, tools: Tools | None = None
) -> tuple[Diagnostic, ...]:
    """A Diagnostic for every example that does not hold."""
    found: list[Diagnostic] = []
    for rule in rules:
        for wanted, texts in ((True, rule.match), (False, rule.not_match)):
            for text in texts:
                if _concerns(rule, example_call(rule, text, tools), context, tools) != wanted:
                    found.append(_diagnostic(rule, text, wanted))
    return tuple(found)


def _diagnostic(rule: Rule, text: str, wanted: bool) -> Diagnostic:
    said = "should match" if wanted else "should not match"
    return Diagnostic(
        code=CODE,
        severity="error",
        message=f"`{rule.text}` {said} `{text}`, but it {'does not' if wanted else 'does'}",
        origin=rule.origin,
        reason="A rule that does not mean what its author thinks protects nothing.",
        hint="Correct the rule, or the example.",
    )

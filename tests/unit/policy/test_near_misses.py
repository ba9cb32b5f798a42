"""The closest rule, and why it does not cover a call."""

from __future__ import annotations

import pytest

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule
from checkrein.policy.decide import decide
from checkrein.policy.near_misses import near_miss
from checkrein.policy.policy import compile_policy
from checkrein.policy.values import Call, Context

PLACE = Origin("/p/.claude/settings.json", "user")


@pytest.mark.parametrize(
    ("command", "rules", "closest", "because"),
    [
        ("npm run test", ["Bash(npm test *)"], "Bash(npm test *)", "`run` stands where it has `test`"),
        ("make all -j4", ["Bash(make all)"], "Bash(make all)", "goes on with `-j4`"),
        ("gh pr", ["Bash(gh pr list *)"], "Bash(gh pr list *)", "it wants `list` after `gh pr`"),
        ("a b c", ["Bash(a x)", "Bash(a b d)"], "Bash(a b d)", "`c` stands where it has `d`"),
        ("ls; b c", ["Bash(b d)"], "Bash(b d)", "`c` stands where it has `d`"),
    ],
)
def test_commands(command: str, rules: list[str], closest: str, because: str) -> None:
    made = compile_policy([parse_rule(text, "allow", PLACE) for text in rules])
    call, context = Call("Bash", {"command": command}), Context(cwd="/p", root="/p", home="/h")
    found = near_miss(made, call, context, decide(made, call, context))
    assert found is not None
    assert (found.rule, found.origin) == (closest, PLACE)
    assert because in found.because


def test_nothing_is_close_to_another_program() -> None:
    made = compile_policy([parse_rule("Bash(npm test *)", "allow", PLACE)])
    call, context = Call("Bash", {"command": "make all"}), Context(cwd="/p", root="/p", home="/h")
    assert near_miss(made, call, context, decide(made, call, context)) is None

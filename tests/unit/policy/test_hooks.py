"""Which hooks a call concerns: event, matcher, `if`, and hooks that can never run."""

from __future__ import annotations

from typing import Any

import pytest

from checkrein.base.origin import Origin, Span
from checkrein.model.items import Hook
from checkrein.policy.hooks import concerns, judges, unheard
from checkrein.policy.policy import compile_policy
from checkrein.policy.situation import Situation
from checkrein.policy.values import Call

CONTEXT = Situation(policy=compile_policy(), root="/p", home="/h").context()
PUSH = Call("Bash", {"command": "git push"})


def hook(**fields: Any) -> Hook:
    given = {"name": "PreToolUse", "type": "command", "command": "guard", **fields}
    return Hook(origin=Origin("/p/.claude/settings.json", "project", Span(7)), **given)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"matcher": "Bash"}, True),
        ({"matcher": "Read|Bash"}, True),
        ({"matcher": "Read"}, False),
        ({"matcher": "("}, False),
        ({"condition": "Bash(git *)"}, True),
        ({"condition": "Bash(npm *)"}, False),
        ({"condition": "Bash("}, True),
        ({"name": "PostToolUse"}, False),
        ({"command": None}, False),
    ],
)
def test_what_judges_a_call(fields: dict[str, Any], expected: bool) -> None:
    assert bool(list(judges([hook(**fields)], PUSH, CONTEXT))) is expected


def test_a_hook_that_is_not_heard_is_a_question_with_its_place() -> None:
    (verdict,) = unheard([hook(), hook(matcher="Read")], PUSH, CONTEXT)
    assert verdict.answer == "ask"
    assert "/p/.claude/settings.json:7 did not judge this call" in verdict.reason
    assert verdict.origin is not None


@pytest.mark.parametrize(
    ("rule", "command", "expected"),
    [
        ("Bash(git push *)", "ls && git push", True),
        ("Bash(git push *)", "ls", False),
        ("Bash(git push *)", "ls $(cat x)", True),
        ("Bash(git *)", "ls $(cat x)", False),
        ("Bash(git *)", "echo 'unclosed", True),
        ("Read(.env)", "cat .env", True),
    ],
)
def test_a_condition_says_no_only_when_it_is_sure(rule: str, command: str, expected: bool) -> None:
    assert concerns(rule, Call("Bash", {"command": command}), CONTEXT) is expected

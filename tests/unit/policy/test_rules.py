"""What rules mean, and which mean nothing."""

from __future__ import annotations

import pytest

from checkrein.base.origin import Origin, Span
from checkrein.model.rule import Verdict, parse_rule
from checkrein.policy.policy import compile_policy
from checkrein.policy.rules import Index, problem_of, scalar, value_text
from checkrein.policy.tools import builtin_tools

ORIGIN = Origin("/p/.claude/settings.json", "project", Span(4))


@pytest.mark.parametrize(
    ("text", "behavior", "why"),
    [
        ("", "deny", "empty"),
        ("Bash(rm", "deny", "never closed"),
        ("Bash(rm) x", "deny", "after the closing"),
        ("mcp__*", "allow", "literal"),
        ("B*", "allow", "literal"),
        ("mcp__g*__x", "allow", "literal"),
        ("Bash*(x)", "deny", "no specifier"),
        ("Bash(command:rm *)", "deny", "plain pattern"),
        ("Bash(run_in_background:true)", "allow", "only deny and ask"),
        ("Agent(model:opus)", "allow", "only deny and ask"),
        ("Write(src/**)", "allow", "Edit(src/**)"),
        ("Glob(src/**)", "allow", "Read(src/**)"),
        ("Read(!a)", "deny", "negated"),
        ("WebFetch(example.com)", "allow", "domain:"),
        ("WebFetch(domain:)", "deny", "no host"),
        ("WebSearch(x)", "deny", "no specifier of this form"),
        ("Read(file_path:x)", "deny", "can't be matched"),
    ],
)
def test_rules_without_a_meaning(text: str, behavior: Verdict, why: str) -> None:
    problem = problem_of(parse_rule(text, behavior, ORIGIN), builtin_tools())
    assert problem is not None
    assert why in problem


@pytest.mark.parametrize(
    "text",
    [
        "Bash",
        "Bash(ls:*)",
        "Read(~/x)",
        "mcp__a",
        "mcp__a__b",
        "Agent(x)",
        "Task(x)",
        "Skill(a *)",
        "Cd(~/x/*)",
    ],
)
@pytest.mark.parametrize("behavior", ["allow", "ask", "deny"])
def test_rules_with_a_meaning(text: str, behavior: Verdict) -> None:
    assert problem_of(parse_rule(text, behavior, ORIGIN), builtin_tools()) is None


def test_problems_are_diagnostics_with_their_place() -> None:
    policy = compile_policy([parse_rule("Bash(rm", "deny", ORIGIN), parse_rule("B*", "allow", ORIGIN)])
    first, second = policy.problems
    assert (first.code, first.severity, first.origin) == ("PERM001", "error", ORIGIN)
    assert second.severity == "warning"
    assert "Bash(rm" in first.message


def test_a_field_rule_on_an_ambiguous_name_is_both() -> None:
    index = Index([parse_rule("Bash(timeout:*)", "deny", ORIGIN)], builtin_tools())
    assert index.deny.params["Bash"]
    assert index.deny.commands["Bash"]["timeout"]


def test_values() -> None:
    assert scalar(True) == "true"
    assert scalar(3) == "3"
    assert scalar([1]) is None
    assert value_text("Agent", {}) == "general-purpose"
    assert value_text("Skill", {"skill": "/deploy", "args": "prod"}) == "deploy prod"
    assert value_text("Skill", {}) is None

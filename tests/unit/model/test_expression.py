"""The expressions of recipes: what they refer to and what they give."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checkrein.model.expression import (
    Failure,
    condition_references,
    equals,
    parse,
    parse_condition,
    references,
    references_in,
)
from checkrein.model.expression_value import Scope, holds, is_on, render, truthy

SCOPE = Scope(
    inputs={"flag": "true", "off": "false", "count": "3", "empty": "", "real": False},
    context={"plan": {"files": ["a.py", "b.py"]}, "padded": "  x ", "number": 4},
    result={"verdict": "needs work", "exit": 0, "quote": "it's"},
    campaign={"part": "one"},
    optional=frozenset({"later"}),
    temp="/tmp/run",
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("${{ inputs.flag }}", True),
        ("${{ inputs.off }}", False),
        ("inputs.flag", True),
        ("not inputs.off", True),
        ("${{ result.verdict }} == needs work", True),
        ("${{ result.verdict }} == 'needs work'", True),
        ('${{ result.verdict }} != "go"', True),
        ("${{ result.verdict }} == go or ${{ inputs.flag }} == true", True),
        ("${{ inputs.flag }} == true and ${{ inputs.off }} == true", False),
        ("not ${{ inputs.off }} and ${{ inputs.flag }}", True),
        ("${{ inputs.count }} > 2", True),
        ("${{ inputs.count }} >= 3 and ${{ context.number }} <= 4", True),
        ("${{ context.number }} < ${{ inputs.count }}", False),
        ("${{ result.exit }} == 0", True),
        ("${{ result.exit }} == ''", False),
        ("${{ inputs.empty }} == ''", True),
        ("${{ inputs.real }} == False", True),
        ("${{ inputs.count }} == 3.0", True),
        ("${{ inputs.count }} == '3.0'", False),
        ("${{ inputs.flag == 'true' }}", True),
        ("(inputs.off or inputs.flag) and not inputs.empty", True),
        ("${{ context.plan.files[1] }} == b.py", True),
        ("${{ context.padded | trim }} == x", True),
        ("${{ context.later }} == ''", True),
        ("${{ campaign.part }} == one", True),
        (equals("result.quote", "it's"), True),
        ("true", True),
    ],
)
def test_conditions(condition: str, expected: bool) -> None:
    assert holds(condition, SCOPE) is expected


@pytest.mark.parametrize(
    ("condition", "kind", "said"),
    [
        ("${{ result.nothing }} == 1", "missing", "`result.nothing` has no value"),
        ("${{ context.plan.name }}", "missing", "`context.plan` has no member `name`"),
        ("${{ context.plan.files[7] }}", "missing", "no member `7`"),
        ("${{ result.verdict }} > 3", "type", "`>` compares numbers, and `needs work` is none"),
        ("always", "syntax", "refers to nothing"),
        ("${{ github.sha }}", "syntax", "refers to nothing"),
        ("${{ inputs.flag | upper }}", "syntax", "`upper` is no filter"),
        ("inputs.flag ==", "syntax", "ends too early"),
        ("a == b == c", "syntax", "`==` is not expected here"),
        ("(inputs.flag", "syntax", "`)` is missing"),
        ("inputs.flag = true", "syntax", "`=` is not expected here"),
        ("", "syntax", "it is empty"),
        ("inputs.flag == 'x", "syntax", "the quote ' is never closed"),
        ("inputs.flag == " + "x" * 5000, "syntax", "longer than 4000 characters"),
        ("not " * 100 + "inputs.flag", "syntax", "levels deep"),
        ("(" * 3000, "syntax", "levels deep"),
    ],
)
def test_a_condition_without_a_value_says_why(condition: str, kind: str, said: str) -> None:
    found = holds(condition, SCOPE)
    assert isinstance(found, Failure)
    assert (found.kind, found.expression) == (kind, condition)
    assert said in str(found)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("${{ context.number }}", 4),
        ("${{ context.plan.files }}", ["a.py", "b.py"]),
        ("n=${{ context.number }} ${{ inputs.flag }}", "n=4 true"),
        ("${{ context.plan }}!", '{"files": ["a.py", "b.py"]}!'),
        ({"a": ["${{ inputs.count }}", 1], "b": None}, {"a": ["3", 1], "b": None}),
        ("{{AUTOSKILLIT_TEMP}}/x {{CHECKREIN_TEMP}}", "/tmp/run/x /tmp/run"),
        ("echo $${{ github.sha }}", "echo ${{ github.sha }}"),
        ("echo ${{ result.quote | quote }}", """echo 'it'"'"'s'"""),
        ("${{ context.later }}", None),
        ("no expression }} $x ${y}", "no expression }} $x ${y}"),
    ],
)
def test_rendering(value: Any, expected: Any) -> None:
    assert render(value, SCOPE) == expected


def test_a_failure_names_the_place_in_the_value() -> None:
    found = render({"cmd": ["x", "y ${{ inputs.lost }}"]}, SCOPE)
    assert str(found) == "`${{ inputs.lost }}` in `cmd[1]`: `inputs.lost` has no value"
    assert "`}}` is missing" in str(render("a ${{ inputs.x", SCOPE))


def test_values_are_not_expressions() -> None:
    """What a model or a tool returns is never read as an expression."""
    scope = Scope(context={"said": "${{ inputs.secret }}"}, inputs={"secret": "s"})
    assert render("x ${{ context.said }}", scope) == "x ${{ inputs.secret }}"
    assert render(
        "{{CHECKREIN_TEMP}}${{ context.t }}", Scope(context={"t": "{{CHECKREIN_TEMP}}"}, temp="/t")
    ) == ("/t{{CHECKREIN_TEMP}}")


def test_the_default_of_an_input_may_hold_the_directory() -> None:
    scope = Scope(inputs={"plans": "{{AUTOSKILLIT_TEMP}}/plans"}, temp="/t")
    assert render("${{ inputs.plans }}", scope) == "/t/plans"


def test_references() -> None:
    text = "${{ inputs.a }} ${{ context.b.c[0] | trim }} $${{ inputs.d }}"
    assert [str(one) for one in references(text)] == ["inputs.a", "context.b.c[0]"]
    assert [str(one) for one in references("${{ inputs.a }} ${{ bad")] == ["inputs.a"]
    when = "inputs.a == ${{ result.b }} and not context.c"
    assert [str(one) for one in condition_references(when)] == ["inputs.a", "result.b", "context.c"]
    assert [str(one) for one in references_in({"x": ["${{ result.z }}"], "y": 3})] == ["result.z"]


def test_truth() -> None:
    assert [truthy(one) for one in ("", "False", "0", "no", 0, None, [], {})] == [False] * 8
    assert [truthy(one) for one in ("x", "none", 1, [0], "https://host/issue")] == [True] * 5
    assert [is_on(one) for one in ("true", "YES", 1, True)] == [True] * 4
    assert [is_on(one) for one in ("maybe", "", None, "false")] == [False] * 4


_WORDS = [
    "${{",
    "}}",
    "inputs.flag",
    "context.plan",
    "==",
    ">",
    "and",
    "not",
    "or",
    "(",
    ")",
    "|",
    "trim",
    "'",
    '"',
    "\\",
    "$",
    "{",
    "x",
    "3",
    "[1]",
    ".",
    "=",
    "!",
]
_PIECES = st.lists(st.sampled_from([*_WORDS, " ", "\n"]), max_size=30).map("".join)


@given(st.one_of(st.text(max_size=60), _PIECES))
def test_total(text: str) -> None:
    """No text raises, whatever it is used as, and a failure has a message."""
    for found in (parse(text), parse_condition(text), render(text, SCOPE), holds(text, SCOPE)):
        assert not isinstance(found, Failure) or str(found)
    references(text)
    condition_references(text)

"""Bash that the grammar can't read, put into words that it can."""

from __future__ import annotations

import pytest

from checkrein.policy.lines import answer
from checkrein.policy.shell.grammar import parse
from checkrein.policy.shell.rewrite import rewrite

RULES = {"allow": ["Bash"], "deny": ["Bash(rm *)", "Read(secrets/**)", "Edit(src/**)", "Bash(time *)"]}


def verdict(text: str, permissions: dict[str, list[str]] = RULES) -> str:
    record = {"permissions": permissions, "tool": "Bash", "input": {"command": text}}
    return answer(record, cwd="/p", home="/h").line.verdict


@pytest.mark.parametrize(
    "text",
    [
        "! { ls; }",
        "! { ls; } && pwd",
        "if ! { ls; }; then pwd; fi",
        "ls && ! { pwd; }",
        "f() { ! { ls; }; }; f",
        "! { ls; } | cat",
        "! { ls; } > out",
        "exec 3<>lock",
        "cat 3<> lock",
    ],
)
def test_ordinary_text_is_allowed(text: str) -> None:
    assert verdict(text) == "allow"


def test_a_timed_group_is_allowed_without_a_rule_on_time() -> None:
    rules = {"allow": ["Bash"], "deny": ["Bash(rm *)"]}
    assert verdict("time { ls; pwd; }", rules) == "allow"
    assert verdict("time -p { ls; } | cat", rules) == "allow"
    assert verdict("! time { ls; }", rules) == "allow"
    assert verdict("time { ls; }") == "deny"


@pytest.mark.parametrize(
    "text",
    [
        "! { rm x; }",
        "! { ls; rm x; } && pwd",
        "time { rm x; }",
        "! time { rm x; }",
        "X=ls; ! { X=rm; } && $X a",
        "X=ls; ! { X=rm; } || $X a",
        "X=ls; ! { X=rm; }; $X a",
        "! { cd secrets; } || cat k",
        "! { cd secrets; }; cat k",
        "exec 3<>secrets/k",
        "exec 3<>src/x",
        "cat 0<>secrets/k",
        "cat <>src/x",
        "! { ls; } > src/x",
        "bash 0<>f",
        "sh 0<> f",
    ],
)
def test_what_is_denied_stays_denied(text: str) -> None:
    assert verdict(text) != "allow"


@pytest.mark.parametrize(
    "text",
    [
        "echo '! { a; }'",
        'echo "! { a; }"',
        "# ! { a; }",
        "echo ! { a; }",
        "cat <<E\n! { rm x; }\nE",
        "alias a=b; ! { a; }",
        "! {ls; }",
        "/usr/bin/time { ls; }",
        "X=1 time { ls; }",
        "ls | time { ls; }",
        "echo a '<>' b",
        "cat <>(ls)",
    ],
)
def test_other_text_is_left_as_it_is(text: str) -> None:
    tree = parse(text)
    assert rewrite(tree) == (tree, {})


def test_no_byte_moves() -> None:
    for text in ("ls; ! { ls; }", "ls; time -p { ls; }", "exec 3<>f"):
        tree, marks = rewrite(parse(text))
        assert len(tree.root_node.text or b"") == len(text)
        assert marks

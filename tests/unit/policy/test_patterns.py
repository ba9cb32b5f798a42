"""Command patterns: exact, prefixes, wildcards, partly known text."""

from __future__ import annotations

import pytest

from checkrein.policy.abstract import ANY, ONE, STAR, is_glob, is_static, may_match, shown
from checkrein.policy.patterns import compile_command, normal


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("npm run build", "npm run build", True),
        ("npm run build", "npm run build --x", False),
        ("git push *", "git push", True),
        ("git push *", "git push origin", True),
        ("git push *", "git pushx", False),
        ("git push:*", "git push origin", True),
        ("git:* push", "git push", False),
        ("git:* push", "git:x push", True),
        ("ls*", "lsof", True),
        ("* --version", "node --version", True),
        ("* --version", "--version", False),
        ("git * main", "git push origin main", True),
        ("git * main", "git main", False),
        ("git commit *", "git commit -m a\nb", True),
        ("echo \\*", "echo *", True),
        ("echo \\*", "echo x", False),
    ],
)
def test_matches(pattern: str, text: str, expected: bool) -> None:
    assert compile_command(pattern).matches(text) is expected


@pytest.mark.parametrize(
    ("pattern", "text", "expected"),
    [
        ("rm *", f"{ANY} a", True),
        ("rm *", f"r{ONE} a", True),
        ("rm *", f"ls {ANY}", False),
        ("git push *", f"git {ANY}", True),
        ("git push *", f"git{ANY}push", True),
        ("git push *", f"git pull {ANY}", False),
        ("rm", f"r{STAR}", True),
        ("* --force", f"git {ANY}", True),
        ("ls*", f"l{ANY}", True),
    ],
)
def test_may_match(pattern: str, text: str, expected: bool) -> None:
    assert compile_command(pattern).may_match(text) is expected


def test_may_match_agrees_with_matches_on_known_text() -> None:
    for pattern in ("rm *", "git * main", "ls*", "a", "* x *", "**"):
        for text in ("rm", "rm a", "git x main", "lsx", "a", "b x c", ""):
            compiled = compile_command(pattern)
            assert compiled.may_match(text) == compiled.matches(text), (pattern, text)


def test_the_first_word_selects_rules() -> None:
    assert compile_command("git push *").first == "git"
    assert compile_command("rm:*").first == "rm"
    assert compile_command("npm").first == "npm"
    assert compile_command("ls*").first is None
    assert compile_command("* x").first is None


def test_helpers() -> None:
    assert normal("  a \t b\n") == "a b"
    assert is_static("abc")
    assert not is_static(f"a{STAR}")
    assert is_glob(f"a{ONE}")
    assert not is_glob(f"a{ONE}{ANY}")
    assert shown(f"a{ANY}{STAR}{ONE}") == "a…*?"
    assert may_match((), "")
    assert not may_match((), "a")

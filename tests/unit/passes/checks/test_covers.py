"""When one permission rule speaks of all that another speaks of."""

from __future__ import annotations

import pytest

from checkrein.base.origin import Origin
from checkrein.model.rule import Rule, Verdict, parse_rule
from checkrein.passes.checks.covers import covers

ORIGIN = Origin("/p/.claude/settings.json", "project")


def rule(text: str, behavior: Verdict = "deny", anchor: str = "/p") -> Rule:
    return parse_rule(text, behavior, ORIGIN, anchor=anchor)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bash", "Bash(git push *)"),
        ("Bash(git *)", "Bash(git push *)"),
        ("Bash(git:*)", "Bash(git push)"),
        ("Bash(git *)", "Bash(git)"),
        ("Bash(git * main)", "Bash(git push origin main)"),
        ("Bash(* --force)", "Bash(git push --force)"),
        ("Task", "Agent(Explore)"),
        ("Skill(deploy *)", "Skill(deploy)"),
        ("mcp__tracker", "mcp__tracker__close"),
        ("mcp__tracker__*", "mcp__tracker__close"),
        ("Read(secrets/**)", "Read(secrets/k.txt)"),
        ("Read(secrets)", "Read(secrets/**)"),
        ("Read(secrets/**)", "Read(secrets/*.pem)"),
        ("Edit(**)", "Edit(src/**)"),
        ("Read(*.pem)", "Read(*.pem)"),
        ("Read(~/.ssh/**)", "Read(~/.ssh/id_rsa)"),
        ("WebFetch(domain:*)", "WebFetch(domain:example.com)"),
        ("WebFetch(domain:*.example.com)", "WebFetch(domain:api.example.com)"),
    ],
)
def test_covers(one: str, other: str) -> None:
    assert covers(rule(one), rule(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Bash(git push *)", "Bash(git *)"),
        ("Bash(git push *)", "Bash"),
        ("Bash(git *)", "Bash(gitk *)"),
        ("Bash(git push)", "Bash(git push *)"),
        ("Bash(git *)", "Bash(g*)"),
        ("Edit", "Write"),
        ("Read(src/**)", "Edit(src/a.py)"),
        ("mcp__track", "mcp__tracker__close"),
        ("Read(/.env)", "Read(.env)"),
        ("Read(secrets/*.pem)", "Read(secrets/**)"),
        ("Read(~/.ssh/**)", "Read(.ssh/id_rsa)"),
        ("WebFetch(domain:example.com)", "WebFetch(domain:*.example.com)"),
        ("WebFetch(domain:example.com)", "WebFetch(domain:evil-example.com)"),
    ],
)
def test_does_not_cover(one: str, other: str) -> None:
    assert not covers(rule(one), rule(other))


def test_anchored_paths_of_two_files_are_two_places() -> None:
    assert covers(rule("Read(/a/**)"), rule("Read(/a/b)"))
    assert not covers(rule("Read(/a/**)"), rule("Read(/a/b)", anchor="/home/ada"))

"""Whether one permission rule matches everything that another matches.

Sound, not complete: True is certain, False means not proven.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from fnmatch import fnmatchcase

from checkrein.facts.tools import PATH_FAMILIES, RULE_ALIASES, VALUE_FIELDS
from checkrein.model.rule import Rule
from checkrein.passes.checks.check import Subject
from checkrein.policy.abstract import STAR
from checkrein.policy.globs import PathPattern, compile_path, matches
from checkrein.policy.hosts import matches_host
from checkrein.policy.patterns import CommandPattern, compile_command, normal
from checkrein.policy.rules import problem_of

_SHELLS = ("Bash", "PowerShell")
# Means any text in a compared pattern; only a `*` of the other pattern can match it.
_ANY_TEXT = "\x00"


def working(subject: Subject) -> Iterator[Rule]:
    """The rules in effect that can match something."""
    for rule in subject.project.rules:
        if problem_of(rule, subject.tools) is None:
            yield rule


def tool_of(rule: Rule) -> str:
    return RULE_ALIASES.get(rule.tool, rule.tool)


def covers(one: Rule, other: Rule) -> bool:
    """Whether `one` matches every call that `other` matches."""
    mine, theirs = tool_of(one), tool_of(other)
    if one.specifier is None:
        return _names(mine, theirs)
    if other.specifier is None or mine != theirs:
        return False
    if mine in _SHELLS or mine in VALUE_FIELDS:
        return _commands(compile_command(one.specifier), compile_command(other.specifier))
    if mine in PATH_FAMILIES:
        return _paths(one, other)
    if mine == "WebFetch":
        return _hosts(one.specifier, other.specifier)
    return one.specifier.strip() == other.specifier.strip()


def _names(mine: str, theirs: str) -> bool:
    if mine == theirs or fnmatchcase(theirs, mine):
        return True
    return mine.startswith("mcp__") and theirs.startswith(mine + "__")


def _commands(one: CommandPattern, other: CommandPattern) -> bool:
    text = "".join(_ANY_TEXT if token == STAR else token for token in other.tokens)
    text = text if other.exact else normal(text)
    spellings = (text, f"{text} {_ANY_TEXT}") if other.boundary else (text,)
    return all(one.matches(spelling) for spelling in spellings)


def _paths(one: Rule, other: Rule) -> bool:
    mine, theirs = (
        compile_path(rule.specifier or "", grants=rule.verdict == "allow") for rule in (one, other)
    )
    if mine.base != theirs.base or (mine.base == "anchor" and one.anchor != other.anchor):
        return False
    if mine.pattern in ("**", theirs.pattern):
        return mine.pattern == "**" or not mine.strict or theirs.strict
    if theirs.floating and not mine.floating:
        return False
    return not mine.strict and matches(mine, _sample(theirs))


def _sample(pattern: PathPattern) -> str:
    """A path that the pattern matches. A pattern that matches this path matches all the others too."""
    wild = any(char in pattern.pattern for char in "*?[")
    plain = pattern.location if wild else pattern.pattern.lstrip("/")
    return os.path.join(plain, _ANY_TEXT) if wild else plain


def _hosts(one: str, other: str) -> bool:
    mine, theirs = (text.strip().removeprefix("domain:").strip() for text in (one, other))
    return mine == theirs or ("*" not in theirs and matches_host(mine, theirs)) or mine == "*"

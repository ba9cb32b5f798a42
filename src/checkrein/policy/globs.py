"""Path patterns of Read and Edit rules: gitignore patterns below a base directory.

    //x     below the root of the file system        ~/x   below the home directory
    /x      below the directory of the rule's file   x, ./x   below the directory the session started in

For deny and ask a pattern `dir/**` of one segment holds at any depth and covers `dir` itself; for allow
it means `dir` right below its base. What `pathspec` matches is certain; `may_match_path` answers for a
path that is only partly known.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from checkrein.policy.abstract import ANY, ONE, STAR

if TYPE_CHECKING:
    from checkrein.policy.fences import Fence

Base = Literal["root", "home", "abs", "anchor"]


class PathPattern(Struct, frozen=True):
    base: Base
    pattern: str
    """A gitignore pattern relative to the base."""
    strict: bool
    """Match the path itself only, not everything below a directory that matches."""
    location: str
    """The leading literal segments: where below the base the pattern points first."""
    floating: bool
    """Matches at any depth below the base."""
    fence: Fence | None = None
    """Matches what the fence holds, in place of the pattern."""


def compile_path(specifier: str, *, grants: bool) -> PathPattern:
    """`grants` is true for an allow rule; its patterns are read narrowly."""
    spec = specifier.strip()
    base: Base = "root"
    anchored = True
    if spec.startswith("//"):
        base, spec = "abs", spec[2:]
    elif spec == "~" or spec.startswith("~/"):
        base, spec = "home", spec[2:]
    elif spec.startswith("/"):
        base, spec = "anchor", spec[1:]
    else:
        anchored = False
        while spec.startswith("./"):
            spec = spec[2:]
        if spec == ".":
            spec = ""
    spec = spec.lstrip("/")
    core = spec
    if core.endswith("/**") and not (grants and core.count("/") >= 1):
        core = core[:-3]
    core = core.rstrip("/")
    if core in ("", "**"):
        return PathPattern(base, "**", False, "", True)
    floating = not anchored and "/" not in core
    pattern = core if floating else "/" + core
    last = core.rsplit("/", 1)[-1]
    strict = grants and any(char in last for char in "*?[") and last != "**"
    literal: list[str] = []
    for segment in core.split("/"):
        if any(char in segment for char in "*?["):
            break
        literal.append(segment)
    return PathPattern(base, pattern, strict, "/".join(literal), floating or core.startswith("**/"))


def fenced_path(fence: Fence) -> PathPattern:
    """The pattern of a fence, whose root is the anchor of its rule."""
    return PathPattern("anchor", "/**", False, "", False, fence)


def matches(pattern: PathPattern, relative: str) -> bool:
    """`relative` is a normal path below the base; empty for the base itself."""
    if pattern.fence is not None:
        return pattern.fence.holds(relative)
    if pattern.pattern == "**":
        return True
    if not relative:
        return False
    found = _regex(pattern.pattern).match(relative)
    if found is None:
        return False
    return not (pattern.strict and found.groupdict().get("ps_d"))


def expression(pattern: PathPattern) -> str:
    """A regular expression that matches from the start of each path below the base that the pattern matches,
    for places where there is nothing but the standard library. Only for patterns of deny and ask rules."""
    if pattern.fence is not None:
        return pattern.fence.expression
    return "" if pattern.pattern == "**" else _regex(pattern.pattern).pattern


@lru_cache(maxsize=4096)
def _regex(pattern: str) -> re.Pattern[str]:
    from pathspec.patterns.gitignore.base import GitIgnorePatternError
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    try:
        regex, _ = GitIgnoreSpecPattern.pattern_to_regex(pattern)
    except GitIgnorePatternError:
        regex = None
    if regex is None:
        return re.compile("^" + re.escape(pattern.lstrip("/")) + "(?P<ps_d>/|$)")
    return re.compile(regex.decode() if isinstance(regex, bytes) else regex)


def may_match_path(pattern: PathPattern, relative: str) -> bool:
    """Whether the pattern matches some path that `relative` stands for, or a directory above it."""
    if pattern.fence is not None:
        return pattern.fence.may_hold(relative)
    if pattern.pattern == "**":
        return True
    tokens = _path_tokens(pattern.pattern)
    end = len(tokens)
    fresh = True  # at the start of a segment
    led = False  # a wildcard leads the segment, and what it matches does not start with a dot
    empty = _closure(tokens, {0}, fresh)  # reached without any character of this segment
    taken: set[int] = set()
    for char in relative:
        if char == ANY:
            return True
        if char == "/":
            if end in empty | taken and not pattern.strict:
                return True
            after = {at for old in empty | taken for at in _step(tokens, old, char)}
            empty, taken, fresh, led = _closure(tokens, after, True), set(), True, False
        elif char in (STAR, ONE):
            led = led or fresh
            more = {at for old in empty for at in _step(tokens, old, char, first=led)}
            more |= {at for old in taken for at in _step(tokens, old, char)}
            empty = empty if char == STAR else set()
            taken = _closure(tokens, more | (taken if char == STAR else set()), False)
            fresh = False
        else:
            more = {at for old in taken for at in _step(tokens, old, char)}
            if not (led and char == "."):
                more |= {at for old in empty for at in _step(tokens, old, char)}
            empty, taken, fresh = set(), _closure(tokens, more, False), False
        if not empty and not taken:
            return False
    return end in empty | taken


_BRACKETS = re.compile(r"\[[!^]?\]?(?:\[[:.=][^\]]*[:.=]\]|[^\]])*\]")
_DEEP = "\ue003"
"""`**` at the end: any characters, slashes included."""
_DIRS = "\ue004"
"""`**/`: any number of whole directories."""


@lru_cache(maxsize=4096)
def _path_tokens(pattern: str) -> tuple[str, ...]:
    tokens: list[str] = [] if pattern.startswith("/") else [_DIRS]
    text = pattern.lstrip("/")
    at = 0
    while at < len(text):
        char = text[at]
        if text.startswith("**/", at) and (at == 0 or text[at - 1] == "/"):
            tokens.append(_DIRS)
            at += 3
            continue
        if char == "*":
            deep = text[at:] == "**"
            tokens.append(_DEEP if deep else STAR)
            at += 1 if deep else 0
        elif char == "?":
            tokens.append(ONE)
        elif char == "[" and (found := _BRACKETS.match(text, at)):
            tokens.append(ONE)
            at = found.end() - 1
        elif char == "\\" and at + 1 < len(text):
            at += 1
            tokens.append(text[at])
        else:
            tokens.append(char)
        at += 1
    return tuple(tokens)


def _closure(tokens: tuple[str, ...], positions: set[int], start: bool) -> set[int]:
    """Add the positions reached when stars match nothing. Whole directories end where a segment starts."""
    for at in tuple(positions):
        while at < len(tokens) and (tokens[at] in (STAR, _DEEP) or (start and tokens[at] == _DIRS)):
            at += 1
            positions.add(at)
    return positions


def _step(tokens: tuple[str, ...], at: int, char: str, *, first: bool = False) -> set[int]:
    """Positions after one character of the path; a STAR of the path may take several tokens.

    `first`: a wildcard leads the segment, so the character it matches here is not a dot.
    """
    if at >= len(tokens):
        return set()
    wanted = tokens[at]
    if wanted in (_DIRS, _DEEP):
        return {at}
    if char not in (STAR, ONE):
        if wanted == STAR:
            return {at} if char != "/" else set()
        if wanted == ONE:
            return {at + 1} if char != "/" else set()
        return {at + 1} if wanted == char else set()
    if wanted == "/" or (first and wanted == "."):
        return set()
    if char == ONE:
        return {at} if wanted == STAR else {at + 1}
    found = {at}
    while at < len(tokens) and tokens[at] not in ("/", _DIRS):
        at += 1
        found.add(at)
    return found

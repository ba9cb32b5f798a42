"""What a search below a directory may reach: what rules match there, without what it leaves out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from checkrein.base.later import later
from checkrein.model.rule import Rule
from checkrein.policy.abstract import is_static
from checkrein.policy.paths import inside, normal, relative
from checkrein.policy.rules import PathRule, RuleSet
from checkrein.policy.shell.program import Access
from checkrein.policy.view import View

_WILD = later(r"[*?\[]")
_FILE = later(r".*[^.]\.\w+|\.env(?:\..*)?|\.\w*rc|\.netrc|\.pgpass|\.htpasswd|\.git-credentials")
_EXTENSION = later(r"\*(\.\w+)")
_PLAIN = later(r"(?:[\w.*?+@~%, -]|\[\w+\])*")
_BRACES = later(r"(.*)\{([^{}]*)\}(.*)")


def held(view: View, rules: RuleSet, families: Iterable[str], access: Access, path: str) -> Rule | None:
    """The rule that matches something below `path` which the access does not leave out."""
    for rule, name in view.below(rules, families, path):
        if (
            rule.pattern.floating
            and (_is_file(name) or _is_plain(rule))
            and not _holds_base(view, rule, name)
        ):
            continue
        if not _left_out(access, rule, _remaining(rule, normal(view.base(rule)), name)):
            return rule.rule
    return None


def _holds_base(view: View, rule: PathRule, name: str) -> bool:
    return inside(normal(view.base(rule)), (name,)) or not is_static(name)


def _is_plain(rule: PathRule) -> bool:
    """A name without `**/` and wildcards holds at any depth, but its file is where the rule points first."""
    return not rule.pattern.pattern.startswith("/") and not _WILD.search(rule.pattern.pattern)


def _is_file(name: str) -> bool:
    """A name with an extension is hardly a directory in which a rule on any directory finds its file."""
    last = name.rsplit("/", 1)[-1]
    return is_static(last) and re.fullmatch(r".*[^.]\.[A-Za-z]\w*", last) is not None


def _remaining(rule: PathRule, base: str, name: str) -> list[str]:
    """The segments of the pattern that lie below the place where the search starts."""
    segments = [part for part in rule.pattern.pattern.strip("/").split("/") if part]
    below = relative(name, base)
    if rule.pattern.floating or below is None:
        return segments
    depth = len([part for part in below.split("/") if part])
    return segments if "**" in segments[:depth] else segments[depth:]


def _left_out(access: Access, rule: PathRule, segments: Sequence[str]) -> bool:
    named = [part for part in segments if part != "**"]
    if not named:
        return False
    if not access.hidden and any(part.startswith(".") for part in named):
        return True
    if access.skips and not access.only and any(_skipped(part, access.skips) for part in named):
        return True
    last = named[-1]
    if not access.only or not _FILE.fullmatch(last.replace("*", "x")):
        return False
    return not any(_may_overlap(last, glob) for one in access.only for glob in _expanded(one))


def _skipped(segment: str, skips: Iterable[str]) -> bool:
    for glob in (one for skip in skips for one in _expanded(skip)):
        bare = glob.removeprefix("**/").rstrip("/")
        if glob.startswith("**/"):
            bare = bare.removesuffix("/**").removesuffix("/*")
        if "/" in bare:
            continue
        if bare == segment or (not _WILD.search(segment) and fnmatchcase(segment, bare)):
            return True
    return False


def _may_overlap(segment: str, glob: str) -> bool:
    """Whether a name may match both. Programs read ranges, classes and escapes in different ways."""
    glob = glob.rsplit("/", 1)[-1]
    if not _PLAIN.fullmatch(glob):
        return True
    if not _WILD.search(segment):
        return fnmatchcase(segment.lower(), glob.lower())
    mine, other = _EXTENSION.fullmatch(segment), _EXTENSION.fullmatch(glob)
    return not (mine and other) or mine.group(1).lower() == other.group(1).lower()


def _expanded(glob: str) -> list[str]:
    """`*.{ts,tsx}` as its globs."""
    found = _BRACES.fullmatch(glob)
    if found is None:
        return [glob]
    return [f"{found.group(1)}{one}{found.group(3)}" for one in found.group(2).split(",")]

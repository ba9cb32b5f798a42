"""Which files find hands to the commands that it starts."""

from __future__ import annotations

from collections.abc import Sequence

from checkrein.base.later import later
from checkrein.facts.shell_readonly import FIND_SAFE, FIND_VALUES
from checkrein.facts.shell_words import words
from checkrein.policy.abstract import is_static
from checkrein.policy.shell.places import find_roots
from checkrein.policy.shell.program import Access, access

_JOINS = words("-o -or ! -not , ( ) -follow")
_NAME = later(r"[\w.*?+-]+")


def selected(texts: Sequence[str], cwds: Sequence[str], home: str) -> Access | None:
    """The files below the roots that pass the tests in `texts`; None unless one of them is on the name.

    `texts` are the words of find up to an action. A test behind the action, or one beside an alternative,
    selects nothing for it. The names of a glob with brackets or backslashes are read in different ways.
    """
    roots, tests = find_roots(texts)
    if not all(is_static(text) for text in texts) or not {"-H", "-L", "-D"}.isdisjoint(texts):
        return None
    only: list[str] = []
    at = 0
    while at < len(tests):
        test = tests[at]
        if test not in FIND_SAFE or test in _JOINS:
            return None
        value = tests[at + 1] if test in FIND_VALUES and at + 1 < len(tests) else ""
        if test in ("-name", "-iname"):
            if not _NAME.fullmatch(value):
                return None
            only.append(value)
        at += 2 if test in FIND_VALUES else 1
    if not only:
        return None
    found = [access(root, cwds, home).paths for root in roots]
    paths = tuple(dict.fromkeys(path for one in found for path in one))
    return Access(paths, " ".join(roots), tree=True, follows=True, only=tuple(only[:1]))

"""Which secrets the user wants to show: `secrets.reveal` in the user's own configuration.

`Read(tests/fixtures/**)` shows the secrets of these files, in every tool. A tool's name, such as
`mcp__vault__*`, shows the secrets in its results. Checkrein's own credentials always stay hidden.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from checkrein.base.origin import Origin
from checkrein.model.rule import parse_rule


class Exposure(Struct, frozen=True, kw_only=True):
    """`files` are gitignore patterns with their base directory; `tools` are names with `*`."""

    files: tuple[tuple[str, str], ...] = ()
    tools: tuple[str, ...] = ()

    def shows_file(self, path: str) -> bool:
        return any(_matches(base, pattern, path) for base, pattern in self.files)

    def shows_tool(self, name: str) -> bool:
        return any(fnmatchcase(name, one) for one in self.tools)


def exposure(texts: Sequence[str], *, root: str, home: str) -> Exposure:
    """From rule texts. A text that is neither a tool's name nor `Read(...)` shows nothing."""
    rules = [parse_rule(text, "allow", Origin("config.toml", "user")) for text in texts]
    return Exposure(
        files=tuple(_files((rule.specifier for rule in rules if rule.tool == "Read"), root, home)),
        tools=tuple(rule.tool for rule in rules if rule.specifier is None and not rule.problem),
    )


def _files(specifiers: Iterable[str | None], root: str, home: str) -> Iterable[tuple[str, str]]:
    from checkrein.policy.globs import compile_path

    bases = {"root": root, "anchor": root, "home": home, "abs": "/"}
    for specifier in specifiers:
        if specifier:
            pattern = compile_path(specifier, grants=True)
            yield os.path.realpath(bases[pattern.base]), pattern.pattern


def _matches(base: str, pattern: str, path: str) -> bool:
    below = base.rstrip("/") + "/"
    if not path.startswith(below):
        return False
    if pattern == "**":
        return True
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines([pattern]).match_file(path[len(below) :])

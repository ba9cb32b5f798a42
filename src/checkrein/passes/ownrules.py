"""Permission rules in Checkrein's own configuration, with examples that they must and must not match.

    [[permissions.rules]]
    deny = "Bash(rm *)"
    match = ["rm -rf build"]
    not_match = ["git rm --cached x"]

A project's configuration counts like its settings file: its allow rules need trust. Unlike other lists, the
rules of all layers count: a project can't undo what its user denies.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.files import read_bytes, read_text
from checkrein.base.home import checkrein_home, home_path
from checkrein.base.origin import Origin, Span
from checkrein.model.project import Place, Sources
from checkrein.model.rule import VERDICTS, Rule, Verdict, parse_rule

if TYPE_CHECKING:
    from checkrein.base.config import ConfigValue

KEY = "permissions.rules"
_HEAD = r"\s*\[\[\s*(?:tool\.checkrein\.)?permissions\.rules\s*\]\]"
_FIELDS = frozenset({*VERDICTS, "match", "not_match"})


def read(place: Place, env: Mapping[str, str]) -> Sources:
    """The rules, and a Diagnostic for each entry that is not a rule."""
    if not _has_any(place.root, home_path(env), env):
        return Sources()
    from pathlib import Path

    from checkrein.base.config import load_config
    from checkrein.facts.config import KEYS

    keys = [key for key in KEYS if key.name == KEY]
    config = load_config(keys, Path(place.root), checkrein_home(env), env)
    rules: list[Rule] = []
    found: list[Diagnostic] = []
    for held in config.layers.get(KEY, ()):
        for number, entry in enumerate(held.value):
            rule = _rule(entry, _origin(held, number), place)
            if isinstance(rule, Rule):
                rules.append(rule)
            else:
                found.append(rule)
    return Sources(rules=tuple(rules), diagnostics=tuple(found))


def _has_any(root: str, home: str, env: Mapping[str, str]) -> bool:
    """Whether a file exists that could hold rules; most projects have none and pay nothing."""
    if "CHECKREIN_PERMISSIONS__RULES" in env or os.path.isfile(os.path.join(home, "config.toml")):
        return True
    if os.path.isfile(os.path.join(root, "checkrein.toml")):
        return True
    return b"[tool.checkrein" in read_bytes(os.path.join(root, "pyproject.toml")).data


def _origin(held: ConfigValue, number: int) -> Origin:
    """The entry's place: its `[[...rules]]` line, if it has one."""
    origin = held.origin or Origin("<environment>", "cli")
    lines = read_text(origin.file).text.splitlines()
    heads = [at for at, line in enumerate(lines, 1) if re.match(_HEAD, line)]
    span = Span(heads[number]) if number < len(heads) else origin.span
    return origin.at(span, f"{KEY}[{number}]")


def _rule(entry: Any, origin: Origin, place: Place) -> Rule | Diagnostic:
    given = [name for name in VERDICTS if isinstance(entry.get(name), str)] if isinstance(entry, dict) else []
    if len(given) != 1 or not set(entry) <= _FIELDS:
        message = "This entry is not a rule: it needs one of `allow`, `ask` and `deny`, and may have examples"
        hint = 'Write deny = "Bash(rm *)", match = [...], not_match = [...].'
        return Diagnostic("CFG006", "error", message, origin, hint=hint)
    verdict: Verdict = given[0]
    return parse_rule(
        entry[verdict],
        verdict,
        origin,
        anchor=place.root,
        match=_texts(entry.get("match")),
        not_match=_texts(entry.get("not_match")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(str(item) for item in value) if isinstance(value, list) else ()

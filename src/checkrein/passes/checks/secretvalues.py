"""Tells values that are secrets from references, paths, addresses and plain words."""

from __future__ import annotations

import re

from checkrein.base.secrets import is_sensitive, looks_secret

_VARIABLE = re.compile(r"\$\{[^}]{0,512}\}|\$\w+")
_HARMLESS = re.compile(r"(?:[/~.]|[A-Za-z]:\\|https?://|\$|<)")
_WORD = re.compile(r"[a-z][a-z-]*|[A-Z][A-Z_]*|true|false")


def is_secret(name: str, value: object) -> bool:
    """True where `value` under `name` looks like a secret itself. It must not be printed."""
    if not isinstance(value, str):
        return False
    literal = _VARIABLE.sub("", value)
    if looks_secret(literal):
        return True
    if literal != value or _HARMLESS.match(value) or _WORD.fullmatch(value):
        return False
    return is_sensitive(name, value)

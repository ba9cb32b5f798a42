"""References to environment variables in each agent's spelling, and secrets turned into references."""

from __future__ import annotations

import re
from typing import Any

from checkrein.base.secrets import REDACTED, is_sensitive, looks_secret, redact_text, redact_url
from checkrein.dialects.generic.written import Ledger
from checkrein.facts.agents import Target

_REFERENCE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
PROJECT_DIR = re.compile(r"\$(?:CLAUDE_PROJECT_DIR\b|\{CLAUDE_PROJECT_DIR(?::?[-=?](?:[^{}]|\$\{\w+\})*)?\})")
"""Claude Code's variable for the project's directory, also with a default of the shell."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9-]*[ \t]+)(\S.*)", re.DOTALL)
"""`Bearer `, `Basic `, `Token ` before the secret of a header."""


def safe_value(field: str, name: str, value: str, ledger: Ledger, owner: str = "") -> str:
    """The value, or `${NAME}` where it looks like a secret. The scheme of a header stays in front of it."""
    if not is_sensitive(name, value) or _is_only_references(value):
        return value
    scheme, secret = "", value
    if field == "headers" and (found := _SCHEME.fullmatch(value)) and not looks_secret(found[1]):
        scheme, secret = found[1], found[2]
    variable = ledger.variables.name(name, secret, owner, own=field == "env")
    ledger.secret(field, variable)
    return f"{scheme}${{{variable}}}"


def safe_text(field: str, value: str, ledger: Ledger, owner: str = "") -> str:
    """An argument, address or command with references in place of its secrets. In an address, the name of a
    parameter tells them too: `?api_key=...`."""
    text = redact_url(value) if field == "url" else redact_text(value)
    for number in range(text.count(REDACTED)):
        variable = ledger.variables.name("SECRET", f"{number} {value}", owner)
        ledger.secret(field, variable)
        text = text.replace(REDACTED, f"${{{variable}}}", 1)
    return text


def safe_tree(field: str, name: str, value: Any, ledger: Ledger, owner: str = "") -> Any:
    """A value of any kind without apparent secrets; the name of a key counts for everything below it."""
    if isinstance(value, str):
        return safe_text(field, safe_value(field, name, value, ledger, owner), ledger, owner)
    if isinstance(value, dict):
        return {key: safe_tree(field, str(key), inner, ledger, owner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [safe_tree(field, name, inner, ledger, owner) for inner in value]
    return value


def spell(value: str, target: Target) -> str:
    """`${NAME}` and `${NAME:-default}` as `target` writes them; a default does not change."""
    if not target.env or target.env == "${{{name}}}":
        return value
    return _REFERENCE.sub(
        lambda found: found[0] if found[2] is not None else target.env.format(name=found[1]), value
    )


def whole_reference(value: str) -> str | None:
    """The variable's name when the value is nothing but one reference."""
    found = _REFERENCE.fullmatch(value.strip())
    return found[1] if found and found[2] is None else None


def has_reference(value: str) -> bool:
    return _REFERENCE.search(value) is not None


def references(value: str) -> list[str]:
    """The variables that a value names."""
    return [found[1] for found in _REFERENCE.finditer(value)]


def _is_only_references(value: str) -> bool:
    return has_reference(value) and not looks_secret(_REFERENCE.sub("", value))

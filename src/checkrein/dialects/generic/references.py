"""References to environment variables in each agent's spelling, and secrets turned into references."""

from __future__ import annotations

import re
from typing import Any

from checkrein.base.secrets import REDACTED, is_sensitive, looks_secret, redact_text
from checkrein.dialects.generic.written import Ledger
from checkrein.facts.agents import Target

_REFERENCE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_NOT_NAME = re.compile(r"\W+")


def _variable_for(name: str) -> str:
    """An environment variable for a header or option: `Authorization` is AUTHORIZATION."""
    return _NOT_NAME.sub("_", name).strip("_").upper() or "SECRET"


def safe_value(field: str, name: str, value: str, ledger: Ledger) -> str:
    """The value, or `${NAME}` where it looks like a secret."""
    if not is_sensitive(name, value) or _is_only_references(value):
        return value
    variable = _variable_for(name)
    ledger.secret(field, variable)
    return f"${{{variable}}}"


def safe_text(field: str, value: str, ledger: Ledger) -> str:
    """An argument, address or command with references in place of its secrets."""
    if not looks_secret(value):
        return value
    ledger.secret(field, "SECRET")
    return redact_text(value).replace(REDACTED, "${SECRET}")


def safe_tree(field: str, name: str, value: Any, ledger: Ledger) -> Any:
    """A value of any kind without apparent secrets; the name of a key counts for everything below it."""
    if isinstance(value, str):
        return safe_text(field, safe_value(field, name, value, ledger), ledger)
    if isinstance(value, dict):
        return {key: safe_tree(field, str(key), inner, ledger) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [safe_tree(field, name, inner, ledger) for inner in value]
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


def _is_only_references(value: str) -> bool:
    return has_reference(value) and not looks_secret(_REFERENCE.sub("", value))

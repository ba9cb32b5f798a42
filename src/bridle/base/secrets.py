"""What looks like a secret, and how it is hidden. Values found here never reach an output."""

from __future__ import annotations

import re
from typing import Any

REDACTED = "‹redacted›"

_NAME = re.compile(
    r"(?:^|[_\-.])(?:token|secret|password|passwd|passphrase|api[_-]?key|apikey|access[_-]?key|private[_-]?key"
    r"|auth|authorization|cookie|credentials?|dsn|pat)(?:$|[_\-.])",
    re.IGNORECASE,
)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_VALUE = re.compile(
    r"sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\bgithub_pat_[A-Za-z0-9_]{20,}"
    r"|\bglpat-[A-Za-z0-9_-]{16,}"
    r"|\bxox[abeoprs]-[A-Za-z0-9-]{10,}"
    r"|\bA(?:KIA|SIA)[A-Z0-9]{16}\b"
    r"|\bAIza[A-Za-z0-9_-]{30,}"
    r"|\bnpm_[A-Za-z0-9]{30,}"
    r"|\bhf_[A-Za-z0-9]{30,}"
    r"|\bey[JK][A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{5,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|(?i:\bbearer\s+)[A-Za-z0-9._~+/=-]{16,}"
    r"|(?<=://)[^\s/:@]+:[^\s/@]+(?=@)"
)
_REFERENCE = re.compile(r"\s*(?:\$\{[^}]*\}|\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|<[^>]*>|)\s*")


def is_secret_name(name: str) -> bool:
    """True for names such as `GITHUB_TOKEN`, `apiKey`, `Authorization`."""
    return _NAME.search(_CAMEL.sub("_", name)) is not None


def is_reference(value: str) -> bool:
    """True for `${VAR}`, `$VAR`, `<placeholder>` and the empty string: no secret stands there."""
    return _REFERENCE.fullmatch(value) is not None


def looks_secret(value: str) -> bool:
    return _VALUE.search(value) is not None


def is_sensitive(name: str, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return looks_secret(value) or (is_secret_name(name) and not is_reference(value) and len(value) >= 6)


def redact_text(text: str) -> str:
    return _VALUE.sub(REDACTED, text)


def redact(value: Any, name: str = "") -> Any:
    """A copy of a JSON-like value in which everything that looks like a secret is replaced."""
    if isinstance(value, str):
        return REDACTED if is_sensitive(name, value) and not looks_secret(value) else redact_text(value)
    if isinstance(value, dict):
        return {key: redact(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [redact(item, name) for item in value]
    return value

"""Find and hide what looks like a secret. Values found here never reach an output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from checkrein.base.secret_shapes import MARKS, SHAPES, VALUE

REDACTED = "‹redacted›"

_NAME = (
    r"(?i:(?:^|[_\-.])(?:token|secret|password|passwd|passphrase|api[_-]?key|apikey|access[_-]?key|private[_-]?key"
    r"|auth|authorization|cookie|credentials?|dsn|pat)(?:$|[_\-.]))"
)
_CAMEL = r"(?<=[a-z0-9])(?=[A-Z])"
# The marks by a character that each contains. A text without that character holds none of them.
_BY_SIGN = {sign: tuple((mark, at) for mark, at in MARKS.items() if sign in mark) for sign in ("_", "-")} | {
    "": tuple((mark, at) for mark, at in MARKS.items() if "_" not in mark and "-" not in mark)
}
_SCHEME = r"(?:(?:Bearer|Basic|Digest|Token|ApiKey)[ \t]+)?"
_PAIR = (
    r"""(?=(?<![\w.-])(?P<name>[\w.-]+)["']?\s*[:=,]\s*["']?"""
    + _SCHEME
    + r"""(?P<value>(?:\$\{[^}]*\}|[^\s"',}\]])+))"""
)
_FLAG = r"""(?<![\w-])--?(?P<name>[A-Za-z][\w-]*)(?:=|\s+)["']?(?P<value>[^\s"']+)"""
_QUERY = r"(?P<sign>[?&;#])(?P<name>[\w.~%-]+)=((?:\$\{[^}]*\}|[^&;#\s])+)"
_QUERY_NAMES = ("key", "sig", "signature", "code", "jwt")
_SECRET_WORDS = ("token", "secret", "pass", "key", "auth", "cookie", "credential", "dsn", "pat")
_TEXT_PAIR = r'\s*"(?:[^"\\]|\\.)*"\s*:\s*"(?:[^"\\]|\\.)*"'
_ENVIRONMENT = rf'"env"\s*:\s*\{{(?:{_TEXT_PAIR}\s*,?)*'
_TEXT_VALUE = r'(:\s*")((?:[^"\\]|\\.)*)(?=")'
_REFERENCE = r"\s*(?:\$\{[^}]*\}|\$[A-Za-z_]\w*|%[A-Za-z_]\w*%|<[^>]*>|)\s*"


def is_secret_name(name: str) -> bool:
    """True for names such as `GITHUB_TOKEN`, `apiKey`, `Authorization`."""
    return re.search(_NAME, re.sub(_CAMEL, "_", name)) is not None


def is_reference(value: str) -> bool:
    """True for `${VAR}`, `$VAR`, `<placeholder>` and the empty string: they hold no secret."""
    return re.fullmatch(_REFERENCE, value) is not None


def looks_secret(value: str) -> bool:
    """Whether part of the text has the form of a key, a token or a password in an address."""
    for sign, marks in _BY_SIGN.items():
        for mark, offset in marks if sign in value else ():
            at = value.find(mark)
            while at >= 0:
                if re.compile(VALUE).match(value, max(0, at + offset)):
                    return True
                at = value.find(mark, at + 1)
    return False


def secret_lines(text: str) -> list[int]:
    """The numbers, from 1, of the lines that hold what looks like a secret."""
    found: set[int] = set()
    for shape in SHAPES:
        pattern: re.Pattern[str] | None = None
        for mark in shape.marks:
            at = text.find(mark)
            while at >= 0:
                pattern = pattern or re.compile(shape.pattern)
                if pattern.match(text, max(0, at + shape.offset)):
                    found.add(text.count("\n", 0, at) + 1)
                at = text.find(mark, at + 1)
    return sorted(found)


def is_sensitive(name: str, value: Any) -> bool:
    if not isinstance(value, str):
        return False
    return looks_secret(value) or (is_secret_name(name) and not is_reference(value) and len(value) >= 6)


def redact_text(text: str) -> str:
    return re.sub(VALUE, REDACTED, text) if looks_secret(text) else text


def redact_url(url: str) -> str:
    """An address without its password and without values such as that of `?api_key=`."""
    return redact_text(re.sub(_QUERY, _hidden_value, url))


def _hidden_value(found: re.Match[str]) -> str:
    named = is_secret_name(found["name"]) or found["name"].lower() in _QUERY_NAMES
    return f"{found['sign']}{found['name']}={REDACTED}" if named and not is_reference(found[3]) else found[0]


def redact_source(line: str) -> str:
    """A line of a file to show, with known secrets and the values beside names such as `apiKey` hidden.

    Pairs are `"name": "value"`, `name=value` and neighbours in a list such as `"--token", "value"`.
    It hides all values of an `"env": {...}`.
    """
    shown = line
    if '"env"' in line:
        shown = re.sub(_ENVIRONMENT, lambda found: redact_values(found[0]), line)
    return redact_text(_without(shown, line, _PAIR))


def _without(shown: str, line: str, pairs: str) -> str:
    """`shown` without the values beside a secret's name in `line`."""
    small = line.lower()
    if not any(word in small for word in _SECRET_WORDS):
        return shown
    for match in re.finditer(pairs, line):
        if is_sensitive(match["name"].lstrip("-"), match["value"]):
            shown = shown.replace(match["value"], REDACTED)
    return shown


def redact_values(line: str) -> str:
    """A line of JSON with every text value hidden, except references; the names stay."""

    def hidden(found: re.Match[str]) -> str:
        return found[1] + (found[2] if is_reference(found[2]) else REDACTED)

    return re.sub(_TEXT_VALUE, hidden, line)


def redact_command(line: str) -> str:
    """A command line with secrets hidden, also in `--token value` and `--token=value`."""
    return redact_source(_without(line, line, _FLAG))


def redact_words(words: Sequence[str]) -> list[str]:
    """The arguments of a command, with the word after a flag such as `--token` hidden."""
    before = ("", *(word.lstrip("-") if word.startswith("-") else "" for word in words))
    return [
        REDACTED if is_sensitive(name, word) else redact_command(word) for name, word in zip(before, words)
    ]


def redact(value: Any, name: str = "") -> Any:
    """A copy of a JSON-like value with everything that looks like a secret replaced."""
    if isinstance(value, str):
        if name == "command":
            return redact_command(value)
        if name == "url":
            return redact_url(value)
        return REDACTED if is_sensitive(name, value) and not looks_secret(value) else redact_text(value)
    if isinstance(value, dict):
        return {key: redact(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if name == "args" and all(isinstance(item, str) for item in value):
            return redact_words(value)
        return [redact(item, name) for item in value]
    return value

"""Whether a value is a secret: by the name beside it and by how random it looks. Lines of private keys."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.base.secrets import is_reference, is_secret_name

_OTHER_KEYS = re.compile(
    r"(?i)(?:account|encryption|signing|master)[_-]?key$|(?:password|passwd|pwd|secret|token)$"
)
_NO_SECRETS = re.compile(
    r"(?i)^public|next|page|continuation|cursor|(?<!ac)count|limit|usage|budget|type|name|file|path|url|id$"
)
_FREE = r"""[^\s"'`,;=<>(){}\[\]«»\\]"""
_ASSIGNED = re.compile(
    r"""(?P<rest>[\w.-]{0,40})(?:\\*["'])?\]?"""
    r"""(?P<sign>[ \t]{0,8}(?::=|=>|[:=])[ \t]{0,8}|>|[ \t]{1,4})(?:(?i:basic|token|bearer)[ \t]+)?"""
    r"""(?:\\+"(?P<a>[^"\\\n«]{8,512})\\|"(?P<b>(?:[^"\\\n«]|\\.){8,512})"|'(?P<c>(?:[^'\\\n«]|\\.){8,512})'"""
    rf"""|`(?P<d>[^`\n«]{{8,512}})`|(?P<e>(?:{_FREE}|\\[/"']){{8,512}}={{0,2}})(?P<next>.?))"""
)
_PLACEHOLDER = re.compile(
    r"(?i)example|change.?me|placeholder|your|x{4}|\*{3}|\.{3}|…|dummy|redacted|insert|todo|replace|sample|fake"
    r"|process\.env|os\.environ|getenv|\$\{|\$\(|\{\{|%[a-z_]+%|undefined|required|optional|^mock|^public"
    r"|^[@\w.]+\(.*\)[\w?.'\[\]]*$|(?-i:^[a-z]+123$)"
)
_DEFAULTS = frozenset(
    ("pass", "password", "passwd", "postgres", "root", "admin", "user", "test", "secret", "guest")
)
_UUID = re.compile(r"(?i)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_CODE = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|::|->)[A-Za-z_$][\w$]*)+")
_PATH = re.compile(
    r"(?:~|\.{0,2})/[\w@]|[A-Za-z]:\\|.*\.(?:pem|json|ya?ml|toml|key|txt|py|[jt]sx?|md|crt)$|\w+://"
)
_PASSWORDS = re.compile(r"(?i)pass|pwd|secret")
_PHRASES = re.compile(r"(?i)(?:pass(?:word|wd|phrase)|pwd|secret)$")
_SHELL_LINE = re.compile(r"(?:\s*\d+[\t:-]|[<>+-] |[^\s:=]{1,200}:\d+[:-])?\s*(?:export +)?[A-Z][A-Z0-9_]*=")
"""`NAME=`, perhaps after the number of the line, as commands show it."""
_LOGIN = re.compile(r"\blogin\s+\S+\s+$")
_PIECES = re.compile(r"[-_./:@+ ]+")
_BODY = re.compile(r"""([A-Za-z0-9+/=]+)[\s"',\\]*$""")
_BREAK = re.compile(r"\r?\n|(?:\\r)?\\n")
_SHORTEST_LINE = 16
_IDENTIFIER = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")


def is_likely(value: str, kind: str) -> bool:
    """Not `ghp_xxxxxxxxxxxxxxxxxxxx`, not `bearer authentication-required`, not `://user:${PASSWORD}@`."""
    if kind == "password":
        return len(value) >= 3 and value not in _DEFAULTS and not (_PLACEHOLDER.search(value) or "{" in value)
    if kind == "bearer":
        return len(set(value)) >= 6 and any(one.isdigit() for one in value)
    return len(set(value[-16:])) >= 4


def key_lines(text: str, at: int, end: int, reach: int) -> Iterator[tuple[int, int]]:
    """The lines of a private key, from the end of its first line on. Line numbers and file names may stand
    before each, and `\\n` may stand for a line break, as in JSON."""
    whole = end < at + reach
    limit = end if whole else min(len(text), at + reach)
    began = at
    while began < limit:
        broken = _BREAK.search(text, began, limit)
        stop = broken.start() if broken else limit
        run = _BODY.search(text, max(began, stop - 1024), stop)
        last = whole and broken is not None and _BREAK.search(text, broken.end(), limit) is None
        if run is not None and (run.end(1) - run.start(1) >= _SHORTEST_LINE or (last and run[1].strip("="))):
            yield run.span(1)
        elif not whole and began > at and text[began:stop].strip():
            return
        if broken is None:
            return
        began = broken.end()


def value_at(text: str, at: int, after: int) -> tuple[int, int, str] | None:
    """The value beside the name around `at`, if both look like a secret's. `after` is the end of the word."""
    match = _ASSIGNED.match(text, after)
    if match is None:
        return None
    begin = at
    while begin > 0 and at - begin < 40 and text[begin - 1] in _IDENTIFIER:
        begin -= 1
    name = text[begin : match.end("rest")]
    group = next(one for one in "abcde" if match[one] is not None)
    value, sign = match[group], match["sign"]
    if sign.isspace() and not (name.startswith("--") or _LOGIN.search(text, max(0, begin - 80), begin)):
        return None
    if group == "e" and (match["next"] in ("(", "[", "{") or _CODE.fullmatch(value)):
        return None
    if text[begin - 1 : begin] == "«" or text[match.end(group) : match.end(group) + 1] == "»":
        return None  # a piece of a mask
    bare = name.strip("-.")
    password = _PASSWORDS.search(bare) is not None
    shell = _on_shell_line(text, begin)
    if " " in value and not (shell and group in "bc" and _PHRASES.search(bare)):
        return None
    if not _is_secret(value.replace(" ", "").rstrip("="), short=password or shell or name.startswith("--")):
        return None
    if not (is_secret_name(bare) or _OTHER_KEYS.search(bare)) or _NO_SECRETS.search(bare):
        return None
    return (*match.span(group), "password" if password else "token")


def _on_shell_line(text: str, at: int) -> bool:
    line = text.rfind("\n", 0, at) + 1
    return at - line < 300 and _SHELL_LINE.match(text, line) is not None


def is_secret_value(name: str, value: str) -> bool:
    """Whether both the name and the value look like a secret's."""
    named = is_secret_name(name) or _OTHER_KEYS.search(name) is not None
    if not named or _NO_SECRETS.search(name) or not 8 <= len(value) <= 512 or "«" in value:
        return False
    return _is_secret(value.rstrip("="), short=_PASSWORDS.search(name) is not None)


def _is_secret(value: str, *, short: bool) -> bool:
    """Whether a value is random enough. `short` is true where eight characters may already be one."""
    if is_reference(value) or any(one.isspace() for one in value) or len(set(value)) < 5:
        return False
    if _PLACEHOLDER.search(value) or _UUID.fullmatch(value) or _PATH.match(value):
        return False
    if not any(one.isalpha() for one in value) or not any(not one.isalpha() for one in value):
        return False
    pieces = [piece for piece in _PIECES.split(value) if piece]
    if all(piece.isalpha() or piece.isdecimal() for piece in pieces) and not _is_mixed(value):
        return False
    if len(value) >= 16:
        return len(set(value)) >= 8
    return short


def _is_mixed(value: str) -> bool:
    """Upper and lower case in one word, as words don't have it: `aGVsbG8`."""
    return len(re.findall(r"[a-z][A-Z]", value)) >= 3

"""Code of another language on a command line: whether the files and hosts it opens are there to read."""

from __future__ import annotations

from checkrein.base.later import later
from checkrein.facts.shell_code import INTERPRETERS
from checkrein.facts.shell_words import words
from checkrein.policy.abstract import is_static
from checkrein.policy.shell.nested import nested_name
from checkrein.policy.shell.program import Command

_EXACT = words("sed gsed jq bc dc")
"""Their code is read elsewhere, or opens nothing."""
_AWK = words("awk gawk mawk nawk original-awk busybox-awk")
_AWK_OPENS = later(
    r"getline\s*[\w$]*\s*<\s*(?!\s*\"[^\"]*\"\s*[);}>])|\bprintf?\b[^|;}\n]*>\s*(?!\s*\"[^\"]*\"\s*[;}\n]|\s*\"[^\"]*\"\s*$)"
    r"|\bARGV\b|@include|@load"
)
"""Redirections of awk to a name that is not a plain text."""
_OPENS = later(
    r"\b(?:open|sysopen|read_text|read_bytes|readFile\w*|readlines?|createReadStream|File|IO|"
    r"slurp|fopen|file_get_contents|readfile|include|require(?!\s*\(?\s*[\"'](?:\./)?[\w./-]+\.json[\"'])|"
    r"import_module|__import__|copy\w*|write\w*|unlink\w*|rename\w*|mkdir\w*|makedirs|remove|rm\w*|chmod|chown|touch|truncate|utime\w*|mk\w*temp|chdir|symlink|link|exec\w*|system|popen|spawn\w*|"
    r"subprocess|eval|shutil|linecache|fileinput|mmap|do|(?<![.\w])load\w*|loadtxt)\b|<[A-Z]+>|`"
)
_CONNECTS = later(
    r"\b(?:socket|urlopen|urllib|http|https|requests?|fetch|net|Net|TCPSocket|LWP|connect|ftplib|smtplib|"
    r"fsockopen|curl_\w+|HTTP\w*|IO::Socket|open-uri|aiohttp|httpx|telnetlib|websocket\w*|dgram|tls)\b"
)
_COMPUTES = later(
    r"[\"'`]\s*(?:\+|\.(?!\s*(?:split|strip|lower|upper|match|test|length)\b)|%|\*)"
    r"|(?:\+|\.)\s*[\"'`]|\bchr\b|\bformat\b|\bjoin\b|\\x|\\[0-7]|\\u|\bf[\"']|\$\{|#\{"
    r"|\b(?:glob|walk|listdir|scandir|readdir\w*|iterdir|rglob|opendir|Dir|input|stdin|STDIN|environ|getenv|ENV|"
    r"env|decode|b64\w*|fromhex|pack|unpack|reverse\w*|replace|getattr|globals|bytes|qx|reduce|map|"
    r"fromCharCode|atob|Buffer|sprintf|lc|uc|tr|substr|slice)\b|\[::|\bs/"
)


def hides_names(command: Command) -> bool:
    """Whether code opens files under names that it computes."""
    if _base(command) in _AWK:
        return any(_AWK_OPENS.search(text) for text in _code(command))
    return any(computes(text) for text in _code(command))


def computes(text: str) -> bool:
    return _OPENS.search(text) is not None and _COMPUTES.search(text) is not None


def connects(command: Command) -> bool:
    return any(connects_text(text) for text in _code(command))


def connects_text(text: str) -> bool:
    return _CONNECTS.search(text) is not None or "/inet" in text


def _base(command: Command) -> str:
    return nested_name(command.name.rsplit("/", 1)[-1]) if command.words else ""


def _code(command: Command) -> list[str]:
    base = _base(command)
    if base not in INTERPRETERS or base in _EXACT:
        return []
    return [text for text in (*command.words[1:], command.input) if text and is_static(text)]

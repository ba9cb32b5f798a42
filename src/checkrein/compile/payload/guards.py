"""Enforces the permission rules of the spec before a tool runs.

The guard refuses a call that a deny rule names. It also refuses a call that it can't understand well enough,
as long as any deny rule covers that tool. Ask rules need `confirm`; without it the guard refuses the call.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Callable, Sequence
from typing import NamedTuple
from urllib.parse import urlsplit

# Programs that run another command and so hide it from a rule about that command.
_WRAPPED_BY = """
    bash sh zsh dash ksh fish env sudo doas su nohup nice ionice time timeout xargs eval exec source .
    command builtin find parallel watch stdbuf setsid chroot unshare ssh docker podman kubectl python python3
    node perl ruby php awk gawk busybox script strace
"""
_WRAPPERS = frozenset(_WRAPPED_BY.split())
_OPERATORS = re.compile(r"&&|\|\||[;|&\n]")
_UNCLEAR = re.compile(r"[`$<>(){}\\*?\[\]~!]")
_CODE = re.compile(r"```[^`\n]*\n(.*?)(?:```|\Z)|`([^`\n]+)`", re.DOTALL)
_WRITERS = frozenset({"Write", "Edit", "MultiEdit", "NotebookEdit"})
_PATH_TOOLS = _WRITERS | {"Read", "NotebookRead", "Glob", "Grep", "LS"}


class DeniedError(Exception):
    """A rule, or the lack of a clear answer, refuses a call."""


class Rule(NamedTuple):
    """`Tool` or `Tool(specifier)`; `source` is its file and place."""

    tool: str
    specifier: str | None
    source: str

    @property
    def text(self) -> str:
        return self.tool if self.specifier is None else f"{self.tool}({self.specifier})"


class Guard:
    """Judges calls. Relative paths start at the directory `root`."""

    def __init__(self, deny: Sequence[Rule], ask: Sequence[Rule] = (), root: str = ".") -> None:
        self.deny = tuple(deny)
        self.ask = tuple(ask)
        self.root = root

    def check(self, tool: str, argument: str, confirm: Callable[[str, str], bool] | None = None) -> None:
        """Return when the call may go on; raise DeniedError when it may not."""
        rule = self.denied(tool, argument)
        if rule is not None:
            raise DeniedError(f"{tool}({argument}) is refused by {rule.text} ({rule.source})")
        unclear = self.unclear(tool, argument)
        if unclear is not None:
            raise DeniedError(f"{tool}({argument}) is refused: {unclear}")
        for rule in self.ask:
            if self._matches(rule, tool, argument):
                if confirm is None or confirm(tool, argument) is not True:
                    raise DeniedError(f"{tool}({argument}) was not confirmed ({rule.text}, {rule.source})")
                break

    def denied(self, tool: str, argument: str) -> Rule | None:
        """The first deny rule that covers the call."""
        return next((rule for rule in self.deny if self._matches(rule, tool, argument)), None)

    def unclear(self, tool: str, argument: str) -> str | None:
        """Why a command can't be judged, when a deny rule might apply to what it hides."""
        if tool not in ("Bash", "PowerShell") or not self.deny:
            return None
        commands = split_commands(argument)
        if commands is None:
            return "the command can't be read without running it"
        for words in commands:
            if os.path.basename(words[0]) in _WRAPPERS:
                return f"`{words[0]}` may run something that a rule forbids"
        return None

    def mentions_denied(self, text: str) -> Rule | None:
        """The rule that code in `text` would break. It judges code spans and blocks, not prose."""
        for block, span in _CODE.findall(text):
            for line in (block or span).splitlines():
                commands = split_commands(line.strip().removeprefix("$ ")) or ()
                for words in commands:
                    for rule in self.deny:
                        shell = rule.tool == "Bash" and rule.specifier is not None
                        if shell and _matches_command(rule.specifier or "", words):
                            return rule
        return None

    def _matches(self, rule: Rule, tool: str, argument: str) -> bool:
        if rule.tool.startswith("mcp__"):
            return tool == rule.tool or _glob(rule.tool, tool) or tool.startswith(rule.tool + "__")
        if tool in ("Bash", "PowerShell"):
            if rule.tool == tool:
                return rule.specifier is None or self._any_command(rule.specifier, argument)
            return (
                rule.tool in _PATH_TOOLS and rule.specifier is not None and self._names_path(rule, argument)
            )
        if (
            rule.tool != tool
            and not (rule.tool == "Edit" and tool in _WRITERS)
            and not (rule.tool == "Read" and tool in _PATH_TOOLS - _WRITERS)
        ):
            return False
        if rule.specifier is None:
            return True
        if tool in _PATH_TOOLS:
            return self._matches_path(rule.specifier, argument)
        if tool == "WebFetch":
            return _matches_host(rule.specifier.removeprefix("domain:"), argument)
        return _glob(rule.specifier, argument)

    def _any_command(self, specifier: str, line: str) -> bool:
        if _glob(specifier, line.strip()):
            return True
        commands = split_commands(line)
        if commands is None:
            return _matches_command(specifier, line.split())
        return any(_matches_command(specifier, words) for words in commands)

    def _names_path(self, rule: Rule, line: str) -> bool:
        try:
            words = shlex.split(line, posix=True)
        except ValueError:
            words = line.split()
        parts = [
            part for word in words for part in (word, word.rpartition("=")[2], word.lstrip("<>0123456789"))
        ]
        return any(part and self._matches_path(rule.specifier or "", part) for part in parts)

    def _matches_path(self, pattern: str, path: str) -> bool:
        home = os.path.expanduser("~")
        base = os.path.realpath(self.root)
        full = os.path.normpath(os.path.join(base, os.path.expanduser(path)))
        names = {full, os.path.realpath(full)}
        if pattern.startswith("//"):
            anchor = pattern[1:]
        elif pattern.startswith("~/"):
            anchor = os.path.join(home, pattern[2:])
        elif pattern.startswith("/"):
            anchor = base + pattern
        elif pattern.startswith("./"):
            anchor = os.path.join(base, pattern[2:])
        elif "/" in pattern.rstrip("/"):
            anchor = os.path.join(base, pattern)
        else:
            wanted = _pattern(pattern.rstrip("/"))
            return any(wanted.fullmatch(part) for name in names for part in name.split(os.sep) if part)
        wanted = _pattern(anchor.rstrip("/"))
        return any(wanted.fullmatch(name) or _below(wanted, name) for name in names)


def split_commands(line: str) -> list[list[str]] | None:
    """The simple commands of a line, or None when only a shell can read it."""
    found = []
    for part in _OPERATORS.split(line):
        if not part.strip():
            continue
        if _UNCLEAR.search(_unquoted(part)):
            return None
        try:
            words = shlex.split(part, posix=True)
        except ValueError:
            return None
        while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0], re.DOTALL):
            words = words[1:]
        if words:
            found.append(words)
    return found


def _unquoted(part: str) -> str:
    """The text outside single quotes; the text inside has no special meaning."""
    return re.sub(r"'[^']*'", "", part)


def _matches_command(specifier: str, words: Sequence[str]) -> bool:
    """`git push:*` and `git push *` match by words; other patterns match the whole command."""
    line = " ".join(words)
    plain = " ".join((os.path.basename(words[0]), *words[1:])) if words else line
    prefix = specifier.removesuffix(":*") if specifier.endswith(":*") else None
    if prefix is None and specifier.endswith(" *") and "*" not in specifier[:-2]:
        prefix = specifier[:-2]
    if prefix is not None:
        return any(text == prefix or text.startswith(prefix + " ") for text in (line, plain))
    return any(_glob(specifier, text) for text in (line, plain))


def _matches_host(pattern: str, url: str) -> bool:
    host = (urlsplit(url).hostname or "").rstrip(".").lower()
    pattern = pattern.strip().lower()
    if not host:
        return True
    if pattern.startswith("*."):
        return host.endswith(pattern[1:])
    return host == pattern or host.endswith("." + pattern)


def _glob(pattern: str, text: str) -> bool:
    return (
        re.fullmatch(".*".join(re.escape(part) for part in pattern.split("*")), text, re.DOTALL) is not None
    )


def _pattern(glob: str) -> re.Pattern[str]:
    """A path pattern: `**` crosses directories, `*` and `?` do not."""
    parts = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    meaning = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(meaning.get(part) or re.escape(part) for part in parts), re.DOTALL)


def _below(pattern: re.Pattern[str], name: str) -> bool:
    """Whether a directory above `name` matches: a rule about a directory covers everything in it."""
    parent = os.path.dirname(name)
    while parent and parent != os.path.dirname(parent):
        if pattern.fullmatch(parent):
            return True
        parent = os.path.dirname(parent)
    return False

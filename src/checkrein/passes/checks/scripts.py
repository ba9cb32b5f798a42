"""Which file a command starts: the script of a hook or of a server. Nothing runs to find out."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence

from msgspec import Struct

from checkrein.model.items import Hook
from checkrein.model.project import Project
from checkrein.passes.checks.check import Subject
from checkrein.passes.checks.parts import plugin_root

INTERPRETERS = frozenset(
    {"bash", "sh", "zsh", "dash", "python", "python3", "uv"}
    | {"node", "bun", "deno", "tsx", "ruby", "perl", "php"}
)
_WRAPPERS = frozenset(("exec", "env", "nohup", "command", "time"))
_INLINE = frozenset(("-c", "-e", "-m", "--eval", "-lc", "-p", "--print"))
_OPERATORS = frozenset(("&&", "||", ";", "|", "&", ">", "<", ">>", "(", ")", "|&", "2>"))
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/opt/", "/System/", "/Applications/", "/dev/", "/etc/", "/nix/")
_PROJECT = re.compile(r"\$\{CLAUDE_PROJECT_DIR(?::-[^}]*)?\}|\$CLAUDE_PROJECT_DIR\b")
_PLUGIN = re.compile(r"\$\{CLAUDE_PLUGIN_ROOT(?::-[^}]*)?\}|\$CLAUDE_PLUGIN_ROOT\b")
_HOME = re.compile(r"^~(?=/)|\$\{HOME\}|\$HOME\b")
_LARGEST = 200_000


class Script(Struct, frozen=True):
    """A file that a command runs; `direct`: without an interpreter, `relative`: to the working directory."""

    word: str
    path: str
    direct: bool
    relative: bool

    @property
    def exists(self) -> bool:
        return os.path.exists(self.path)


def script_of(hook: Hook, project: Project) -> Script | None:
    """The script of a command hook; None when it runs a program, inline code, or something unclear."""
    if hook.type != "command" or not hook.command or "cwd" in hook.unknown:
        return None
    words = [hook.command, *hook.args] if hook.args is not None else words_of(hook.command)
    return script_in(words, project, hook.plugin)


def script_in(words: Sequence[str], project: Project, plugin: str | None) -> Script | None:
    rest = list(words)
    while rest and (re.match(r"\w+=", rest[0]) or os.path.basename(rest[0]) in _WRAPPERS):
        rest.pop(0)
    if not rest:
        return None
    direct = os.path.basename(rest[0]) not in INTERPRETERS
    if not direct:
        rest = rest[1:]
        while rest and (rest[0].startswith("-") or rest[0] == "run"):
            if rest[0] in _INLINE:
                return None
            rest.pop(0)
        if not rest:
            return None
    word = rest[0]
    if direct and "/" not in word:
        return None
    if not direct and "/" not in word and "." not in word:
        return None
    return _resolve(word, project, plugin, direct)


def _resolve(word: str, project: Project, plugin: str | None, direct: bool) -> Script | None:
    root = plugin_root(project, plugin)
    path = _PROJECT.sub(lambda _: project.place.root, word)
    if root is not None:
        path = _PLUGIN.sub(lambda _: root, path)
    path = _HOME.sub(lambda _: project.place.home, path)
    if re.search(r"[$`*?{}\0]|://", path) or path.startswith(_SYSTEM):
        return None
    relative = not os.path.isabs(path)
    return Script(word, os.path.normpath(os.path.join(project.place.root, path)), direct, relative)


def words_of(command: str) -> list[str]:
    """The words of the first simple command, quotes removed; none when the shell would reject it."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    words: list[str] = []
    try:
        for word in lexer:
            if word in _OPERATORS:
                break
            words.append(word)
    except ValueError:
        return []
    return [] if words[:1] in (["cd"], ["if"], ["["], ["test"], ["[["]) else words


def program_text(subject: Subject, hook: Hook) -> str | None:
    """What a command hook executes: its command line and its script; None when the script can't be read."""
    if hook.type != "command" or not hook.command:
        return None
    script = script_of(hook, subject.project)
    if script is None:
        return hook.command
    try:
        readable = os.path.isfile(script.path) and os.path.getsize(script.path) <= _LARGEST
    except OSError:
        return None
    return hook.command + "\n" + subject.text(script.path) if readable else None

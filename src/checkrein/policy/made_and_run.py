"""Files that a text writes and runs: their content is unknown, or known and judged.

The order of the commands does not count: a trap, a job in the background or the next round of a loop may run
what is written later.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from checkrein.base.later import later
from checkrein.facts.shell_code import (
    CODE_FILES,
    COPIERS,
    EXTRACTORS,
    IMPLICIT_FILES,
    INTERPRETERS,
    MODULE_SUFFIXES,
)
from checkrein.facts.shell_programs import DATA
from checkrein.facts.shell_wrappers import SHELLS
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.paths import is_device, join, normal
from checkrein.policy.shell.files import Touched, touched
from checkrein.policy.shell.mentions import may_be_written
from checkrein.policy.shell.nested import nested_name
from checkrein.policy.shell.options import split_options
from checkrein.policy.shell.program import Command

_CONTAINERS = ("docker", "podman")
_SHEBANG = later(r"#!\s*\S*?/(?:env\s+)?(\w+)")
_SPLIT = later(r"[^\w.+-]+")
_SYSTEM = ("/bin/", "/usr/", "/sbin/", "/opt/", "/lib")


class Made(Struct):
    """What a text writes. `contents` are the known ones; `unknown`: it writes files of unknown names."""

    paths: dict[str, set[int]] = {}
    """Each path with the commands that write it."""
    names: set[str] = set()
    contents: dict[str, str] = {}
    unknown: bool = False
    mentions: dict[str, list[str]] = {}
    """The paths by the words that may mean them: their names with and without suffix, and their folders."""
    implicit: dict[str, list[str]] = {}
    """The paths that a program runs without being told, by program."""

    def index(self) -> None:
        for path in self.paths:
            folder, _, name = path.rpartition("/")
            words = {name, folder.rpartition("/")[2]}
            words |= {name.removesuffix(suffix) for suffix in MODULE_SUFFIXES if name.endswith(suffix)}
            for word in words - {""}:
                self.mentions.setdefault(word, []).append(path)

    def run_by(self, base: str) -> list[str]:
        if base not in self.implicit:
            pattern = IMPLICIT_FILES.get(base)
            names = re.compile(pattern) if pattern is not None else None
            found = [path for path in self.paths if names is not None and _is_implicit(names, path)]
            self.implicit[base] = found
        return self.implicit[base]

    def by_another(self, paths: Iterable[str], command: Command) -> list[str]:
        """Those that another command writes."""
        return [path for path in dict.fromkeys(paths) if self.paths[path] != {id(command)}]


class Run(Struct, frozen=True):
    """A command that runs a written file; `content` is the text of the file when it is shell text."""

    command: Command
    content: str | None


def made_and_run(commands: Sequence[Command], home: str) -> Iterator[Run]:
    """The commands that run what the text writes, unless the content is known to start nothing."""
    every = list(_flat(commands))
    made = Made()
    for one in every:
        _note(one, touched(one, home) if one.words else Touched(), home, made)
    if not (made.paths or made.unknown):
        return
    made.index()
    for one in every:
        if one.words:
            yield from _run(one, made, home)


def _flat(commands: Sequence[Command]) -> Iterator[Command]:
    pending = list(commands)[::-1]
    while pending:
        one = pending.pop()
        yield one
        pending.extend(one.inner)


def _base(command: Command) -> str:
    return nested_name(command.name.rsplit("/", 1)[-1])


def _note(command: Command, files: Touched, home: str, made: Made) -> None:
    base = _base(command)
    sure = (*command.writes, *files.writes)
    made.names |= {path.rsplit("/", 1)[-1] for access in sure for path in access.paths}
    for access in (*sure, *(may_be_written(command, files, home) if base in INTERPRETERS else ())):
        for path in access.paths:
            if is_device(path):
                continue
            if path in made.paths or len(command.writes) != 1:
                made.contents.pop(path, None)
            elif access in command.writes and (content := _content(command)) is not None:
                made.contents[path] = content
            made.unknown = made.unknown or ANY in path
            made.paths.setdefault(path, set()).add(id(command))
    if base in COPIERS:
        made.names |= {word.rstrip("/").rsplit("/", 1)[-1] for word in command.words[1:]}
    applies = base == "git" and not {"apply", "am", "checkout-index"}.isdisjoint(command.words)
    made.unknown = made.unknown or base in EXTRACTORS or applies


def _content(command: Command) -> str | None:
    """What `cat > F <<E` or `echo TEXT > F` writes."""
    if command.name == "cat" and len(command.words) == 1:
        text = command.input
    elif command.name == "echo" and command.words[1:] and not command.words[1].startswith("-"):
        text = " ".join(command.words[1:]) + "\n"
    else:
        return None
    return text if text and is_static(text) else None


def _run(command: Command, made: Made, home: str) -> Iterator[Run]:
    base = _base(command)
    places = [normal(join(command.name, cwd, home)) for cwd in command.cwds if "/" in command.name]
    direct = made.by_another(
        (one for place in places for one in _upward(place) if one in made.paths), command
    )
    named = "/" not in command.name and command.name in made.names
    in_project = "/" in command.name and not command.name.startswith(_SYSTEM)
    if direct or named or (in_project and made.unknown):
        yield from _judged(command, [made.contents.get(path) for path in direct] or [None], "")
    if base in _CONTAINERS:
        return
    loads = base in INTERPRETERS or base in SHELLS or base in CODE_FILES or base in ("source", ".")
    words = {word for text in (_code_words(command, base) if loads else ()) for word in _words(text)}
    mentioned = (path for word in words if word in made.mentions for path in made.mentions[word])
    hits = made.by_another((*mentioned, *made.run_by(base)), command)
    if hits:
        yield from _judged(command, [made.contents.get(path) for path in hits], base)
    elif made.unknown and (base in SHELLS or base in ("source", ".")) and _script(command):
        yield Run(command, None)


def _upward(path: str) -> Iterator[str]:
    """The path and the folders above it."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _judged(command: Command, contents: Sequence[str | None], base: str) -> Iterator[Run]:
    """Known content of a known language counts as what it does."""
    from checkrein.policy.shell.code import effect

    if None in contents:
        yield Run(command, None)
        return
    for content in dict.fromkeys(one for one in contents if one is not None):
        found = _SHEBANG.match(content)
        name = base or (nested_name(found.group(1)) if found else "sh")
        if name in SHELLS or name in ("source", "."):
            yield Run(command, content)
        elif name in ("npm", "npx", "yarn", "pnpm", "bun"):
            if "scripts" in content or "\\u" in content:
                yield Run(command, None)
        elif name == "pytest" or name in INTERPRETERS:
            language = INTERPRETERS[name].language if name in INTERPRETERS else "python"
            found_effect = effect(language, [content])
            if not found_effect.plain or found_effect.texts:
                yield Run(command, None)
        else:
            yield Run(command, None)


def _code_words(command: Command, base: str) -> tuple[str, ...]:
    """The words of a program that may name a file of code: options, and the first operand."""
    words = command.words[1:]
    values = tuple(value for _, value in command.assigns)
    if base in DATA:
        return (
            *values,
            *(word for at, word in enumerate(words) if "-" in (word[:1], words[at - 1][:1] if at else "")),
        )
    known = INTERPRETERS.get(base)
    if known is not None and known.permutes:
        return (*values, *words, command.input)
    last = next(
        (at for at, word in enumerate(words) if not word.startswith("-") and not _is_value(words, at)), None
    )
    return (*values, *(words if last is None or base in CODE_FILES else words[: last + 1]), command.input)


def _is_value(words: Sequence[str], at: int) -> bool:
    return at > 0 and words[at - 1].startswith("-")


def _words(text: str) -> Iterator[str]:
    """The parts of a text that may name a file; `-fx.mk` is `x.mk` too."""
    for word in _SPLIT.split(text):
        yield word
        if word.startswith("-"):
            yield word[2:]
        yield word.strip(".")


def _is_implicit(pattern: re.Pattern[str], path: str) -> bool:
    return any(pattern.fullmatch(text) for text in (path, path.rsplit("/", 1)[-1]))


def _script(command: Command) -> bool:
    return bool(split_options(command.words[1:], "oO", ()).operands)

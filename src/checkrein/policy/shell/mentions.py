"""Files that a program's words, options or input mention in places without a known meaning.

Code, settings and options of programs hold names of files: `open(".env")`, `FILE:.env`, `-v ./src:/x`. The
program may read what it mentions. It may write what is mentioned where programs name their output.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from checkrein.facts.shell_code import INTERPRETERS
from checkrein.facts.shell_files import CREATORS, FILES, FORMATTERS, FORMATTERS_ALWAYS, OUTPUTS
from checkrein.facts.shell_programs import DATA
from checkrein.facts.shell_words import words
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.files import access
from checkrein.policy.shell.nested import nested_name
from checkrein.policy.shell.program import Access, Command

_SIGNS = re.compile(r"[\s\"'`()\[\]{}<>,;|=@&:]+")
_OUTPUT = re.compile(OUTPUTS)
_CONTAINERS = words("docker podman nerdctl docker-compose")
_MOUNT = re.compile(r"(?:^|,)(?:source|src)=([^,]+)")
_TEXTS = words("git gh glab hg svn jj sed gsed")
"""Their texts are messages, or read exactly."""


def mentioned(command: Command, home: str) -> Iterator[Access]:
    """Files that a program may read: those in its words, options and input."""
    base = _base(command)
    if base in DATA and base not in INTERPRETERS and base not in _TEXTS:
        return
    for text in _options(command):
        yield access(text, command.cwds, home)
    if base in _TEXTS:
        return
    given = command.words[1 : command.own or None]
    texts = (*given, command.input) if is_static(command.input) else given
    for text in texts:
        for name in _names(text):
            yield access(name, command.cwds, home)
    yield from _mounts(command, home)


def may_be_written(command: Command, home: str) -> Iterator[Access]:
    """Files that a program may write: values of output options, operands of formatters, names in code."""
    base = _base(command)
    texts = command.words[1:]
    operands = [text for text in texts if not text.startswith("-")]
    if _changes(base, texts):
        for text in operands:
            yield access(text.rpartition(":")[2] or text, command.cwds, home)
    if base not in FILES or base in INTERPRETERS:
        for text in _outputs(texts):
            yield access(text, command.cwds, home)
    if base in INTERPRETERS and base not in _TEXTS:
        for text in (*texts, command.input):
            names = list(_names(text)) if is_static(text) else []
            for name in names if names != [text] else ():
                yield access(name, command.cwds, home)
    yield from _mounts(command, home, writable=True)


def _base(command: Command) -> str:
    return nested_name(command.name.rsplit("/", 1)[-1])


def _changes(base: str, texts: tuple[str, ...]) -> bool:
    if any(f"{base}@{text}" in CREATORS or f"{base}@{text}" in FORMATTERS_ALWAYS for text in texts):
        return True
    if base in CREATORS:
        return True
    marks = FORMATTERS.get(base)
    if marks is None or any(text in ("--check", "--diff", "-l") for text in texts):
        return False
    return not marks or any(text.startswith(marks) for text in texts)


def _options(command: Command) -> Iterator[str]:
    """The text after the `=` of a long option, or the `:` of a short one."""
    before = ""
    for text in command.words[1:]:
        if text.startswith("--") and "=" in text:
            yield from _names(text.partition("=")[2])
        elif text.startswith("-") and ":" in text:
            yield text.rpartition(":")[2]
        elif before == "-c" and "=" in text:
            yield text.partition("=")[2]
        before = text


def _outputs(texts: tuple[str, ...]) -> Iterator[str]:
    for at, text in enumerate(texts):
        option, given, value = text.partition("=")
        if not text.startswith("-"):
            continue
        if text.startswith("-o") and len(text) > 2:
            yield text[2:]
        if _OUTPUT.fullmatch(option):
            following = texts[at + 1] if at + 1 < len(texts) else ""
            if value or (not given and following and not following.startswith("-")):
                yield value or following


def _names(text: str) -> Iterator[str]:
    """The parts of a text that could name a file."""
    for part in _SIGNS.split(text):
        if part and ANY not in part and not part.startswith("-") and len(part) < 1024:
            yield part.removeprefix("//") if part.startswith("//") else part


def _mounts(command: Command, home: str, *, writable: bool = False) -> Iterator[Access]:
    """Places of this machine that a container sees, with everything below them."""
    if _base(command) not in _CONTAINERS:
        return
    texts = command.words
    for at, text in enumerate(texts):
        option, _, value = text.partition("=")
        following = value or (texts[at + 1] if at + 1 < len(texts) else "")
        place = ""
        if option in ("-v", "--volume") and following[:1] in (".", "/", "~", ANY):
            place = "" if writable and following.endswith((":ro", ",ro")) else following.split(":", 1)[0]
        elif option == "--mount":
            found = _MOUNT.search(following)
            place = found.group(1) if found and not (writable and "readonly" in following) else ""
        if place:
            yield access(place, command.cwds, home, tree=True)

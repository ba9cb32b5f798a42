"""Files and hosts that a program's words, variables or input mention in places without a known meaning.

Code, settings and options of programs hold names of files: `open(".env")`, `FILE:.env`, `-v ./src:/x`. The
program may read what it mentions. A program that no table knows may also write it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from checkrein.base.later import later
from checkrein.facts import shell_git
from checkrein.facts.shell_code import INTERPRETERS
from checkrein.facts.shell_env import SAFE
from checkrein.facts.shell_files import FILES
from checkrein.facts.shell_programs import DATA
from checkrein.facts.shell_readonly import READ_ONLY
from checkrein.facts.shell_roles import CHECKERS, CREATORS, FORMATTERS, FORMATTERS_ALWAYS, OUTPUTS, SENDERS
from checkrein.facts.shell_words import words
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.hosts import host_of, names_of
from checkrein.policy.shell.files import Touched
from checkrein.policy.shell.git import only_reads, read_git
from checkrein.policy.shell.nested import nested_name
from checkrein.policy.shell.options import split_options
from checkrein.policy.shell.program import Access, Command, access

_SIGNS = later(r"[\s\"'`()\[\]{}<>,;|=@&:]+")
_HOST_SIGNS = later(r"[\s\"'`()<>,;|=&{}\\]+")
_CONTAINERS = words("docker podman nerdctl docker-compose")
_MOUNT = later(r"(?:^|,)(?:source|src)=([^,]+)")
_TEXTS = words("git gh glab hg svn jj sed gsed")
"""Their texts are messages, or read exactly."""
_OUTPUT = later(OUTPUTS)
_MAX_TEXT = 20_000


def mentioned(command: Command, files: Touched, home: str) -> Iterator[Access]:
    """Files that a program may read: those in its words, options, variables and input."""
    base = _base(command)
    for text in (*_assigned(command), *_served(files.urls)):
        yield access(text, command.cwds, home)
    if base in DATA and base not in INTERPRETERS and base not in _TEXTS and not files.loose:
        return
    for text in _options(command):
        yield access(text, command.cwds, home)
    if base in _TEXTS:
        if base == "git":
            for name in names_in(command.input) if is_static(command.input) else ():
                yield access(name, command.cwds, home)
        return
    for text in _sent(base, command.words[1:]):
        yield access(text, command.cwds, home, tree=True)
    given = command.words[1 : command.own or None]
    texts = (*given, command.input) if is_static(command.input) else given
    for text in texts:
        for name in names_in(text):
            yield access(name, command.cwds, home)
    yield from _mounts(command, home)


def may_be_written(command: Command, files: Touched, home: str) -> Iterator[Access]:
    """Files that a program may write: every one that it names, unless a table knows which those are."""
    base = _base(command)
    cwds = command.cwds
    texts = command.words[1 : command.own or None] if command.own else command.words[1:]
    for text in _assigned(command):
        yield access(text, cwds, home)
    if _changes(base, texts):
        for text in (text for text in texts if not text.startswith("-")):
            yield access(text.rpartition(":")[2] or text, cwds, home)
    if base == "git":
        yield from _git_writes(command, home)
    elif not command.own and base not in FILES:
        return
    elif files.loose or base in INTERPRETERS or (base not in FILES and base not in READ_ONLY):
        if base not in FILES and base not in CHECKERS:
            yield access(".", cwds, home)
        given = _without_script(base, texts)
        if base in CHECKERS or any(text in CHECKERS for text in texts[:2]):
            given = [
                text
                for before, text in pairwise(("", *given))
                if text.startswith("-") or _OUTPUT.fullmatch(before.lower()) or _OUTPUT.fullmatch(before)
            ]
        for text in (*given, command.input):
            for name in (text, *names_in(text)) if ANY in text else names_in(text):
                yield access(name, cwds, home)
    yield from _mounts(command, home, writable=True)


def hosts(command: Command) -> Iterator[str]:
    """Texts that may be addresses, in any word, variable or input of the command."""
    for text in (*command.words[1:], command.input, *(value for _, value in command.assigns)):
        if len(text) <= _MAX_TEXT:
            yield from addresses_in(text)


def addresses_in(text: str) -> Iterator[str]:
    for part in _HOST_SIGNS.split(text):
        yield from _addresses(part)


def _addresses(part: str) -> Iterator[str]:
    if not re.search(r"[.:/]", part) and not part.isalnum():
        return
    yield part
    for piece in re.split(r"[@:/]+", part):
        if piece and piece != part:
            yield piece
    if part.startswith("-") and len(part) > 3:
        yield from _addresses(part[2:])


def _without_script(base: str, texts: Sequence[str]) -> list[str]:
    """The words without the script that an interpreter reads."""
    found = list(texts)
    use = FILES.get(base)
    if use is None or not use.program:
        return found
    options = split_options(texts, use.values, ())
    if options.operands and not any(value is not None for _, value in options.flags):
        found.remove(options.operands[0])
    return found


def _served(urls: Sequence[str]) -> Iterator[str]:
    """A server on this machine may show the files of this directory under their names."""
    from urllib.parse import unquote

    for url in urls:
        host, _, path = url.partition("://")[2].partition("/") if "://" in url else url.partition("/")
        if path and names_of(host_of(host)) != (host_of(host),):
            yield unquote(path.partition("?")[0])


def _sent(base: str, texts: Sequence[str]) -> Iterator[str]:
    """Directories that a program reads completely."""
    plain = "python" if base.startswith("python") else base
    if plain in SENDERS or any(f"{plain}@{text}" in SENDERS for text in texts):
        yield "."
        for text in texts:
            if not text.startswith("-"):
                yield text


def _git_writes(command: Command, home: str) -> Iterator[Access]:
    call = read_git(command.words[1:], command.cwds, home)
    for text in (*call.settings, *call.places, *(word for word in call.words if word.startswith("-"))):
        for name in names_in(text):
            yield access(name, call.cwds, home)
    unread = call.sub in shell_git.READ_ONLY and not only_reads(command.words[1:], command.cwds, home)
    if call.sub not in shell_git.NAMES_ONLY or (unread and any(_is_abbreviated(word) for word in call.words)):
        for text in call.words:
            for name in names_in(text):
                yield access(name, call.cwds, home)
    elif call.sub == "config":
        for at, word in enumerate(call.words[:-1]):
            if word in ("-f", "--file"):
                yield access(call.words[at + 1], call.cwds, home)


def _is_abbreviated(word: str) -> bool:
    return len(word) > 2 and word.startswith("--") and "=" not in word


def _assigned(command: Command) -> Iterator[str]:
    """Values of the variables that are set for this command."""
    for name, value in command.assigns:
        if name not in SAFE and command.words:
            yield from names_in(value)


def _base(command: Command) -> str:
    return nested_name(command.name.rsplit("/", 1)[-1])


def _changes(base: str, texts: Sequence[str]) -> bool:
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
            yield from names_in(text.partition("=")[2])
        elif text.startswith("-") and ":" in text:
            yield text.rpartition(":")[2]
        elif before == "-c" and "=" in text:
            yield text.partition("=")[2]
        before = text


def names_in(text: str) -> Iterator[str]:
    """The parts of a text that could name a file, with the value that follows the letter of an option."""
    if len(text) > _MAX_TEXT:
        yield ANY
        return
    glued = re.match(r"-[A-Za-z]\d*(?=[^-\d])", text)
    for part in _SIGNS.split(text):
        if not part or len(part) >= 1024:
            continue
        if part.startswith("-"):
            continue
        if ANY in part:
            continue
        yield part.removeprefix("//") if part.startswith("//") else part
    if glued and not text.startswith("--"):
        yield from names_in(text[glued.end() :])


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

"""Which files a command reads and writes by its own words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from checkrein.facts.shell_code import FIND_ALL, FIND_WRITES
from checkrein.facts.shell_files import AT_FILE_OPTIONS, FETCHERS, FILES, RECURSIVE, REMOVERS, FileUse, Part
from checkrein.facts.shell_git import WRITERS
from checkrein.facts.shell_readonly import FIND_VALUES, READ_ONLY, SEARCH_UNHIDDEN, SED_SAFE
from checkrein.facts.shell_words import names, words
from checkrein.policy.abstract import ANY, is_static, shown
from checkrein.policy.paths import join, normal
from checkrein.policy.shell.nested import split_git
from checkrein.policy.shell.options import Options, split_options
from checkrein.policy.shell.program import Access, Command

_SED_WRITES = re.compile(r"(?:^|[;{}\n0-9$/!\s])[wW]\s*([^;}\n]+)|(?<=[/|#,])[gpiI0-9]*w\s*([^;}\n]+)")
_SED_READS = re.compile(r"(?:^|[;{}\n0-9$/!\s])[rR]\s*([^;}\n]+)")


_ARCHIVERS = words("tar gtar bsdtar")


class Touched(Struct, frozen=True, kw_only=True):
    """`removes` are the targets of rm and similar programs; `known` is false for a command in no table."""

    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    removes: tuple[str, ...] = ()
    recursive: bool = False
    urls: tuple[str, ...] = ()
    known: bool = True
    arguments: tuple[Access, ...] = ()
    """For an unknown command: every word that could be a file."""


def touched(command: Command, home: str) -> Touched:
    """The files that the words of a command name. Its redirections are in the Command itself."""
    base = command.name.rsplit("/", 1)[-1]
    texts = command.words[1:]
    if base in ("find", "gfind"):
        return _find(texts, command.cwds, home)
    if base == "git":
        return _git(texts, command.cwds, home)
    read_only = READ_ONLY.get(base)
    if read_only is not None and read_only.inert:
        return Touched()
    use = FILES.get(base)
    urls = _urls(texts) if base in FETCHERS else ()
    if use is None:
        return Touched(known=False, urls=urls, arguments=_arguments(texts, command.cwds, home))
    return _by_table(base, use, texts, command.cwds, home, urls)


def access(text: str, cwds: Sequence[str], home: str, **more: bool) -> Access:
    paths = tuple(dict.fromkeys(normal(join(text, cwd, home)) for cwd in cwds))
    return Access(paths, shown(text), **more)


def _by_table(
    base: str, use: FileUse, texts: Sequence[str], cwds: Sequence[str], home: str, urls: tuple[str, ...]
) -> Touched:
    tar = base in _ARCHIVERS
    if tar:
        texts = _with_dashes(texts, use)
    with_files = (*use.read_options, *use.write_options, *use.target_options)
    short = use.values + "".join(name for name in with_files if len(name) == 1)
    options = split_options(texts, short, (*use.long, *(name for name in with_files if len(name) > 1)))
    operands = list(options.operands)
    tree = use.always_tree or options.has(use.tree)
    hidden = use.hidden or options.has((*SEARCH_UNHIDDEN, "u", "."))
    skip_first = use.reads == "rest" and not options.has(use.pattern_options)
    targets = options.values(use.target_options)
    reads_part: Part = "all" if use.reads == "rest" else use.reads
    reading = operands[1:] if skip_first else operands
    # A glob or an unknown word may become several words, each at any position.
    loose = [operand for operand in operands if not is_static(operand)]
    read = _part(reading, "all" if targets and reads_part == "sources" else reads_part)
    if not read and use.here and not reading:
        read = ["."]
    if tree and not reading and use.reads == "rest":
        read = ["."]
    read += _option_files(options, use.read_options)
    read += [texts[at + 2] for at, text in enumerate(texts[:-2]) if text.lstrip("-") in use.pair_options]
    if use.reads not in ("", "all"):
        read += loose
    written = [] if targets and use.writes == "last" else _part(operands, use.writes)
    if use.writes not in ("", "all"):
        written += loose
    if base == "uniq" and len(operands) < 2:
        written = []
    if use.in_place and options.has(use.in_place):
        written += reading
    written += [*targets, *options.values(use.write_options)]
    if tar and options.has(names("c r u create append update")):
        written += options.values(("f", "file"))
    if base in ("sed", "gsed"):
        scripts = options.values(("e", "expression")) or operands[:1]
        scripts = [script for script in scripts if not re.fullmatch(SED_SAFE, script)]
        written += [
            (found.group(1) or found.group(2)).strip()
            for script in scripts
            for found in _SED_WRITES.finditer(script)
        ]
        read += [found.group(1).strip() for script in scripts for found in _SED_READS.finditer(script)]
    if use.keyed:
        read += [text[3:] for text in texts if text.startswith("if=")]
        written += [text[3:] for text in texts if text.startswith("of=")]

    def see(text: str) -> Access:
        return access(text, cwds, home, tree=tree, content=use.content, hidden=hidden)

    read += [url[7:].removeprefix("localhost") for url in urls if url.lower().startswith("file://")]
    return Touched(
        reads=tuple(see(text) for text in read if text != "-"),
        writes=tuple(access(text, cwds, home) for text in written if text != "-"),
        removes=tuple(operands) if base in REMOVERS else (),
        recursive=base == "rmdir" or options.has(RECURSIVE),
        urls=urls,
        arguments=_arguments(operands[1:], cwds, home) if use.program else (),
    )


def _with_dashes(texts: Sequence[str], use: FileUse) -> Sequence[str]:
    """`tar cfz x.tgz a` as `tar -c -f x.tgz -z a`."""
    if not texts or texts[0].startswith("-"):
        return texts
    rest = list(texts[1:])
    short = use.values + "".join(name for name in (*use.read_options, *use.write_options) if len(name) == 1)
    found: list[str] = []
    for letter in texts[0]:
        found.append(f"-{letter}")
        if letter in short and rest:
            found.append(rest.pop(0))
    return (*found, *rest)


def _part(operands: Sequence[str], part: Part) -> list[str]:
    if part == "all":
        return list(operands)
    if part == "rest":
        return list(operands[1:])
    if part == "first":
        return list(operands[:1])
    if part == "sources":
        return list(operands[:-1]) if len(operands) > 1 else list(operands)
    return list(operands[-1:]) if part == "last" and len(operands) > 1 else []


def _option_files(options: Options, names: Sequence[str]) -> list[str]:
    """Values of options that are files; some only after an `@`."""
    found: list[str] = []
    for name in names:
        for value in options.values((name,)):
            if name not in AT_FILE_OPTIONS:
                found.append(value)
            elif "@" in value:
                found.append(value.split("@", 1)[1].split(";", 1)[0])
            elif "=<" in value:
                found.append(value.split("=<", 1)[1])
    return found


def _urls(texts: Sequence[str]) -> tuple[str, ...]:
    options = split_options(texts, "", ("url",))
    return tuple(
        text
        for text in (*options.operands, *options.values(("url",)))
        if "://" in text or ("." in text and "/" not in text.split(".", 1)[0]) or ANY in text
    )


def _arguments(texts: Sequence[str], cwds: Sequence[str], home: str) -> tuple[Access, ...]:
    """Every word of an unknown command that could name a file, `--option=FILE` included."""
    found = []
    for text in texts:
        if text.startswith("-"):
            _, given, value = text.partition("=")
            if not given or not value:
                continue
            text = value
        if text and "\n" not in text and len(text) < 4096 and not text.startswith(ANY):
            found.append(access(text.removeprefix("@"), cwds, home))
    return tuple(found)


def _find(texts: Sequence[str], cwds: Sequence[str], home: str) -> Touched:
    """It searches the places before the expression; `-delete` removes them, `-fprint` writes a file."""
    roots: list[str] = []
    at = 0
    while at < len(texts):
        text = texts[at]
        if text in ("-H", "-L", "-P") or text.startswith(("-O", "-D")):
            at += 2 if text == "-D" else 1
        elif text.startswith("-") or text in ("(", "!", ","):
            break
        else:
            roots.append(text)
            at += 1
    roots = roots or ["."]
    written: list[str] = []
    files: list[str] = []
    expression = texts[at:]
    for place, text in enumerate(expression):
        value = expression[place + 1] if place + 1 < len(expression) else ""
        if text in ("-newer", "-anewer", "-cnewer", "-samefile", "-files0-from"):
            files.append(value)
        elif text in FIND_WRITES and text in FIND_VALUES:
            written.append(value)
    deletes = "-delete" in expression
    selects = any(text.startswith("-") and text not in FIND_ALL for text in expression)
    return Touched(
        reads=tuple(access(text, cwds, home, content=False) for text in (*roots, *files)),
        writes=tuple(access(text, cwds, home) for text in (*written, *(roots if deletes else ()))),
        removes=tuple(roots) if deletes and not selects else (),
        recursive=True,
    )


def _git(texts: Sequence[str], cwds: Sequence[str], home: str) -> Touched:
    """Operands of subcommands that show or change files; `REV:path` names one too."""
    _, rest = split_git(tuple(texts))
    if not rest:
        return Touched()
    where = tuple(cwds)
    for at, text in enumerate(texts[:-1]):
        if text == "-C":
            where = tuple(normal(join(texts[at + 1], cwd, home)) for cwd in where)
    paths = [text.split(":", 1)[1] if ":" in text else text for text in rest[1:] if not text.startswith("-")]
    paths = [path for path in paths if path]
    if not paths and rest[0] in WRITERS and where != tuple(cwds):
        paths = ["."]
    found = tuple(access(path, where, home) for path in paths)
    return Touched(writes=found if rest[0] in WRITERS else (), known=False, arguments=found)

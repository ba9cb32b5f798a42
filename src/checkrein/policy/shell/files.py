"""Which files a command reads and writes by its own words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct, structs

from checkrein.base.later import later
from checkrein.facts.shell_code import FIND_ALL, FIND_WRITES
from checkrein.facts.shell_files import AT_FILE_OPTIONS, FILES, RECURSIVE, REMOVERS
from checkrein.facts.shell_readonly import FIND_VALUES, READ_ONLY, SEARCH_UNHIDDEN
from checkrein.facts.shell_roles import (
    FETCHERS,
    FILELESS,
    HIDDEN_GLOBS,
    LINKERS,
    PATCHERS,
    SAFE_TYPES,
    UNPACKERS,
)
from checkrein.facts.shell_use import FileUse, Part
from checkrein.facts.shell_words import names, words
from checkrein.policy.abstract import ANY, is_static
from checkrein.policy.shell.git import git_files
from checkrein.policy.shell.options import Options, split_options
from checkrein.policy.shell.places import find_roots, places
from checkrein.policy.shell.program import Access, Command, access
from checkrein.policy.shell.searches import selected

__all__ = ["Touched", "access", "touched"]

_ARCHIVERS = words("tar gtar bsdtar")
_FILE_URL = later(r"file:(?://(?:localhost|127\.0\.0\.1)?)?(/.*)", re.IGNORECASE | re.DOTALL)
_URL_GLOB = later(r"[\[\]{}%]")


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
    links: tuple[Access, ...] = ()
    """What it gives another name: a link to it, or a new place."""
    runs: bool = False
    """Its own words make it run a command."""
    loose: bool = False
    """It has options that no table knows: it may write any file that it names."""


def touched(command: Command, home: str) -> Touched:
    """The files that the words of a command name. Its redirections are in the Command itself."""
    found = _touched(command, home)
    if command.found is None or command.name not in READ_ONLY:
        return found
    return structs.replace(
        found,
        reads=tuple(_selected(one, command.found) for one in found.reads),
        writes=tuple(_selected(one, command.found) for one in found.writes),
    )


def _selected(one: Access, found: Access) -> Access:
    """The files that a search selects instead of an unknown name. Below a directory anything may be."""
    if one.tree or ANY not in one.paths:
        return one
    return structs.replace(found, content=one.content)


def _touched(command: Command, home: str) -> Touched:
    base = command.name.rsplit("/", 1)[-1]
    texts = command.words[1:]
    cwds = places(command.cwds, home, base, texts)
    if base in ("find", "gfind"):
        return _find(texts, cwds, home)
    if base == "git":
        found = git_files(texts, cwds, home)
        return Touched(reads=found.reads, writes=found.writes, known=False, arguments=found.named)
    if base in ("sed", "gsed"):
        return _sed(texts, cwds, home)
    read_only = READ_ONLY.get(base)
    if base in FILELESS or (read_only is not None and read_only.inert):
        return Touched()
    use = FILES.get(base)
    urls = _urls(texts) if base in FETCHERS else ()
    if use is None:
        # Unknown words of a command that it runs are judged there.
        own = command.own - 1 if command.own else len(texts)
        named = [text for at, text in enumerate(texts) if at < own or ANY not in text]
        return Touched(known=False, urls=urls, arguments=_arguments(named, cwds, home))
    return _by_table(base, use, texts, cwds, home, urls)


class _Names(Struct):
    """Files by name, before they are paths."""

    reads: list[str] = []
    writes: list[str] = []


def _by_table(
    base: str, use: FileUse, texts: Sequence[str], cwds: Sequence[str], home: str, urls: tuple[str, ...]
) -> Touched:
    tar = base in _ARCHIVERS
    if tar:
        texts = _with_dashes(texts, use)
    with_files = (*use.read_options, *use.write_options, *use.target_options)
    short = use.values + "".join(name for name in with_files if len(name) == 1)
    long = (*use.long, *(name for name in with_files if len(name) > 1))
    options = split_options(texts, short, long)
    operands = list(options.operands)
    if tar:
        cwds = _moved(options, cwds, home)
    tree = use.always_tree or options.has(use.tree) or "recurse" in options.values(use.tree_values)
    found = _operand_files(base, use, options, tree)
    _option_files(use, options, texts, found)
    if base == "uniq" and len(operands) < 2:
        found.writes = options.values(use.write_options)
    if tar:
        _tar(options, found)
    if use.keyed:
        found.reads += [text[3:] for text in texts if text.startswith("if=")]
        found.writes += [text[3:] for text in texts if text.startswith("of=")]
    local = _local(urls)
    found.reads += local
    if options.has(("T", "upload-file")):
        found.writes += local
    search = _search(base, use, options)

    def see(text: str) -> Access:
        follows = use.follows or options.has(use.follow_options)
        return access(
            text,
            cwds,
            home,
            tree=tree,
            content=use.content,
            hidden=search.hidden,
            follows=follows,
            only=search.only,
            skips=search.skips,
        )

    writes = [access(text, cwds, home, tree=tree) for text in found.writes if text != "-"]
    if _unpacks(base, options, operands):
        targets = options.values((*use.target_options, "C", "directory", "d"))
        writes += [access(text, cwds, home, tree=base in PATCHERS) for text in targets or ["."]]
    loose = base not in READ_ONLY and not all(
        flag in use.known_options or flag in short or flag in long or flag in use.tree
        for flag, _ in options.flags
    )
    return Touched(
        reads=tuple(see(text) for text in found.reads if text != "-"),
        writes=tuple(writes),
        removes=tuple(operands) if base in REMOVERS else (),
        recursive=base == "rmdir" or options.has(RECURSIVE),
        urls=urls,
        arguments=_arguments(operands[1:], cwds, home)
        if use.program
        else _arguments(texts, cwds, home)
        if loose
        else (),
        links=_links(base, use, options, cwds, home),
        loose=loose,
    )


def _operand_files(base: str, use: FileUse, options: Options, tree: bool) -> _Names:
    operands = list(options.operands)
    given = options.has(use.pattern_options) if use.abbreviates else options.has_exactly(use.pattern_options)
    skip_first = use.reads == "rest" and not given
    targets = options.values(use.target_options)
    reads_part: Part = "all" if use.reads == "rest" else use.reads
    reading = operands[1:] if skip_first else operands
    # A glob or an unknown word may become several words, each at any position.
    loose = [operand for operand in operands if not is_static(operand)]
    read = _part(reading, "all" if targets and reads_part == "sources" else reads_part)
    if not reading and (use.here or (tree and use.reads == "rest")):
        read = ["."]
    if use.reads not in ("", "all"):
        read += loose
    written = [] if targets and use.writes == "last" else _part(operands, use.writes)
    if use.writes not in ("", "all"):
        written += loose
    if use.in_place and options.has(use.in_place):
        written += reading
    if use.writes == "rest" and options.has(("reference",)):
        written += operands[:1]
    return _Names(read, [*written, *targets])


def _option_files(use: FileUse, options: Options, texts: Sequence[str], out: _Names) -> None:
    """Values of options that are files; some only after an `@`."""
    for name in use.read_options:
        for value in options.values((name,)):
            if name not in AT_FILE_OPTIONS:
                out.reads.append(value)
            elif "@" in value:
                out.reads.append(value.split("@", 1)[1].split(";", 1)[0])
            elif "=<" in value:
                out.reads.append(value.split("=<", 1)[1])
    out.reads += [texts[at + 2] for at, text in enumerate(texts[:-2]) if text.lstrip("-") in use.pair_options]
    out.writes += options.values(use.write_options)
    if options.has(use.here_options):
        out.writes.append(f"./{ANY}")
    if any(value in ("-", "/dev/stdin") or ANY in value for value in options.values(use.config_options)):
        out.reads.append(ANY)
        out.writes.append(ANY)


class _Search(Struct, frozen=True):
    hidden: bool
    only: tuple[str, ...] = ()
    skips: tuple[str, ...] = ()


def _search(base: str, use: FileUse, options: Options) -> _Search:
    """Which of the files below a directory a search leaves out."""
    hidden = use.hidden or options.has((*SEARCH_UNHIDDEN, "u", "."))
    only = options.values(use.include_options)
    skips = options.values(use.exclude_options)
    for glob in options.values(use.glob_options):
        if glob.startswith("!"):
            skips.append(glob[1:])
        else:
            only.append(glob)
            hidden = hidden or re.match(HIDDEN_GLOBS, glob) is not None
    types = [value for flag, value in options.flags if flag in use.type_options and value]
    if options.has_exactly(("type-add",)) or not all(one in SAFE_TYPES for one in types):
        hidden = True
    if not all(is_static(one) for one in (*only, *skips)):
        return _Search(hidden)
    return _Search(hidden, tuple(only), tuple(skips))


def _moved(options: Options, cwds: Sequence[str], home: str) -> tuple[str, ...]:
    """`tar -C DIR`: the names after it are in that directory."""
    places = tuple(cwds)
    for value in options.values(("C", "directory", "cd")):
        places = (*places, *(path for path in access(value, places, home).paths))
    return tuple(dict.fromkeys(places))


def _tar(options: Options, out: _Names) -> None:
    if options.has(names("c r u A create append update catenate concatenate delete")):
        out.writes += options.values(("f", "file"))
    if options.has(("remove-files",)):
        out.writes += options.operands


def _unpacks(base: str, options: Options, operands: Sequence[str]) -> bool:
    """Whether files of other names are written: those in an archive, or in a patch."""
    if base in _ARCHIVERS:
        return options.has(names("x extract get")) and not options.has(names("O to-stdout"))
    if base in PATCHERS:
        return not operands and not options.has(("dry-run",))
    return base in UNPACKERS and not options.has(UNPACKERS[base])


def _links(base: str, use: FileUse, options: Options, cwds: Sequence[str], home: str) -> tuple[Access, ...]:
    """The sources of ln, `cp -l`, mv. A link is relative to its own directory."""
    if base not in LINKERS or (LINKERS[base] and not options.has(LINKERS[base])):
        return ()
    operands = list(options.operands)
    targets = options.values(use.target_options)
    sources = operands if targets or len(operands) < 2 else operands[:-1]
    places = [*targets, *operands[-1:]]
    found = [access(source, cwds, home, tree=True) for source in sources]
    for place in places:
        at = access(place, cwds, home).paths
        around = tuple(dict.fromkeys((*at, *(path.rpartition("/")[0] or "/" for path in at))))
        found += [access(source, around, home, tree=True) for source in sources]
    return tuple(found)


def _local(urls: Sequence[str]) -> list[str]:
    """The files of `file:` addresses. Braces, brackets and escapes stand for other characters."""
    found = []
    for url in urls:
        local = _FILE_URL.match(url)
        path = local.group(1) if local else url if url.startswith("/") else None
        if path is not None:
            found.append(path if not _URL_GLOB.search(path) else ANY)
    return found


def _with_dashes(texts: Sequence[str], use: FileUse) -> Sequence[str]:
    """`tar cfz x.tgz a` as `tar -c -f x.tgz -z a`."""
    if not texts or texts[0].startswith("-"):
        return texts
    rest = list(texts[1:])
    with_files = (*use.read_options, *use.write_options, *use.target_options)
    short = use.values + "".join(name for name in with_files if len(name) == 1)
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


def _urls(texts: Sequence[str]) -> tuple[str, ...]:
    options = split_options(texts, "x", ("url", "proxy", "preproxy"))
    given = (*options.operands, *options.values(("url", "x", "proxy", "preproxy")))
    return tuple(
        text
        for text in given
        if "://" in text
        or text.lower().startswith("file:")
        or ("." in text and "/" not in text.split(".", 1)[0])
        or text.startswith("/")
        or ANY in text
    )


def _arguments(texts: Sequence[str], cwds: Sequence[str], home: str) -> tuple[Access, ...]:
    """Every word of an unknown command that could name a file, `--option=FILE` included."""
    return tuple(access(text, cwds, home) for text in _candidates(texts))


def _candidates(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        if text.startswith("-"):
            _, given, value = text.partition("=")
            if not given or not value:
                continue
            text = value
        if text and "\n" not in text and len(text) < 4096:
            yield text.removeprefix("@")


def _sed(texts: Sequence[str], cwds: Sequence[str], home: str) -> Touched:
    from checkrein.policy.shell.sed import read_sed

    call = read_sed(texts)
    script = call.script
    written = [*script.writes, *(call.operands if call.in_place else ())]
    read = [*call.operands, *script.reads, *call.files]
    if not script.known:
        read.append(ANY)
        written.append(ANY)
    return Touched(
        reads=tuple(access(text, cwds, home) for text in read if text != "-"),
        writes=(
            *(access(text, cwds, home) for text in written if text != "-"),
            *(access(f"{text}/{ANY}", cwds, home) for text in call.backups),
        ),
        loose=call.other,
        runs=script.runs,
        arguments=_arguments(texts, cwds, home) if call.other else (),
    )


def _find(texts: Sequence[str], cwds: Sequence[str], home: str) -> Touched:
    """It searches the places before the expression; `-delete` removes them, `-fprint` writes a file."""
    roots, expression = find_roots(texts)
    written: list[str] = []
    files: list[str] = []
    for place, text in enumerate(expression):
        value = expression[place + 1] if place + 1 < len(expression) else ""
        if text in ("-newer", "-anewer", "-cnewer", "-samefile", "-files0-from"):
            files.append(value)
        elif text in FIND_WRITES and text in FIND_VALUES:
            written.append(value)
    deletes = roots if "-delete" in expression else []
    tests = expression[: expression.index("-delete")] if expression.count("-delete") == 1 else ()
    chosen = selected((*roots, *tests), cwds, home) if deletes else None
    all_of_it = not any(text.startswith("-") and text not in FIND_ALL for text in tests)
    return Touched(
        reads=tuple(access(text, cwds, home, content=False) for text in (*roots, *files)),
        writes=(
            *(access(text, cwds, home) for text in written),
            *(access(text, cwds, home, tree=True, only=chosen.only if chosen else ()) for text in deletes),
        ),
        removes=tuple(deletes) if all_of_it else (),
        recursive=True,
    )

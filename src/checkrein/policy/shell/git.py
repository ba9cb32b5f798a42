"""Calls of git: in which directory, with which options they only read, which files they read and write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from checkrein.base.later import later
from checkrein.facts import shell_git
from checkrein.facts.shell_git import Form
from checkrein.policy.abstract import ANY, STAR, is_static
from checkrein.policy.paths import join, normal
from checkrein.policy.shell.program import Access, access

_DIGITS = later(r"-\d+")
_SCORE = later(r"[\d%,/]*")
_MAGIC = later(r":(?:\(([^)]*)\)|[!^/]+)")


class Git(Struct, frozen=True, kw_only=True):
    """One call: the subcommand, the words after it, the directories it may run in.

    `plain`: only harmless options come before the subcommand. `places` are other files and directories that
    those options name.
    """

    sub: str = ""
    words: tuple[str, ...] = ()
    cwds: tuple[str, ...] = ()
    plain: bool = True
    places: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


def read_git(texts: Sequence[str], cwds: Sequence[str], home: str) -> Git:
    where = tuple(cwds)
    plain = True
    places: list[str] = []
    settings: list[str] = []
    at = 0
    while at < len(texts) and (texts[at].startswith("-") or texts[at].startswith(ANY)):
        name, given, value = texts[at].partition("=")
        following = texts[at + 1] if at + 1 < len(texts) else ""
        if name == "-C":
            moved = tuple(normal(join(following, cwd, home)) for cwd in where) if following else where
            plain = plain and moved == where
            where, at = moved, at + 1
        elif name == "-c":
            settings.append(following)
            plain, at = False, at + 1
        elif name in shell_git.OTHER_PLACES:
            place = value if given else following
            places.append(place)
            plain = False
            if name == "--work-tree":
                where = (*where, *(normal(join(place, cwd, home)) for cwd in where))
            at += 0 if given or name == "--exec-path" else 1
        elif texts[at] not in shell_git.GLOBAL_HARMLESS:
            plain = False
        at += 1
    rest = texts[at:]
    return Git(
        sub=rest[0] if rest else "",
        words=tuple(rest[1:]),
        cwds=where,
        plain=plain,
        places=tuple(places),
        settings=tuple(settings),
    )


# Read-only forms


def only_reads(words: Sequence[str], cwds: Sequence[str], home: str) -> bool:
    """A listed subcommand with options that only read."""
    if not all(is_static(word) for word in words):
        return False
    call = read_git(words, cwds, home)
    form = shell_git.READ_ONLY.get(call.sub)
    if not call.plain or form is None:
        return False
    if any(re.search(shell_git.UNSAFE_WORDS, word) for word in call.words):
        return False
    return _form(call.sub, form, call.words)


def _form(name: str, form: Form, words: Sequence[str]) -> bool:
    flags: list[str] = []
    operands: list[str] = []
    at = 0
    while at < len(words):
        word = words[at]
        if word == "--":
            operands.extend(words[at + 1 :])
            break
        if not word.startswith("-") or word == "-":
            operands.append(word)
        else:
            found = _options(form, word)
            if found is None:
                return False
            at += 1 if found[-1:] == ["="] else 0
            flags.extend(found)
        at += 1
    if form.operands == "none":
        return not operands
    if form.operands == "listing":
        if name == "config" and len(operands) == 1 and "." in operands[0]:
            return True
        return bool(form.listers.intersection(flags)) or (not operands and (name != "config" or bool(flags)))
    if form.operands == "subs":
        return (not operands and name in shell_git.BARE_READ_ONLY) or (
            bool(operands) and operands[0] in form.subs and words[0] == operands[0]
        )
    return True


def _options(form: Form, word: str) -> list[str] | None:
    """The options in one word, then `=` when a value follows as the next word; None for an unknown one."""
    if word.startswith("--"):
        name, given, _ = word.partition("=")
        if name in form.values:
            return [name] if given else [name, "="]
        return [name] if name in form.options else None
    if word in form.options or _DIGITS.fullmatch(word):
        return [word]
    found: list[str] = []
    for at, letter in enumerate(word[1:], 1):
        name = f"-{letter}"
        rest = word[at + 1 :]
        if name in form.values:
            return [*found, name] if rest else [*found, name, "="]
        if name not in form.options:
            return None
        found.append(name)
        if letter in "MCBU" and _SCORE.fullmatch(rest):
            return found
    return found


# Files


class GitFiles(Struct, frozen=True, kw_only=True):
    """`named` are words that may be files."""

    reads: tuple[Access, ...] = ()
    writes: tuple[Access, ...] = ()
    named: tuple[Access, ...] = ()


def git_files(texts: Sequence[str], cwds: Sequence[str], home: str) -> GitFiles:
    call = read_git(texts, cwds, home)
    if not call.sub:
        return GitFiles()
    paths = [path for path in dict.fromkeys(_paths(call)) if path]
    named = tuple(access(path, call.cwds, home) for path in (*paths, *call.places))
    writes = [*_written(call, paths, home)]
    outside = tuple(access(path, call.cwds, home) for path in _compared(call))
    return GitFiles(reads=(*outside, *_shown(call, home)), writes=tuple(writes), named=named)


def _paths(call: Git) -> Iterator[str]:
    """Every word that may name a file: operands, `REV:path`, pathspecs, values of options."""
    before = ""
    messages = shell_git.MESSAGES if call.sub in shell_git.MESSAGE_USERS else frozenset()
    for word in call.words:
        name, given, value = word.partition("=")
        if word.startswith("-") and not word.startswith("--") and len(word) > 2:
            glued = f"-{word[1]}"
            if glued not in messages and word[-1] != "m":
                yield word[2:]
        if word.startswith("-"):
            if given and name not in messages:
                yield value
            before = word
            continue
        if before in messages or (re.fullmatch(r"-\w*m", before) and messages):
            before = ""
            continue
        before = ""
        magic = _MAGIC.match(word)
        if magic:
            yield word[magic.end() :]
        for path in (word, word.split(":", 1)[1]) if ":" in word else (word,):
            yield path
            yield from _globbed(path, writes=call.sub in shell_git.TREE_WRITERS)


def _globbed(path: str, *, writes: bool) -> Iterator[str]:
    """What a pattern of git itself may match; its `*` goes through directories."""
    parts = re.split(r"[*?\[][^/]*?(?=[\w./-]*$)", path, maxsplit=1)
    if len(parts) == 2:
        head, tail = parts
        yield from (f"{head}{ANY}",) if writes else (f"{head}{STAR}{tail}", f"{head}{STAR}/{STAR}{tail}")


def _compared(call: Git) -> Iterator[str]:
    """`git diff FILE FILE` reads files outside of the repository too."""
    if call.sub not in ("diff", "difftool"):
        return
    for word in call.words:
        if not word.startswith("-") and ":" not in word:
            yield word


def _written(call: Git, paths: Sequence[str], home: str) -> Iterator[Access]:
    sub, words = call.sub, call.words
    if sub in shell_git.PATH_WRITERS:
        if sub == "rm" and "--cached" in words:
            return
        for path in paths:
            yield access(path, call.cwds, home, tree=True)
        return
    if sub not in shell_git.TREE_WRITERS:
        return
    second = next((word for word in words if not word.startswith("-")), "")
    if second in shell_git.INDEX_ONLY.get(sub, ()):
        return
    if sub == "reset" and not any(word.startswith(("--h", "--me", "--k")) for word in words):
        return
    if sub == "read-tree" and not any(re.match(r"-\w*[um]|--reset|--pr", word) for word in words):
        return
    if sub == "apply" and any(word in ("--check", "--stat", "--numstat", "--summary") for word in words):
        return
    if sub == "clean" and any(re.fullmatch(r"-\w*n\w*|--dry-run", word) for word in words):
        return
    if sub == "checkout" and "--" in words and words[-1] != "--":
        for path in words[words.index("--") + 1 :]:
            magic = path.startswith(":") or re.search(r"[*?\[]", path)
            yield access(ANY if magic else path, call.cwds, home, tree=True)
        return
    for path in (*paths, *call.places):
        yield access(path, call.cwds, home, tree=path == ".")
    if sub in ("checkout", "worktree"):
        return
    yield access(".", call.cwds, home, tree=True, repository=True)


def _is_local(word: str) -> bool:
    """Whether the word may be a repository on this machine."""
    return not word.startswith("-") and (":" not in word or word.startswith("file:")) and word[:1] in "./~"


def _shown(call: Git, home: str) -> Iterator[Access]:
    """The content that the call may show or store beyond the files it names."""
    sub, words = call.sub, call.words
    if sub not in shell_git.CONTENT:
        return
    flags = {word.partition("=")[0] for word in words if word.startswith("-")}
    untracked = bool(flags & {"--no-index", "--untracked", "--stdin-paths"}) or any(
        len(flag) > 4 and name.startswith(flag) for flag in flags for name in ("--no-index", "--untracked")
    )
    if (sub == "stash" and words[:1] != ("show",)) or (sub == "worktree" and words[:1] != ("add",)):
        return
    if sub == "clone" and not any(_is_local(word) for word in words):
        return
    if sub in ("add", "commit"):
        forced = sub == "add" and any(re.fullmatch(r"-\w*f\w*|--force", word) for word in words)
        if not forced:
            return
        untracked = True
    elif sub in ("hash-object", "update-index", "fast-import"):
        if not flags & {"--stdin-paths", "--stdin", "--index-info"} and sub != "fast-import":
            return
        untracked = True
    elif (sub == "cat-file" and not any(flag.startswith("--batch") for flag in flags)) or (
        sub in ("log", "reflog")
        and not any(flag[:2] in shell_git.PATCHES or flag in shell_git.PATCHES for flag in flags)
    ):
        return
    elif sub not in ("grep", "archive", "bundle", "fast-export", "cat-file") and flags & shell_git.SUMMARIES:
        if not flags & {"-p", "-u", "--patch"}:
            return
    elif sub in ("blame", "annotate"):
        return
    limited = words[words.index("--") + 1 :] if "--" in words else ()
    if any(path.startswith(":") for path in limited):
        limited = ()
    for path in limited or (".",):
        yield access(path, call.cwds, home, tree=True, hidden=untracked, repository=not limited)

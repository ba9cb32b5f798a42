"""Plugins and marketplaces in git repositories: a commit, read object by object into a directory."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.base.origin import BUNDLED, Origin
from checkrein.runtime.plugins.package_tree import (
    MOST_BYTES,
    MOST_ENTRIES,
    Budget,
    UnsafePackageError,
    put_file,
    require_name,
)
from checkrein.runtime.process.git_fetch import GitFetch

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Completed, Spawner

TIMEOUT_ENV = "CLAUDE_CODE_PLUGIN_GIT_TIMEOUT_MS"
_TIMEOUT = 120.0
_ORIGIN = Origin(BUNDLED, "bundled", None, "plugins")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_REF = re.compile(r"(?!-)(?!.*(?:\.\.|@\{|//|\.lock$))[\w./@+-]{1,200}")
_GITHUB = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/[A-Za-z0-9._-]{1,100}")
_SCP = re.compile(r"[\w.-]+@[\w.-]+:(?!/)[\w./~-]+")
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_REMOTE = ("https", "ssh", "file")
"""For an address elsewhere: the user's own configuration may put another in its place (`url.X.insteadOf`), a
server can lead to none of these but https."""
_BLOCK = 1 << 16
_MOST_FETCHED = 4 * MOST_BYTES
"""A plugin may be a folder of a large repository."""
_LONGEST_LISTING = MOST_ENTRIES * 512
_LONGEST_LINK = 4096
_LONGEST_HEAD = 128


class FetchError(CheckreinError):
    """A source could not be reached, or does not have what was asked for."""

    default_kind = "fetch_failed"


class Checkout(Struct, frozen=True):
    """The files of a commit. `left_out` are submodules, and links that lead out of it or to nothing."""

    commit: str
    directory: str
    left_out: tuple[str, ...] = ()


class _File(Struct, frozen=True):
    path: str
    sha: str
    executable: bool
    size: int


def github_url(repository: str) -> str:
    if not _GITHUB.fullmatch(repository):
        raise UsageError(f"{repository!r} is not a repository; write OWNER/NAME.")
    return f"https://github.com/{repository}.git"


def checked_url(url: str, *, local: bool = True) -> tuple[str, tuple[str, ...]]:
    """The address for git, and the protocols that it may use. Only a `local` one may be on this machine.
    Raises UsageError."""
    if _GITHUB.fullmatch(url):
        return github_url(url), _REMOTE
    if _SCP.fullmatch(url):
        return url, _REMOTE
    parts = _parts(url)
    inside = is_local(url)
    if inside and not local:
        raise UsageError(
            f"{url!r} is on this machine, and the marketplace is not.",
            hint="A marketplace from elsewhere may not name what is here.",
        )
    if parts.scheme in ("https", "ssh") and parts.hostname and not parts.hostname.startswith("-"):
        return url, _REMOTE
    if inside:
        return url, (parts.scheme if parts.scheme == "http" else "file",)
    raise UsageError(
        f"{url!r} is not an address that git may use here.",
        hint="Use https://, ssh:// or OWNER/NAME; http:// only for this machine.",
    )


def is_local(url: str) -> bool:
    """Whether an address names something on this machine."""
    parts = _parts(url)
    loopback = parts.scheme in ("http", "https", "ssh") and parts.hostname in _LOOPBACK
    return loopback or parts.scheme == "file" or os.path.isabs(url)


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise UsageError(f"{url!r} is not an address.") from None


class GitSource:
    def __init__(self, env: Mapping[str, str], spawner: Spawner, cancel: Cancel) -> None:
        given = env.get(TIMEOUT_ENV, "")
        self._timeout = int(given) / 1000 if given.isdecimal() and 0 < len(given) < 9 else _TIMEOUT
        self._env, self._spawner, self._cancel = env, spawner, cancel

    def checkout(
        self,
        url: str,
        staging: str,
        *,
        ref: str | None = None,
        sha: str | None = None,
        folder: str = "",
        local: bool = True,
    ) -> Checkout:
        """Fetch a commit and write its files, or those of a folder, into `staging`. `sha` pins the commit."""
        address, protocols = checked_url(url, local=local)
        wanted = sha or ref or "HEAD"
        if sha is not None and not _SHA.fullmatch(sha):
            raise UsageError(f"{sha!r} is not a commit; write all 40 digits.")
        if not _REF.fullmatch(wanted):
            raise UsageError(f"{wanted!r} is not a branch, tag or commit.")
        git = self._git(protocols)
        repository = os.path.join(staging, "repository")
        self._must(git.call("init", "-q", "--bare", "--template=", repository, cwd=staging), url)
        at = f"--git-dir={repository}"
        done = self._fetched(git, at, address, wanted, staging)
        if done.exit_code and ref and not sha:
            done = self._fetched(git, at, address, f"refs/tags/{ref}", staging)
        self._must(done, url, wanted)
        commit = self._text(
            git.call(at, "rev-parse", "--verify", "-q", "FETCH_HEAD^{commit}", cwd=staging), url
        )
        if sha is not None and commit != sha:
            raise FetchError(f"{url} gave the commit {commit} in place of {sha}.")
        target = os.path.join(staging, "files")
        os.mkdir(target, 0o700)
        left_out = self._write(git, at, staging, commit, folder, target)
        return Checkout(commit, target, left_out)

    def tags(self, url: str, staging: str, *, local: bool = True) -> dict[str, str]:
        """The tags of a repository and their commits."""
        address, protocols = checked_url(url, local=local)
        listed = self._git(protocols).call("ls-remote", "--tags", "--", address, cwd=staging)
        found: dict[str, str] = {}
        for line in self._text(listed, url).splitlines():
            commit, _, name = line.partition("\t")
            found[name.removeprefix("refs/tags/").removesuffix("^{}")] = commit
        return found

    def _git(self, protocols: tuple[str, ...]) -> GitFetch:
        return GitFetch(
            self._env, self._spawner, self._cancel, _ORIGIN, protocols=protocols, timeout=self._timeout
        )

    def _fetched(self, git: GitFetch, at: str, address: str, wanted: str, staging: str) -> Completed:
        words = ("fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-auto-gc", "--depth=1", "--")
        done = git.bounded(at, *words, address, wanted, cwd=staging, most=_MOST_FETCHED)
        if done is None:
            raise UnsafePackageError(f"The repository has more than {_MOST_FETCHED >> 20} MiB.")
        return done

    def _write(
        self, git: GitFetch, at: str, staging: str, commit: str, folder: str, target: str
    ) -> tuple[str, ...]:
        tree = f"{commit}:{require_name(folder)}" if folder else commit
        words = ("ls-tree", "-r", "-l", "-z", "--full-tree", tree)
        into = os.path.join(staging, "listing")
        listed = git.spilled(at, *words, cwd=staging, into=into, limit=_LONGEST_LISTING, filter=_Counted())
        if listed.exit_code:
            raise FetchError(f"The repository has no folder {folder!r} in {commit[:12]}.")
        files, links, left_out = _listed(_output(listed))
        where = self._contents(git, at, staging, "links", links)
        found, lost = _followed(files, dict(zip((one.path for one in links), where, strict=True)))
        budget = Budget()
        for one in found:
            budget.entry(one.path)
            budget.take(one.size)
        done = self._objects(git, at, staging, "contents", found)
        _spread(done, found, target)
        return (*left_out, *lost)

    def _objects(self, git: GitFetch, at: str, staging: str, name: str, files: list[_File]) -> Completed:
        asked = "".join(f"{one.sha}\n" for one in files).encode()
        limit = sum(one.size + _LONGEST_HEAD for one in files)
        into = os.path.join(staging, name)
        done = git.spilled(at, "cat-file", "--batch", cwd=staging, into=into, limit=limit, stdin=asked)
        self._must(done, "the fetched repository")
        return done

    def _contents(self, git: GitFetch, at: str, staging: str, name: str, files: list[_File]) -> list[str]:
        """The texts of small objects."""
        long = next((one.path for one in files if one.size > _LONGEST_LINK), None)
        if long is not None:
            raise UnsafePackageError(f"{long!r} is a link that leads nowhere.")
        if not files:
            return []
        data, texts, place = _output(self._objects(git, at, staging, name, files)), [], 0
        for one in files:
            place = data.index(b"\n", place) + 1
            texts.append(data[place : place + one.size].decode("utf-8", "replace"))
            place += one.size + 1
        return texts

    def _must(self, done: Completed, url: str, wanted: str | None = None) -> None:
        if done.exit_code == 0 and not done.timed_out and not done.cancelled:
            return
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        last = said[-1] if said else f"git ended with {done.exit_code}"
        told = next((line for line in said if line.startswith(("fatal:", "error:"))), last)
        why = "it took too long" if done.timed_out else told
        of = f"{wanted} of {url}" if wanted not in (None, "HEAD") else url
        raise FetchError(
            f"{of} could not be fetched: {why}",
            hint="Check the address, your access to it, and the network.",
            retryable=True,
        )

    def _text(self, done: Completed, url: str) -> str:
        self._must(done, url)
        return done.stdout.decode("utf-8", "replace").strip()


class _Counted:
    """Ends a listing that goes on and on: a few small trees can hold each other a billion times."""

    def __init__(self) -> None:
        self._left = MOST_ENTRIES

    def take(self, chunk: bytes) -> bytes:
        self._left -= chunk.count(b"\0")
        if self._left < 0:
            raise UnsafePackageError(f"The package has more than {MOST_ENTRIES} files.")
        return chunk

    def rest(self) -> bytes:
        return b""


def _output(done: Completed) -> bytes:
    if done.spill is None:
        return done.stdout
    with open(done.spill, "rb") as file:
        data = file.read()
    if len(data) != done.size:
        raise FetchError("The answer of git is too long, or the disk is full.")
    return data


def _listed(output: bytes) -> tuple[list[_File], list[_File], list[str]]:
    """Files, links, and the paths of submodules."""
    files: list[_File] = []
    links: list[_File] = []
    modules: list[str] = []
    for row in output.split(b"\0")[:-1]:
        meta, _, raw = row.partition(b"\t")
        mode, kind, sha, size = meta.decode().split()
        path = require_name(raw.decode("utf-8", "surrogateescape"))
        if kind != "blob":
            modules.append(path)
            continue
        (links if mode == "120000" else files).append(_File(path, sha, mode == "100755", int(size)))
    return files, links, modules


def _followed(files: list[_File], links: dict[str, str]) -> tuple[list[_File], list[str]]:
    """The files, with those that links inside the tree lead to in the links' places; and the other links."""
    by_path = {one.path: one for one in files}
    found, lost = list(files), []
    for path, text in links.items():
        leads = posixpath.normpath(posixpath.join(posixpath.dirname(path), text))
        inside = f"{leads}/"
        if leads in by_path:
            found.append(replace(by_path[leads], path=path))
        elif not path.startswith(inside) and any(one.path.startswith(inside) for one in files):
            below = (one for one in files if one.path.startswith(inside))
            found += [replace(one, path=f"{path}/{one.path[len(inside) :]}") for one in below]
        else:
            lost.append(path)
    return found, lost


def _spread(done: Completed, files: list[_File], target: str) -> None:
    """Write the objects that `cat-file --batch` printed, one after the other."""
    import io

    source: IO[bytes] = io.BytesIO(done.stdout) if done.spill is None else open(done.spill, "rb")  # noqa: SIM115
    budget = Budget()
    with source:
        for one in files:
            head = source.readline().split()
            if len(head) != 3 or (head[0].decode(), head[1], int(head[2])) != (one.sha, b"blob", one.size):
                raise FetchError(f"git gave another object than {one.sha} for {one.path!r}.")
            put_file(target, one.path, _part(source, one.size), one.executable, budget)
            source.read(1)


def _part(source: IO[bytes], size: int) -> Iterator[bytes]:
    while size > 0:
        block = source.read(min(size, _BLOCK))
        if not block:
            raise FetchError("git stopped in the middle of a file.")
        size -= len(block)
        yield block

"""Plugins and marketplaces in git repositories: a commit, read object by object into a directory."""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import CheckreinError, UsageError
from checkrein.base.origin import BUNDLED, Origin
from checkrein.runtime.plugins.package_tree import Budget, put_file, require_name
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
_BLOCK = 1 << 16


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


def checked_url(url: str) -> tuple[str, tuple[str, ...]]:
    """The address for git, and the protocols that it may use. Raises UsageError."""
    if _GITHUB.fullmatch(url):
        return github_url(url), ("https",)
    if _SCP.fullmatch(url):
        return url, ("ssh",)
    parts = urlsplit(url)
    if parts.scheme in ("https", "ssh") and parts.hostname and not parts.hostname.startswith("-"):
        return url, (parts.scheme,)
    if parts.scheme == "http" and parts.hostname in _LOOPBACK:
        return url, ("http",)
    if parts.scheme == "file" or os.path.isabs(url):
        return url, ("file",)
    raise UsageError(
        f"{url!r} is not an address that git may use here.",
        hint="Use https://, ssh:// or OWNER/NAME; http:// only for this machine.",
    )


class GitSource:
    def __init__(self, env: Mapping[str, str], spawner: Spawner, cancel: Cancel) -> None:
        given = env.get(TIMEOUT_ENV, "")
        self._timeout = int(given) / 1000 if given.isdecimal() and 0 < len(given) < 9 else _TIMEOUT
        self._env, self._spawner, self._cancel = env, spawner, cancel

    def checkout(
        self, url: str, staging: str, *, ref: str | None = None, sha: str | None = None, folder: str = ""
    ) -> Checkout:
        """Fetch a commit and write its files, or those of a folder, into `staging`. `sha` pins the commit."""
        address, protocols = checked_url(url)
        wanted = sha or ref or "HEAD"
        if sha is not None and not _SHA.fullmatch(sha):
            raise UsageError(f"{sha!r} is not a commit; write all 40 digits.")
        if not _REF.fullmatch(wanted):
            raise UsageError(f"{wanted!r} is not a branch, tag or commit.")
        git = self._git(protocols)
        repository = os.path.join(staging, "repository")
        self._must(git.call("init", "-q", "--bare", "--template=", repository, cwd=staging), url)
        at = f"--git-dir={repository}"
        fetch = ("fetch", "-q", "--no-tags", "--no-recurse-submodules", "--no-auto-gc")
        done = git.call(at, *fetch, "--depth=1", "--", address, wanted, cwd=staging)
        if done.exit_code and ref and not sha:
            done = git.call(at, *fetch, "--depth=1", "--", address, f"refs/tags/{ref}", cwd=staging)
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

    def tags(self, url: str, staging: str) -> dict[str, str]:
        """The tags of a repository and their commits."""
        address, protocols = checked_url(url)
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

    def _write(
        self, git: GitFetch, at: str, staging: str, commit: str, folder: str, target: str
    ) -> tuple[str, ...]:
        tree = f"{commit}:{require_name(folder)}" if folder else commit
        spill = os.path.join(staging, "listing")
        listed = git.call(at, "ls-tree", "-r", "-l", "-z", "--full-tree", tree, cwd=staging, spill=spill)
        if listed.exit_code:
            raise FetchError(f"The repository has no folder {folder!r} in {commit[:12]}.")
        files, links, left_out = _listed(_output(listed))
        where = self._contents(git, at, staging, "links", links)
        found, lost = _followed(files, dict(zip((one.path for one in links), where, strict=True)))
        budget = Budget()
        for one in found:
            budget.entry(one.path)
            budget.take(one.size)
        asked = "".join(f"{one.sha}\n" for one in found).encode()
        contents = os.path.join(staging, "contents")
        done = git.call(at, "cat-file", "--batch", cwd=staging, stdin=asked, spill=contents)
        self._must(done, "the fetched repository")
        _spread(done, found, target)
        return (*left_out, *lost)

    def _contents(self, git: GitFetch, at: str, staging: str, name: str, files: list[_File]) -> list[str]:
        """The texts of small objects."""
        if not files:
            return []
        asked = "".join(f"{one.sha}\n" for one in files).encode()
        spill = os.path.join(staging, name)
        done = git.call(at, "cat-file", "--batch", cwd=staging, stdin=asked, spill=spill)
        self._must(done, "the fetched repository")
        data, texts, place = _output(done), [], 0
        for one in files:
            place = data.index(b"\n", place) + 1
            texts.append(data[place : place + one.size].decode("utf-8", "replace"))
            place += one.size + 1
        return texts

    def _must(self, done: Completed, url: str, wanted: str | None = None) -> None:
        if done.exit_code == 0 and not done.timed_out and not done.cancelled:
            return
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = (
            "it took too long" if done.timed_out else said[-1] if said else f"git ended with {done.exit_code}"
        )
        of = f"{wanted} of {url}" if wanted not in (None, "HEAD") else url
        raise FetchError(
            f"{of} could not be fetched: {why}",
            hint="Check the address, your access to it, and the network.",
            retryable=True,
        )

    def _text(self, done: Completed, url: str) -> str:
        self._must(done, url)
        return done.stdout.decode("utf-8", "replace").strip()


def _output(done: Completed) -> bytes:
    if done.spill is None:
        return done.stdout
    with open(done.spill, "rb") as file:
        return file.read()


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

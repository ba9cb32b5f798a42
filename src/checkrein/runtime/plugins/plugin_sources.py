"""From the source of a plugin or marketplace to a directory with its files, below a folder for staging."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct
from msgspec.structs import replace

from checkrein.base.errors import UsageError
from checkrein.dialects import jsonfile
from checkrein.dialects.codes import Log
from checkrein.runtime.plugins.archives import unpack
from checkrein.runtime.plugins.downloads import download
from checkrein.runtime.plugins.git_source import Checkout, FetchError, GitSource, github_url, is_local
from checkrein.runtime.plugins.package_tree import UnsafePackageError, copy_tree, require_name
from checkrein.runtime.plugins.program_source import ProgramSource
from checkrein.runtime.plugins.versions import parse_version

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Spawner


class Fetched(Struct, frozen=True):
    """`source` is the source with what was chosen: the commit, the hash of an archive."""

    directory: str
    source: dict[str, Any]
    commit: str | None = None
    sha256: str | None = None
    left_out: tuple[str, ...] = ()


class Home(Struct, frozen=True):
    """Where a plugin's marketplace is. `named` are the hosts, with port, that its address has. Only a `local`
    one may name repositories on this machine."""

    root: str | None = None
    plugin_root: Any = None
    named: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    local: bool = True


class PluginSources:
    """Fetches through the one Spawner. `accepts` says whether the user accepted a command."""

    def __init__(
        self,
        env: Mapping[str, str],
        spawner: Spawner,
        cancel: Cancel,
        accepts: Callable[[str], bool] = lambda line: False,
    ) -> None:
        self._env, self._cancel, self._accepts = env, cancel, accepts
        self.git = GitSource(env, spawner, cancel)
        self._programs = ProgramSource(env, spawner, cancel)

    def plugin(self, source: Mapping[str, Any], staging: str, home: Home) -> Fetched:
        """The files of a plugin, alone in a directory. Raises CheckreinError; nothing outside has changed."""
        kind = source.get("source")
        if kind == "path":
            return self._path(source, staging, home)
        if kind in ("github", "url", "git-subdir"):
            folder = str(source.get("path", "")).removeprefix("./").strip("/") if kind == "git-subdir" else ""
            checkout = self._checkout(source, staging, folder, local=home.local)
            _require_all(checkout.left_out)
            return Fetched(checkout.directory, dict(source), checkout.commit)
        if kind == "archive":
            return self._archive(source, staging, home)
        if kind == "npm":
            return self._npm(source, staging)
        if kind == "command":
            line = str(source.get("command", ""))
            root = self._programs.command(
                line, staging, timeout=source.get("timeout"), accepted=self._accepts(line)
            )
            return Fetched(_copied(root, staging), dict(source))
        raise UsageError(f"The source kind {kind!r} is not known.")

    def marketplace(self, source: Mapping[str, Any], staging: str) -> Fetched:
        """The files of a marketplace; of an address that gives only the catalogue, that alone."""
        kind = source.get("source")
        if kind in ("github", "git"):
            checkout = self._checkout(source, staging, "")
            return Fetched(checkout.directory, dict(source), checkout.commit, left_out=checkout.left_out)
        if kind == "npm":
            fetched = self._npm(source, staging)
            return replace(fetched, commit=fetched.source.get("version"))
        if kind == "url":
            target = os.path.join(staging, "files", ".claude-plugin")
            os.makedirs(target, mode=0o700)
            headers = source.get("headers")
            download(
                str(source.get("url", "")),
                os.path.join(target, "marketplace.json"),
                env=self._env,
                cancel=self._cancel,
                named=named_hosts(source),
                headers=headers if isinstance(headers, dict) else None,
                limit=16 << 20,
            )
            return Fetched(os.path.join(staging, "files"), dict(source))
        raise UsageError(f"A marketplace can't have the source kind {kind!r}.")

    def _checkout(
        self, source: Mapping[str, Any], staging: str, folder: str, *, local: bool = True
    ) -> Checkout:
        repo = source.get("repo")
        url = github_url(str(repo)) if source.get("source") == "github" else str(source.get("url", ""))
        ref, sha = source.get("ref"), source.get("sha")
        return self.git.checkout(
            url,
            staging,
            ref=ref if isinstance(ref, str) else None,
            sha=sha if isinstance(sha, str) else None,
            folder=folder,
            local=local,
        )

    def _path(self, source: Mapping[str, Any], staging: str, home: Home) -> Fetched:
        if home.root is None:
            raise UsageError("A plugin with a path needs a marketplace with files.")
        written = str(source.get("path", ""))
        below = written.removeprefix("./").strip("/")
        if not written.startswith("./") and isinstance(home.plugin_root, str):
            below = "/".join(filter(None, (home.plugin_root.removeprefix("./").strip("/"), below)))
        if below not in ("", "."):
            require_name(below)
        start = f"{below}/" if below not in ("", ".") else ""
        _require_all(tuple(path for path in home.left_out if path.startswith(start)))
        root = os.path.realpath(os.path.join(home.root, below))
        if os.path.commonpath((root, os.path.realpath(home.root))) != os.path.realpath(home.root):
            raise UnsafePackageError(f"The path {written!r} leads out of the marketplace.")
        if not os.path.isdir(root):
            raise FetchError(f"The marketplace has no folder {written!r}.")
        return Fetched(_copied(root, staging), dict(source))

    def _archive(self, source: Mapping[str, Any], staging: str, home: Home) -> Fetched:
        file = os.path.join(staging, "archive")
        url = str(source.get("url", ""))
        download(url, file, env=self._env, cancel=self._cancel, named=home.named)
        with open(file, "rb") as content:
            sha256 = hashlib.file_digest(content, "sha256").hexdigest()
        wanted = source.get("sha256")
        if isinstance(wanted, str) and wanted.lower() != sha256:
            raise UnsafePackageError(f"The archive has the hash {sha256}, and not {wanted}.")
        directory = unpack(file, os.path.join(staging, "files"))
        return Fetched(directory, dict(source), sha256=sha256)

    def _npm(self, source: Mapping[str, Any], staging: str) -> Fetched:
        version, registry = source.get("version"), source.get("registry")
        file = self._programs.npm(
            str(source.get("package", "")),
            staging,
            version=version if isinstance(version, str) else None,
            registry=registry if isinstance(registry, str) else None,
        )
        directory = unpack(file, os.path.join(staging, "files"))
        found = _packed_version(directory)
        return Fetched(directory, {**source, "version": found} if found else dict(source))


def named_hosts(source: Mapping[str, Any]) -> tuple[str, ...]:
    """The host that the user wrote when he added a marketplace."""
    url = str(source.get("url", ""))
    return (urlsplit(url).netloc,) if "://" in url else ()


def _packed_version(directory: str) -> str | None:
    """The version that npm chose, for a lock."""
    document = jsonfile.read(os.path.join(directory, "package.json"), "user", Log())
    found = document.value.get("version") if document is not None else None
    return found if isinstance(found, str) and parse_version(found) is not None else None


def is_here(source: Mapping[str, Any]) -> bool:
    """Whether a marketplace is on this machine, or in the user's own settings."""
    return source.get("source") in ("directory", "file", "settings") or is_local(str(source.get("url", "")))


def _copied(root: str, staging: str) -> str:
    target = os.path.join(staging, "files")
    copy_tree(root, target)
    return target


def _require_all(left_out: tuple[str, ...]) -> None:
    if left_out:
        raise UnsafePackageError(
            f"{left_out[0]!r} is a submodule, or a link that leads out of the package.",
            hint="The publisher must put plain files in its place.",
        )

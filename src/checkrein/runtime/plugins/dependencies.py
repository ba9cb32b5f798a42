"""Plugins that plugins need: which versions, from where, in which order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec import Struct

from checkrein.base.errors import CheckreinError, NotFoundError
from checkrein.model.items import Plugin
from checkrein.runtime.plugins.git_source import github_url
from checkrein.runtime.plugins.marketplace_roll import Catalog, MarketplaceRoll
from checkrein.runtime.plugins.packages import Package, Packages
from checkrein.runtime.plugins.versions import Range, Version, highest, parse_range, parse_version

Tags = Callable[[str, bool], dict[str, str]]
"""From the address of a repository, and whether it may be on this machine, to its tags and their commits."""
_MOST = 100


class DependencyError(CheckreinError):
    default_kind = "dependency_unsatisfied"


class Need(Struct, frozen=True):
    """`by` is the plugin that needs it."""

    name: str
    marketplace: str
    range: Range | None
    by: str

    @property
    def identity(self) -> str:
        return f"{self.name}@{self.marketplace}"


def needs(plugin: Plugin, identity: str) -> Iterator[Need]:
    """The dependencies that a plugin names. Raises DependencyError for one that can't be read."""
    home = identity.rpartition("@")[2]
    for written in plugin.dependencies:
        entry: dict[str, Any] = {"name": written} if isinstance(written, str) else written
        name = entry.get("name") if isinstance(entry, dict) else None
        if not isinstance(name, str) or not name:
            raise DependencyError(f"{identity} has a dependency without a name.")
        marketplace = entry.get("marketplace")
        if "@" in name and marketplace is None:
            name, _, marketplace = name.rpartition("@")
        text = entry.get("version")
        wanted = parse_range(text) if isinstance(text, str) else None
        if isinstance(text, str) and wanted is None:
            raise DependencyError(f"{identity} needs {name} in the versions {text!r}, which is not a range.")
        yield Need(name, marketplace if isinstance(marketplace, str) else home, wanted, identity)


class Closure:
    """The packages that some plugins need together. The root's marketplace says which others may serve."""

    def __init__(self, roll: MarketplaceRoll, packages: Packages, tags: Tags) -> None:
        self._roll, self._packages, self._tags = roll, packages, tags
        self._found: dict[str, Package] = {}
        self._ranges: dict[str, list[Need]] = {}
        self._most = _MOST

    def of(self, roots: Iterable[Package]) -> dict[str, Package]:
        """The roots and everything they need, needed ones first. Raises DependencyError."""
        wanted = list(roots)
        self._found = {root.identity: root for root in wanted}
        self._most = len(wanted) + _MOST
        for root in wanted:
            self._follow(root, root.identity.rpartition("@")[2])
        return dict(reversed(self._found.items()))

    def _follow(self, package: Package, root: str) -> None:
        if len(self._found) > self._most:
            raise DependencyError(f"{package.identity} needs more than {_MOST} plugins.")
        for need in needs(package.plugin, package.identity):
            self._require_allowed(need, root)
            known = self._ranges.setdefault(need.identity, [])
            known.append(need)
            before = self._found.get(need.identity)
            if before is not None and (need.range is None or _fits(before, need.range)):
                continue
            found = self._chosen(need, [one for one in known if one.range is not None])
            self._found.pop(need.identity, None)
            self._found[need.identity] = found
            self._follow(found, root)

    def _require_allowed(self, need: Need, root: str) -> None:
        if need.marketplace == root:
            return
        allowed = self._roll.catalog(root).values.get("allowCrossMarketplaceDependenciesOn")
        if not isinstance(allowed, list) or need.marketplace not in allowed:
            raise DependencyError(
                f"{need.by} needs {need.identity}, and the marketplace {root} does not allow that.",
                kind="cross_marketplace",
            )

    def _chosen(self, need: Need, ranged: list[Need]) -> Package:
        try:
            catalog = self._roll.catalog(need.marketplace)
            catalog.entry(need.name)
        except NotFoundError as error:
            raise DependencyError(f"{need.by} needs {need.identity}: {error.message}") from None
        if not ranged:
            return self._packages.get(catalog, need.name)
        ranges = [one.range for one in ranged if one.range is not None]
        tagged = self._tagged(catalog, need.name)
        if not tagged:
            found = self._packages.get(catalog, need.name)
            if not all(_fits(found, one) for one in ranges):
                raise _unsatisfied(need, ranged, f"it is {found.pinned.version}, and has no tags")
            return found
        version = highest(tagged, ranges)
        if version is None:
            raise _unsatisfied(need, ranged, "no tag fits")
        return self._at(catalog, need.name, tagged[version])

    def _tagged(self, catalog: Catalog, name: str) -> dict[Version, str]:
        """The versions that tags `NAME--vVERSION` of the plugin's repository name, with their commits."""
        url = _repository(catalog, name)
        prefix = f"{name}--v"
        listed = self._tags(url, catalog.home.local) if url is not None else {}
        found = (
            (parse_version(tag.removeprefix(prefix)), commit)
            for tag, commit in listed.items()
            if tag.startswith(prefix)
        )
        return {version: commit for version, commit in found if version is not None}

    def _at(self, catalog: Catalog, name: str, commit: str) -> Package:
        if _is_path(catalog, name):
            return self._packages.get(self._roll.at_commit(catalog.known.source, commit), name)
        return self._packages.get(catalog, name, commit=commit)


def _is_path(catalog: Catalog, name: str) -> bool:
    return isinstance(catalog.raw[catalog.entry(name).name].get("source"), str)


def _repository(catalog: Catalog, name: str) -> str | None:
    source = (
        catalog.known.source if _is_path(catalog, name) else catalog.raw[catalog.entry(name).name]["source"]
    )
    kind = source.get("source")
    if kind == "github":
        return github_url(str(source.get("repo", "")))
    return str(source["url"]) if kind in ("git", "url", "git-subdir") and "sha" not in source else None


def _fits(package: Package, wanted: Range) -> bool:
    version = parse_version(package.pinned.version)
    return version is not None and wanted.holds(version)


def _unsatisfied(need: Need, ranged: list[Need], why: str) -> DependencyError:
    wanted = ", ".join(f"{one.range.text} for {one.by}" for one in ranged if one.range is not None)
    kind = "range_conflict" if len(ranged) > 1 else "dependency_version_unsatisfied"
    if why == "no tag fits" and len(ranged) == 1:
        kind = "no_matching_tag"
    return DependencyError(f"{need.identity} is needed in {wanted}: {why}.", kind=kind)

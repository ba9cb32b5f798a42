"""Install, update, switch and remove plugins. Every change is planned first, shown, and then made whole."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal

from msgspec.structs import replace

from checkrein.base.errors import CheckreinError, NotFoundError, PolicyError
from checkrein.base.files import beneath
from checkrein.base.nearest import did_you_mean
from checkrein.dialects.claude import plugins
from checkrein.dialects.claude.plugin_places import records
from checkrein.model.items import Plugin
from checkrein.model.plugins import SCOPES, Installed, Pinned, PluginScope, Records
from checkrein.model.project import Project
from checkrein.runtime.plugins.admin_lists import AdminLists
from checkrein.runtime.plugins.dependencies import Closure, needs
from checkrein.runtime.plugins.git_source import FetchError
from checkrein.runtime.plugins.marketplace_roll import MarketplaceRoll
from checkrein.runtime.plugins.package_cache import PackageCache
from checkrein.runtime.plugins.packages import Package, Packages
from checkrein.runtime.plugins.plugin_lock import read_lock, write_lock
from checkrein.runtime.plugins.plugin_names import split_identity
from checkrein.runtime.plugins.plugin_options import data_dir
from checkrein.runtime.plugins.plugin_plan import Plan, change_of
from checkrein.runtime.plugins.plugin_sources import PluginSources
from checkrein.runtime.plugins.settings_edit import change_setting, require_editable

if TYPE_CHECKING:
    from checkrein.llm.cancel import Cancel
    from checkrein.runtime.process.spawner import Spawner

ENABLED = "enabledPlugins"
Switching = Literal["all", "new", "none"]
"""Which plugins of a plan are switched on; `new` are those that the scope did not have."""


def is_same(one: Pinned, other: Pinned) -> bool:
    """Content, what the marketplace adds to it, and what both can do."""
    return (one.hash, one.entry, one.capabilities) == (other.hash, other.entry, other.capabilities)


class Installer:
    """Plugins of one user in one project. `trusted`: marketplaces that the project names count."""

    def __init__(
        self,
        project: Project,
        env: Mapping[str, str],
        spawner: Spawner,
        cancel: Cancel,
        *,
        trusted: bool,
        accepts_commands: bool = False,
    ) -> None:
        sources = PluginSources(env, spawner, cancel, self._accepts)
        self._takes_commands = accepts_commands
        self.project, self.env = project, env
        self.cache = PackageCache(env)
        self.roll = MarketplaceRoll(project, env, sources, trusted=trusted)
        self._admin = AdminLists(project)
        self._packages = Packages(sources, self.cache, self._admin)
        self._git = sources.git

    def plan(self, names: Iterable[str], scope: PluginScope, *, refresh: bool = False) -> Plan:
        """Fetch plugins and what they need. Raises CheckreinError."""
        written = tuple(names)
        identities = [self.identity(name) for name in written]
        if refresh:
            for marketplace in dict.fromkeys(one.rpartition("@")[2] for one in identities):
                self.roll.update(marketplace)
        roots = []
        for identity in identities:
            name, _, marketplace = identity.rpartition("@")
            roots.append(self._packages.get(self.roll.catalog(marketplace), name))
        self._takes_commands = False
        found = Closure(self.roll, self._packages, self._tags).of(roots)
        self._require_own_data(found)
        asked = tuple(root.identity for root in roots)
        renamed = {
            given: root
            for given, root in zip(written, asked, strict=True)
            if given != root and self.pinned(given, scope) is not None
        }
        was = {new: old for old, new in renamed.items()}
        changes = (
            change_of(
                one,
                self.pinned(was.get(name, name), scope),
                auto=name not in asked,
            )
            for name, one in found.items()
        )
        made = tuple(one for one in changes if one is not None)
        return Plan(tuple(found.values()), made, asked, renamed)

    def apply(self, plan: Plan, scope: PluginScope, switch: Switching = "all") -> None:
        """Make a plan true: the lock, the records, then the switches. Each is one whole write."""
        place = self.project.place
        require_editable(place, scope)
        gone = next((one.identity for one in plan.packages if not self.cache.has(one.pinned.hash)), None)
        if gone is not None:
            raise FetchError(f"Another process removed {gone} meanwhile. Try again.", retryable=True)
        fresh = {one.identity for one in plan.packages if self.pinned(one.identity, scope) is None}
        if scope == "project":
            write_lock(place, {one.identity: self._portable(one.pinned) for one in plan.packages})
        root = None if scope == "user" else place.root
        before = records(self.env).plugins
        made = {
            one.identity: Installed(
                scope=scope,
                pinned=one.pinned,
                project=root,
                auto=one.identity not in plan.asked and self._was_auto(before, one.identity, scope),
            )
            for one in plan.packages
        }
        commands = tuple(
            str(one.pinned.source["command"]) for one in plan.packages if "command" in one.pinned.source
        )

        def change(kept: Records) -> Records:
            installed = dict(kept.plugins)
            for identity, one in made.items():
                others = (old for old in installed.get(identity, ()) if not _same(old, scope, root))
                installed[identity] = (*others, one)
            accepted = tuple(dict.fromkeys((*kept.accepted_commands, *commands)))
            return replace(kept, plugins=installed, accepted_commands=accepted)

        self.roll.file.change(change)
        on = {name for name, found in self.project.plugins.items() if found.item.enabled}
        for package in plan.packages:
            wanted = package.default or package.identity not in plan.asked
            needed = package.identity in fresh and on & {*plan.asked, *plan.renamed}
            if switch == "all" or (switch == "new" and needed):
                self._switch(package.identity, scope, wanted, keep=package.identity in before)
        for old, new in plan.renamed.items():
            self._switch(new, scope, old in on)
            self._take_out(old, scope)

    def identity(self, text: str) -> str:
        """`name@marketplace` for what a person writes. Raises when several marketplaces have the name."""
        name, marketplace = split_identity(text)
        if marketplace is not None:
            return f"{self.roll.catalog(marketplace).entry(name).name}@{marketplace}"
        having, unread = [], ""
        for known in self.roll.names():
            try:
                catalog = self.roll.catalog(known)
            except CheckreinError as error:
                unread = f" {known} could not be read: {error.message}"
                continue
            with contextlib.suppress(NotFoundError):
                having.append(f"{catalog.entry(name).name}@{known}")
        if len(having) != 1:
            shown = (
                f"Several marketplaces have it: {', '.join(having)}."
                if having
                else f"No marketplace has it.{unread}"
            )
            hint = (
                "Write name@marketplace." if having else "`checkrein plugin marketplace add SOURCE` adds one."
            )
            raise NotFoundError(f"There is no plugin {name!r}. {shown}", kind="plugin_not_found", hint=hint)
        return having[0]

    def installed(self, text: str) -> str:
        """The identity of an installed plugin, by it or by its name. Raises NotFoundError."""
        known = [*records(self.env).plugins, *self.project.plugins]
        found = list(dict.fromkeys(one for one in known if text in (one, one.rpartition("@")[0])))
        if len(found) != 1:
            near = did_you_mean(text, known) if not found else f" There are {', '.join(found)}."
            raise NotFoundError(f"The plugin {text!r} is not installed.{near}", kind="plugin_not_found")
        return found[0]

    def enable(self, identity: str, scope: PluginScope) -> tuple[str, ...]:
        """Switch a plugin on with what it needs. Gives what was switched."""
        self._admin.require_plugin(identity)
        wanted = dict.fromkeys((*self._needed(identity), identity))
        for one in wanted:
            self._admin.require_plugin(one)
            self._require_installed(one, identity)
        for one in wanted:
            self._switch(one, scope, True)
        return tuple(wanted)

    def disable(self, identity: str, scope: PluginScope) -> None:
        self._require_unneeded(identity)
        self._switch(identity, scope, False)

    def remove(self, identity: str, scope: PluginScope, *, keep_data: bool = False) -> None:
        """Take a plugin out of a scope; with the last scope its data and options go too."""
        place = self.project.place
        root = None if scope == "user" else place.root
        held = records(self.env).plugins.get(identity, ())
        locked = identity in read_lock(place).installed if scope == "project" else False
        if not locked and not any(_same(one, scope, root) for one in held):
            others = [one for one in SCOPES if self.pinned(identity, one) is not None]
            raise NotFoundError(
                f"The plugin {identity} is not installed in the scope {scope}.",
                kind="plugin_not_found",
                hint=f"It is in the scope {others[0]}: use `--scope {others[0]}`." if others else None,
            )
        self._require_unneeded(identity)
        self._take_out(identity, scope)
        if identity not in records(self.env).plugins and not keep_data:
            self._forget(identity)

    def _take_out(self, identity: str, scope: PluginScope) -> None:
        place = self.project.place
        root = None if scope == "user" else place.root
        change_setting(place, scope, (ENABLED, identity), lambda old: None)
        if scope == "project":
            write_lock(place, {identity: None})

        def change(kept: Records) -> Records:
            held = kept.plugins.get(identity, ())
            left = {identity: tuple(one for one in held if not _same(one, scope, root))}
            others = {key: one for key, one in kept.plugins.items() if key != identity}
            return replace(kept, plugins=others | {key: one for key, one in left.items() if one})

        self.roll.file.change(change)

    def orphans(self) -> tuple[str, ...]:
        """Plugins that only others needed, and none needs any more."""
        known = records(self.env).plugins
        needed = {need for one in known for need in self._needed(one)}
        return tuple(one for one, held in known.items() if one not in needed and all(x.auto for x in held))

    def pinned(self, identity: str, scope: PluginScope) -> Pinned | None:
        """What is installed in a scope now."""
        if scope == "project":
            locked = read_lock(self.project.place).installed.get(identity)
            if locked is not None:
                return locked
        root = None if scope == "user" else self.project.place.root
        held = records(self.env).plugins.get(identity, ())
        return next((one.pinned for one in held if _same(one, scope, root)), None)

    def _switch(self, identity: str, scope: PluginScope, value: bool, *, keep: bool = False) -> None:
        """With `keep`, a switch that is there stays as it is."""
        change_setting(
            self.project.place,
            scope,
            (ENABLED, identity),
            lambda old: old if keep and old is not None else value,
        )

    def _needed(self, identity: str) -> list[str]:
        """What an installed plugin needs, directly and through others."""
        found: dict[str, None] = {}
        pending = [identity]
        while pending:
            current = pending.pop()
            plugin = self.plugin(current)
            for need in needs(plugin, current) if plugin is not None else ():
                if need.identity not in found and need.identity != identity:
                    found[need.identity] = None
                    pending.append(need.identity)
        return list(found)

    def plugin(self, identity: str) -> Plugin | None:
        """An installed plugin, by identity."""
        for one in records(self.env).plugins.get(identity, ()):
            if self.cache.has(one.pinned.hash):
                place = self.cache.place(one.pinned.hash)
                entry, marketplace = one.pinned.entry or None, identity.rpartition("@")[2]
                read = plugins.read(place, marketplace=marketplace, parts=False, entry=entry).plugins
                if read:
                    return read[0]
        found = self.project.plugins.get(identity)
        return found.item if found is not None else None

    def _require_installed(self, identity: str, by: str) -> None:
        if self.plugin(identity) is None:
            of = "" if identity == by else f", which {by} needs,"
            raise NotFoundError(f"The plugin {identity}{of} is not installed.", kind="plugin_not_found")
        switch = self.project.plugins.get(identity)
        if identity != by and switch is not None and not switch.item.enabled:
            where = switch.item.switch
            if where is not None and where.scope == "managed":
                raise PolicyError(
                    f"{by} needs {identity}, which {where} switches off.", kind="dependency_off"
                )

    def _require_own_data(self, packages: Iterable[str]) -> None:
        """The directory for data is named after the plugin, and not every sign can stand there."""
        known = {data_dir(one, ""): one for one in records(self.env).plugins}
        for identity in packages:
            other = known.setdefault(data_dir(identity, ""), identity)
            if other != identity:
                raise PolicyError(
                    f"{identity} would have the data of {other}, whose name looks the same.",
                    kind="name_confusing",
                    hint=f"Remove {other} first, or do without {identity}.",
                )

    def _require_unneeded(self, identity: str) -> None:
        mutual = {identity, *self._needed(identity)}
        by = [
            name
            for name, found in self.project.plugins.items()
            if found.item.enabled and name not in mutual and identity in self._needed(name)
        ]
        if by:
            raise PolicyError(
                f"{', '.join(by)} needs {identity}.",
                kind="plugin_needed",
                hint=f"Disable {by[0]} first.",
            )

    def _forget(self, identity: str) -> None:
        from checkrein.runtime.plugins.plugin_options import Secrets, secrets_file

        shutil.rmtree(data_dir(identity, self.project.place.config_dir), ignore_errors=True)
        secrets = secrets_file(self.env)
        if identity in secrets.read()[0].plugins:
            secrets.change(
                lambda kept: Secrets({key: one for key, one in kept.plugins.items() if key != identity})
            )

    def _was_auto(self, before: Mapping[str, tuple[Installed, ...]], identity: str, scope: str) -> bool:
        """A plugin that somebody asked for once stays so."""
        held = before.get(identity, ())
        return all(one.auto for one in held)

    def _portable(self, pinned: Pinned) -> Pinned:
        """For a file in the repository: paths inside the project are written from its root."""
        path, root = pinned.marketplace.get("path"), self.project.place.root
        if not isinstance(path, str) or not beneath(os.path.realpath(path), root):
            return pinned
        below = os.path.relpath(os.path.realpath(path), root)
        return replace(
            pinned, marketplace={**pinned.marketplace, "path": f"./{below}" if below != "." else "."}
        )

    def _accepts(self, line: str) -> bool:
        """Whether a command may run. A word for all commands is for plugins that the user names: what they
        need may come from commands that nobody has read."""
        return self._takes_commands or line in records(self.env).accepted_commands

    def _tags(self, url: str, local: bool) -> dict[str, str]:
        with self.cache.staging() as staging:
            return self._git.tags(url, staging, local=local)

    def has_recorded(self, identity: str, pinned: Pinned) -> bool:
        """Whether this user has installed exactly that before: a lock alone is only somebody's word."""
        held = records(self.env).plugins.get(identity, ())
        return any(is_same(one.pinned, pinned) for one in held)

    def record(self, identity: str, pinned: Pinned) -> None:
        """Keep a plugin of the project's lock as installed."""
        root = self.project.place.root

        def change(kept: Records) -> Records:
            held = (one for one in kept.plugins.get(identity, ()) if not _same(one, "project", root))
            made = Installed(scope="project", pinned=pinned, project=root)
            return replace(kept, plugins={**kept.plugins, identity: (*held, made)})

        self.roll.file.change(change)

    def from_lock(self, identity: str, pinned: Pinned) -> Package:
        """The plugin as the lock names it: the same source at the same commit, wherever its marketplace has
        gone since then. An administrator who lists marketplaces wants to see it in one of them."""
        name = identity.rpartition("@")[0]
        is_path = pinned.source.get("source") == "path"
        if is_path or self._admin.names_marketplaces:
            catalog = self.roll.at_commit(pinned.marketplace, pinned.commit if is_path else None)
            return self._packages.get(catalog, name, commit=None if is_path else pinned.commit)
        self._admin.require_marketplace(pinned.marketplace)
        return self._packages.locked(identity, pinned)


def _same(one: Installed, scope: PluginScope, root: str | None) -> bool:
    return one.scope == scope and one.project == root

"""Compare a project with its lock: unlocked plugins, changed content, capabilities that appeared."""

from __future__ import annotations

import os
from typing import Literal

from msgspec import Struct

from checkrein.base.errors import PolicyError
from checkrein.dialects.claude import plugins
from checkrein.model.items import Skill
from checkrein.model.plugins import Capabilities, Pinned
from checkrein.model.project import Project
from checkrein.runtime.plugins.capability_surface import of_plugin, of_skill
from checkrein.runtime.plugins.installation import Installer, is_same
from checkrein.runtime.plugins.package_cache import PackageCache
from checkrein.runtime.plugins.package_tree import UnsafePackageError, content_hash
from checkrein.runtime.plugins.plugin_lock import LockedSkill, PluginLock, read_lock, write_lock

Problem = Literal["unlocked", "not installed", "changed", "gained", "refused"]


class AuditFinding(Struct, frozen=True, omit_defaults=True):
    kind: Literal["plugin", "skill"]
    name: str
    problem: Problem
    message: str
    gained: Capabilities = Capabilities()


def audit(project: Project, cache: PackageCache) -> tuple[AuditFinding, ...]:
    """What the lock does not cover. Reads files only. Raises FileError when the lock is broken."""
    lock = read_lock(project.place)
    return (*_plugins(project, lock, cache), *_skills(project, lock))


def lock_skills(project: Project) -> bool:
    """Write what the project's own skills can do now into the lock."""
    found = {}
    for skill in _own_skills(project):
        found[_folder(skill, project)] = LockedSkill(content_hash(skill.directory), of_skill(skill))
    return write_lock(project.place, {}, found)


def install_frozen(project: Project, installer: Installer) -> tuple[str, ...]:
    """Bring every locked plugin into the cache, byte for byte. Raises PolicyError on any difference."""
    lock = read_lock(project.place)
    unlocked = [one for one in _enabled(project) if one not in lock.installed]
    if unlocked:
        raise PolicyError(
            f"{unlocked[0]} is enabled and not in checkrein.lock.",
            kind="lock_incomplete",
            hint=f"Run `checkrein plugin install {unlocked[0]} --scope project`, and commit the lock.",
        )
    for identity, pinned in lock.installed.items():
        if installer.has_recorded(identity, pinned) and installer.cache.is_whole(pinned.hash):
            continue
        package = installer.from_lock(identity, pinned)
        if not is_same(package.pinned, pinned):
            raise PolicyError(
                f"{identity} is not what checkrein.lock says: its content is {package.pinned.hash}, and "
                f"{pinned.hash} is locked.",
                kind="lock_mismatch",
                hint="Nothing was installed. Find out who changed it before you update the lock.",
            )
        installer.record(identity, package.pinned)
    return tuple(lock.installed)


def _enabled(project: Project) -> list[str]:
    """Plugins that the project switches on for everybody, installed here or not."""
    listed = [one for one in project.sources.settings if one.origin.scope == "project"]
    from checkrein.dialects.claude.settings import undotted

    named = ((undotted(one.name), one.value) for one in listed)
    return [keys[1] for keys, value in named if len(keys) == 2 and keys[0] == "enabledPlugins" and value]


def _plugins(project: Project, lock: PluginLock, cache: PackageCache) -> list[AuditFinding]:
    found = []
    for identity in _enabled(project):
        if identity not in lock.installed and not _is_own(project, identity):
            found.append(
                AuditFinding("plugin", identity, "unlocked", "It is enabled and not in checkrein.lock.")
            )
    for identity, pinned in lock.installed.items():
        problem = _locked(identity, pinned, cache)
        if problem is not None:
            found.append(problem)
    return found


def _is_own(project: Project, identity: str) -> bool:
    """A plugin whose files are in the project itself: git has its history."""
    resolved = project.plugins.get(identity)
    return resolved is not None and resolved.item.root.startswith(project.place.root + os.sep)


def _locked(identity: str, pinned: Pinned, cache: PackageCache) -> AuditFinding | None:
    if not cache.has(pinned.hash):
        message = "The locked version is not installed here; run `checkrein plugin install --frozen`."
        return AuditFinding("plugin", identity, "not installed", message)
    if not cache.is_whole(pinned.hash):
        return AuditFinding("plugin", identity, "changed", "Its files in the cache have changed.")
    parts = plugins.read(cache.place(pinned.hash), entry=pinned.entry or None)
    now = of_plugin(parts.plugins[0], parts) if parts.plugins else Capabilities()
    gained = now.beyond(pinned.capabilities)
    if gained.lines:
        return AuditFinding("plugin", identity, "gained", "It can do more than checkrein.lock says.", gained)
    if pinned.capabilities.beyond(now).lines:
        message = "checkrein.lock says that it can do more than it can: a later gain would not be seen."
        return AuditFinding("plugin", identity, "changed", message)
    return None


def _skills(project: Project, lock: PluginLock) -> list[AuditFinding]:
    """Skills count once the lock has any of them."""
    found = []
    for skill in _own_skills(project) if lock.skills else ():
        folder = _folder(skill, project)
        before = lock.skills.get(folder)
        try:
            same = before is not None and content_hash(skill.directory) == before.hash
        except (UnsafePackageError, OSError) as error:
            found.append(AuditFinding("skill", folder, "refused", str(error)))
            continue
        if same:
            continue
        gained = of_skill(skill).beyond(before.capabilities if before is not None else Capabilities())
        if gained.lines:
            message = "It can do more than checkrein.lock says."
            found.append(AuditFinding("skill", folder, "gained", message, gained))
    return found


def _own_skills(project: Project) -> list[Skill]:
    return [one for one in project.sources.skills if one.origin.scope == "project"]


def _folder(skill: Skill, project: Project) -> str:
    return os.path.relpath(skill.directory, project.place.root).replace(os.sep, "/")

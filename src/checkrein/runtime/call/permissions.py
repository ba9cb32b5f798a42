"""Changes of permissions that come with an answer: which of them hold, and where Checkrein keeps them.

A deny that holds stays, an organisation's settings stay, and what is above a conversation still binds it.
Changes from the asker, the user's own terminal or program, are for the session: they hold in every
conversation of its tree, as far as each may go, and only they go into settings files. Those of a hook hold in
the conversation whose call it judged.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec.structs import replace

from checkrein.base.errors import UsageError
from checkrein.base.origin import Origin
from checkrein.model.project import Place, Project
from checkrein.policy.project import mode_of
from checkrein.policy.updates import (
    SESSION,
    AddDirectories,
    AddRules,
    Destination,
    RemoveDirectories,
    RemoveRules,
    ReplaceRules,
    SetMode,
    Update,
    problem_of,
    rules_of,
)
from checkrein.runtime.call.gate import Gate
from checkrein.runtime.hooks.runner import HookRunner
from checkrein.runtime.session.events import Event, ModeChanged, Notice, PermissionsChanged


class Permissions:
    """The permissions of one conversation while it runs. Safe to use from several threads."""

    def __init__(
        self,
        gate: Gate,
        hooks: HookRunner,
        project: Project,
        *,
        allow_bypass: bool,
        above: Permissions | None = None,
        tell: Callable[[Event], None] = lambda event: None,
    ) -> None:
        """`above` are those of the parent. `tell` takes what happens outside the conversation's turns."""
        self._gate = gate
        self._hooks = hooks
        self._project = project
        self._allow_bypass = allow_bypass
        self._above = above
        self._tell = tell
        self._place: Place = above._place if above is not None else project.place

    def may_enter(self, mode: str) -> bool:
        """Whether the conversation may enter a mode: the settings do not switch it off, and for
        bypassPermissions the person who started the session allowed it."""
        if mode == self._gate.mode:
            return True
        if mode == "bypassPermissions" and not self._allow_bypass:
            return False
        return mode_of(self._project, mode).mode == mode

    def take(self, updates: Sequence[Update], by: Literal["asker", "hook"]) -> Iterator[Event]:
        """Apply updates in order. Skips one that can't hold, with a Notice that says why."""
        for update in updates:
            reason = problem_of(update) or self._objection(update)
            if reason is not None:
                yield Notice("warning", f"A change of permissions does not count: {reason}.")
            else:
                yield from self._hold(update, by)

    def _objection(self, update: Update) -> str | None:
        if isinstance(update, SetMode) and not self.may_enter(update.mode):
            return f"the mode {update.mode!r} is not available here"
        approves = isinstance(update, AddRules | ReplaceRules) and update.behavior == "allow" and update.rules
        if approves and self._project.setting("allowManagedPermissionRulesOnly") is True:
            return "only the organisation's settings may allow anything here"
        return None

    def _hold(self, update: Update, by: Literal["asker", "hook"]) -> Iterator[Event]:
        file: str | None = None
        if by == "asker":
            try:
                file = self._saved(update)
            except UsageError as error:
                yield Notice("warning", f"{error.message} The change holds for this session only.")
        elif update.destination != "session":
            yield Notice(
                "info",
                "A hook changed permissions. They hold for this session; Checkrein does not save them.",
            )
        self._change(update, file, by)
        if isinstance(update, SetMode):
            self._hooks.update(permission_mode=update.mode)
            yield ModeChanged(update.mode)
            if by == "asker" and self._above is not None:
                self._above._follow(update)
        if isinstance(update, RemoveRules | ReplaceRules) and update.behavior == "deny":
            yield Notice("info", "Rules that deny hold until this session ends.")
        yield PermissionsChanged(update, by, file)

    def _follow(self, update: SetMode) -> None:
        """Take over the mode that the person chose in a conversation below."""
        if self._gate.takes(update.mode) and self.may_enter(update.mode):
            self._gate.set_mode(update.mode)
            self._hooks.update(permission_mode=update.mode)
            self._tell(ModeChanged(update.mode))
            if self._above is not None:
                self._above._follow(update)

    def _saved(self, update: Update) -> str | None:
        """Write an update where it belongs. Returns the file, or None when Checkrein does not keep it."""
        if update.destination == "session":
            return None
        if isinstance(update, SetMode) and update.mode == "bypassPermissions":
            raise UsageError("Checkrein never saves the mode bypassPermissions.")
        from checkrein.runtime.call.settings_file import save

        file = settings_file(self._place, update.destination)
        save(os.path.realpath(file), update)
        return file

    def _change(self, update: Update, file: str | None, by: Literal["asker", "hook"]) -> None:
        place = self._place
        anchor = place.config_dir if update.destination == "userSettings" else place.cwd
        rules = rules_of(update, Origin(file or SESSION, "cli"), anchor)
        if file is not None and isinstance(update, AddRules | ReplaceRules):
            from checkrein.runtime.call.settings_file import place_of

            rules = tuple(
                replace(rule, origin=rule.origin.at(place_of(file, rule.verdict, rule.text)))
                for rule in rules
            )
        if isinstance(update, AddDirectories | RemoveDirectories):
            update = replace(update, directories=tuple(_absolute(path, place) for path in update.directories))
        everywhere = by == "asker" and not isinstance(update, SetMode)
        change = self._gate.update_tree if everywhere else self._gate.update
        change(update, rules, file or SESSION)


def settings_file(place: Place, destination: Destination) -> str:
    """The file that a destination names. The user's own may be a link. A link on the way to a project's file
    is an error: a repository must not choose where the user's approvals go."""
    from checkrein.dialects.claude.settings import SettingSource, file_of
    from checkrein.dialects.codes import Log

    sources: dict[str, SettingSource] = {"userSettings": "user", "localSettings": "local"}
    source = sources.get(destination, "project")
    path = file_of(source, place, Log())
    if path is None:
        raise UsageError("The home directory has no project settings.", kind="settings_not_saved")
    if source != "user" and os.path.realpath(path) != path:
        raise UsageError(f"{path} goes through a symbolic link.", kind="settings_not_saved")
    return path


def _absolute(path: str, place: Place) -> str:
    expanded = place.home + path[1:] if path == "~" or path.startswith("~/") else path
    return os.path.normpath(os.path.join(place.cwd, expanded))

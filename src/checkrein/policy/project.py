"""The policy of a project: its rules, its default mode, its directories."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.base.origin import Origin, Scope
from checkrein.policy.policy import Directory, Policy, compile_policy
from checkrein.policy.tools import Tools
from checkrein.policy.values import MODES, Mode

if TYPE_CHECKING:
    from checkrein.model.project import Effective, Project
    from checkrein.model.rule import Rule


class ChosenMode(Struct, frozen=True):
    """The mode that holds, who chose it and where. `passed_over` says why another was not entered."""

    mode: Mode = "default"
    scope: Scope = "cli"
    origin: Origin | None = None
    passed_over: str = ""


def policy_of(
    project: Project, *, rules: Iterable[Rule] = (), mode: str | None = None, tools: Tools | None = None
) -> Policy:
    """`rules` are added to the project's own; `mode` replaces its `permissions.defaultMode`."""
    chosen = mode_of(project, mode)
    return compile_policy(
        (*project.rules, *rules),
        chosen.mode,
        mode_scope=chosen.scope,
        directories=_directories(project),
        tools=tools,
    )


def mode_of(project: Project, asked: str | None = None) -> ChosenMode:
    """The project never enters a switched-off mode, or `auto` from its own files."""
    scope: Scope = "cli"
    origin: Origin | None = None
    wanted = asked
    if wanted is None:
        effective = project.settings.get("permissions.defaultMode")
        winner = next((c.item for c in effective.candidates if c.lost is None), None) if effective else None
        if effective is None or winner is None:
            return _unset(effective)
        wanted, origin = str(winner.value), winner.origin
        scope = origin.scope
        if wanted == "auto" and scope in ("project", "local"):
            return ChosenMode("default", scope, origin, "a project's files can't choose the mode auto")
    mode: Mode | None = next((known for known in MODES if known == wanted), None)
    if mode == "bypassPermissions" and _is_off(project, "disableBypassPermissionsMode"):
        return ChosenMode("default", scope, origin, "the settings switch the mode bypassPermissions off")
    if mode == "auto" and (
        _is_off(project, "disableAutoMode") or project.setting("disableAutoMode") == "disable"
    ):
        return ChosenMode("default", scope, origin, "the settings switch the mode auto off")
    if mode is None:
        return ChosenMode("default", scope, origin, f"the mode {wanted} does not exist")
    return ChosenMode(mode, scope, origin)


def _unset(effective: Effective | None) -> ChosenMode:
    """No mode is set. If a file names one but may not choose it, `passed_over` says so."""
    refused = next((c for c in effective.candidates if c.lost), None) if effective is not None else None
    if refused is None:
        return ChosenMode()
    return ChosenMode(origin=refused.item.origin, passed_over=refused.lost or "")


def _is_off(project: Project, switch: str) -> bool:
    return bool(project.setting(f"permissions.{switch}") == "disable")


def _directories(project: Project) -> tuple[Directory, ...]:
    effective = project.settings.get("permissions.additionalDirectories")
    place = project.place
    found = [
        Directory(_absolute(candidate.item.value, place.cwd, place.home), candidate.item.origin.scope)
        for candidate in (effective.candidates if effective else ())
        if candidate.lost is None and isinstance(candidate.item.value, str)
    ]
    return tuple(found)


def _absolute(path: str, cwd: str, home: str) -> str:
    expanded = home + path[1:] if path == "~" or path.startswith("~/") else path
    return os.path.normpath(os.path.join(cwd, expanded))

"""What the commands on plugins share: arguments, the installer of a project, the question before a change."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from checkrein.cli.registry import Arg
from checkrein.cli.target import require
from checkrein.model.plugins import SCOPES

if TYPE_CHECKING:
    from checkrein.runtime.plugins.installation import Installer
    from checkrein.runtime.plugins.plugin_plan import Plan, PluginChange

NAME_ARG = Arg(name="name", required=True, metavar="PLUGIN", help="The plugin: name, or name@marketplace.")
NAMES_ARG = Arg(name="names", multiple=True, metavar="PLUGINS...", help="Plugins: name, or name@marketplace.")
SCOPE_ARG = Arg(
    name="scope",
    flags=("--scope", "-s"),
    type="choice",
    choices=SCOPES,
    default="user",
    help="user: you, everywhere; project: everyone, with checkrein.lock; local: you, in this project.",
)
YES_ARG = Arg(
    name="yes", flags=("--yes", "-y"), type="bool", help="Accept what it can do without a question."
)
COMMAND_ARG = Arg(
    name="accept_command",
    flags=("--accept-command",),
    type="bool",
    help="Run the command of a plugin whose source is a command.",
)
ERRORS = (
    "project_not_found",
    "plugin_not_found",
    "marketplace_not_found",
    "marketplace_invalid",
    "refused_by_administrator",
    "package_refused",
    "plugin_invalid",
    "source_invalid",
    "fetch_failed",
    "command_not_accepted",
    "version_changed",
    "name_confusing",
    "name_reserved",
    "dependency_unsatisfied",
    "dependency_version_unsatisfied",
    "range_conflict",
    "no_matching_tag",
    "cross_marketplace",
    "config_broken",
    "config_unwritable",
    "link_leaves_project",
    "lock_broken",
    "lock_unwritable",
    "plugins_unwritable",
)
"""What can go wrong while plugins are fetched and written."""


@contextlib.contextmanager
def installer(project: str, *, accept_command: bool = False) -> Iterator[Installer]:
    """The installer of a project. What it starts is git, npm and accepted commands, all of them ours."""
    import os

    from checkrein.llm.cancel import Cancel
    from checkrein.passes.load import load
    from checkrein.runtime.plugins.installation import Installer
    from checkrein.runtime.process.spawner import Spawner
    from checkrein.runtime.trust import standing

    require(project)
    loaded = load(project, detect=False)
    trusted = standing(loaded).status.trusted
    with Spawner(lambda origin: origin.scope == "bundled") as spawner:
        yield Installer(
            loaded, os.environ, spawner, Cancel(), trusted=trusted, accepts_commands=accept_command
        )


def overruling(project: str, identity: str, *, wanted: bool) -> str | None:
    """The place of a switch that counts more here than the one that was just written, and says otherwise."""
    from checkrein.passes.load import load

    found = load(project, detect=False).plugins.get(identity)
    if found is None or found.item.enabled == wanted or found.item.switch is None:
        return None
    return str(found.item.switch)


def with_overruling(text: str, overruled: str | None, scope: str) -> str:
    from checkrein.base.harmless import one_line

    more = f"\n{one_line(overruled)} says otherwise, and counts more than {scope}." if overruled else ""
    return f"{text}{more}"


def agreed(plan: Plan, *, yes: bool) -> bool:
    """Show what plugins can do, and ask. Without a terminal the answer is no."""
    import sys

    from checkrein.cli import out, plugin_text

    if yes or not plan.gains:
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    out.say(plugin_text.changes(plan.changes), err=True)
    return out.confirm("Install with these capabilities?")


def gained(changes: tuple[PluginChange, ...]) -> bool:
    return any(one.gained.lines for one in changes)

"""`checkrein plugin update`: newer versions; one that can do more shows the difference and asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.cli.plugin_install import Payload, answer
from checkrein.cli.plugin_target import COMMAND_ARG, ERRORS, NAMES_ARG, SCOPE_ARG, YES_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.model.plugins import PluginScope
    from checkrein.runtime.plugins.installation import Installer

COMMAND = Command(
    name="plugin update",
    summary="Update plugins; ask when one gains a capability.",
    details="The marketplaces are fetched again first. A version that changed its content is an error.",
    args=(NAMES_ARG, PROJECT_ARG, SCOPE_ARG, YES_ARG, COMMAND_ARG),
    payload=Payload,
    errors=(*ERRORS, "marketplace_renamed"),
    exits=((0, "updated, or up to date"), (1, "not accepted, or an error"), (2, "wrong usage")),
    examples=(("checkrein plugin update", "all plugins of the user"),),
)


def run(names: tuple[str, ...], project: str, scope: PluginScope, yes: bool, accept_command: bool) -> Outcome:
    from checkrein.cli.plugin_target import agreed, installer

    with installer(project, accept_command=accept_command) as made:
        chosen = tuple(made.installed(name) for name in names) or _all(made, scope)
        plan = made.plan(chosen, scope, refresh=True)
        if not agreed(plan, yes=yes):
            return answer(Payload(False, scope, plan.changes))
        made.apply(plan, scope, "new")
    return answer(Payload(True, scope, plan.changes))


def _all(made: Installer, scope: PluginScope) -> tuple[str, ...]:
    from checkrein.dialects.claude.plugin_places import records
    from checkrein.runtime.plugins.plugin_lock import read_lock

    locked = read_lock(made.project.place).installed if scope == "project" else {}
    own = (name for name in records(made.env).plugins if made.pinned(name, scope) is not None)
    return tuple(dict.fromkeys((*locked, *own)))

"""`checkrein plugin install`: plugins from marketplaces, or exactly those of the lock."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.cli.plugin_target import COMMAND_ARG, ERRORS, NAMES_ARG, SCOPE_ARG, YES_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.runtime.plugins.plugin_plan import PluginChange

if TYPE_CHECKING:
    from checkrein.model.plugins import PluginScope


class Payload(Struct, frozen=True, omit_defaults=True):
    """`installed` is false when nobody accepted the capabilities. `frozen` are the plugins of the lock."""

    installed: bool
    scope: str
    changes: tuple[PluginChange, ...] = ()
    enabled: bool = True
    frozen: tuple[str, ...] = ()


COMMAND = Command(
    name="plugin install",
    summary="Install plugins, after showing what they can do.",
    details="Plugins come from marketplaces that you added. With --scope project the version goes into "
    "checkrein.lock. No script of a plugin runs while it is installed.",
    args=(
        NAMES_ARG,
        PROJECT_ARG,
        SCOPE_ARG,
        YES_ARG,
        COMMAND_ARG,
        Arg(
            name="frozen",
            flags=("--frozen",),
            type="bool",
            help="Install what checkrein.lock says, byte for byte, or fail.",
        ),
        Arg(name="no_enable", flags=("--no-enable",), type="bool", help="Install without switching on."),
    ),
    payload=Payload,
    errors=(*ERRORS, "lock_incomplete", "lock_mismatch"),
    exits=((0, "installed, or up to date"), (1, "not accepted, or an error"), (2, "wrong usage")),
    examples=(
        ("checkrein plugin install formatter@team-tools", "look at what it can do, and answer"),
        ("checkrein plugin install formatter@team-tools --scope project", "for everyone, with the lock"),
        ("checkrein plugin install --frozen", "in CI: exactly the locked plugins"),
    ),
)


class Given(Struct, frozen=True, kw_only=True):
    names: tuple[str, ...]
    project: str
    scope: PluginScope
    yes: bool
    accept_command: bool
    frozen: bool
    no_enable: bool


def run(given: Given) -> Outcome:
    from checkrein.base.errors import UsageError
    from checkrein.cli.plugin_target import agreed, installer

    if given.frozen == bool(given.names):
        raise UsageError("Name plugins, or use --frozen without names.")
    with installer(given.project, accept_command=given.accept_command) as made:
        if given.frozen:
            from checkrein.runtime.plugins.plugin_audit import install_frozen

            return answer(Payload(True, "project", frozen=install_frozen(made.project, made)))
        plan = made.plan(given.names, given.scope)
        if not agreed(plan, yes=given.yes):
            return answer(Payload(False, given.scope, plan.changes))
        made.apply(plan, given.scope, "none" if given.no_enable else "all")
    return answer(Payload(True, given.scope, plan.changes, not given.no_enable))


def answer(payload: Payload) -> Outcome:
    def text() -> str:
        from checkrein.cli import plugin_text

        return plugin_text.installed(payload)

    return Outcome(data=payload, text=text, status=0 if payload.installed else 1)

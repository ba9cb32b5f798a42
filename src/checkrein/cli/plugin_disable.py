"""`checkrein plugin disable`: switch an installed plugin in one scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS, NAME_ARG, SCOPE_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.model.plugins import PluginScope


class Payload(Struct, frozen=True, omit_defaults=True):
    """The plugins that were switched. `overruled` names the file that says otherwise here, and counts."""

    plugins: tuple[str, ...]
    scope: str
    overruled: str | None = None


COMMAND = Command(
    name="plugin disable",
    summary="Switch a plugin off; its files stay.",
    args=(NAME_ARG, PROJECT_ARG, SCOPE_ARG),
    payload=Payload,
    errors=(*ERRORS, "plugin_needed"),
    examples=(("checkrein plugin disable formatter", "for you, everywhere"),),
)


def run(name: str, project: str, scope: PluginScope) -> Outcome:
    from checkrein.cli.plugin_target import installer, overruling, with_overruling

    with installer(project) as made:
        identity = made.installed(name)
        made.disable(identity, scope)
    payload = Payload((identity,), scope, overruling(project, identity, wanted=False))
    text = f"Off in the scope {scope}: {identity}."
    return Outcome(data=payload, text=lambda: with_overruling(text, payload.overruled, scope))

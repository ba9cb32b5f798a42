"""`checkrein plugin enable`: switch an installed plugin in one scope."""

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
    name="plugin enable",
    summary="Switch a plugin on, with the plugins that it needs.",
    args=(NAME_ARG, PROJECT_ARG, SCOPE_ARG),
    payload=Payload,
    errors=(*ERRORS, "dependency_off"),
    examples=(("checkrein plugin enable formatter --scope local", "only for you, in this project"),),
)


def run(name: str, project: str, scope: PluginScope) -> Outcome:
    from checkrein.cli.plugin_target import installer, overruling, with_overruling

    with installer(project) as made:
        identity = made.installed(name)
        switched = made.enable(identity, scope)
    payload = Payload(switched, scope, overruling(project, identity, wanted=True))
    text = f"On in the scope {scope}: {', '.join(switched)}."
    return Outcome(data=payload, text=lambda: with_overruling(text, payload.overruled, scope))

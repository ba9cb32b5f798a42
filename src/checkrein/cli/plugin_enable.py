"""`checkrein plugin enable`: switch an installed plugin in one scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS, NAME_ARG, SCOPE_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.model.plugins import PluginScope


class Payload(Struct, frozen=True):
    """The plugins that were switched."""

    plugins: tuple[str, ...]
    scope: str


COMMAND = Command(
    name="plugin enable",
    summary="Switch a plugin on, with the plugins that it needs.",
    args=(NAME_ARG, PROJECT_ARG, SCOPE_ARG),
    payload=Payload,
    errors=(*ERRORS, "dependency_off"),
    examples=(("checkrein plugin enable formatter --scope local", "only for you, in this project"),),
)


def run(name: str, project: str, scope: PluginScope) -> Outcome:
    from checkrein.cli.plugin_target import installer

    with installer(project) as made:
        switched = made.enable(made.installed(name), scope)
    payload = Payload(switched, scope)
    return Outcome(data=payload, text=lambda: f"On in the scope {scope}: {', '.join(switched)}.")

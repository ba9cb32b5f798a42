"""`checkrein plugin remove`: take a plugin out of a scope."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS, NAME_ARG, SCOPE_ARG
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG

if TYPE_CHECKING:
    from checkrein.model.plugins import PluginScope


class Payload(Struct, frozen=True):
    plugin: str
    scope: str


COMMAND = Command(
    name="plugin remove",
    summary="Remove a plugin from a scope; with the last one its data goes too.",
    args=(
        NAME_ARG,
        PROJECT_ARG,
        SCOPE_ARG,
        Arg(name="keep_data", flags=("--keep-data",), type="bool", help="Keep its data and options."),
    ),
    payload=Payload,
    errors=(*ERRORS, "plugin_needed"),
    examples=(("checkrein plugin remove formatter --scope project", "for everyone"),),
)


def run(name: str, project: str, scope: PluginScope, keep_data: bool) -> Outcome:
    from checkrein.cli.plugin_target import installer

    with installer(project) as made:
        identity = made.installed(name)
        made.remove(identity, scope, keep_data=keep_data)
    payload = Payload(identity, scope)
    return Outcome(data=payload, text=lambda: f"Removed {identity} from the scope {scope}.")

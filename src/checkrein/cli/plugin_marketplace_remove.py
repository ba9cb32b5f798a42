"""`checkrein plugin marketplace remove`."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Payload(Struct, frozen=True):
    name: str


COMMAND = Command(
    name="plugin marketplace remove",
    summary="Remove a marketplace from which nothing is installed.",
    args=(Arg(name="name", required=True, help="The marketplace."), PROJECT_ARG),
    payload=Payload,
    errors=(*ERRORS, "marketplace_used"),
    examples=(("checkrein plugin marketplace remove team-tools", "forget it"),),
)


def run(name: str, project: str) -> Outcome:
    from checkrein.cli.plugin_target import installer

    with installer(project) as made:
        made.roll.remove(name)
    return Outcome(data=Payload(name), text=lambda: f"Removed {name}.")

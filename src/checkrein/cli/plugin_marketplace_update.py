"""`checkrein plugin marketplace update`."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Payload(Struct, frozen=True):
    """Marketplace to its commit; an empty text where it has none."""

    updated: dict[str, str]


COMMAND = Command(
    name="plugin marketplace update",
    summary="Fetch marketplaces again; installed plugins stay as they are.",
    args=(
        Arg(name="name", default=None, help="The marketplace; without it, all that you added."),
        PROJECT_ARG,
    ),
    payload=Payload,
    errors=(*ERRORS, "marketplace_renamed"),
    examples=(("checkrein plugin marketplace update", "all of them"),),
)


def run(name: str | None, project: str) -> Outcome:
    from checkrein.cli.plugin_target import installer

    with installer(project) as made:
        names = made.roll.names() if name is None else [name]
        updated = {one: made.roll.update(one).known.commit or "" for one in names}
    return Outcome(data=Payload(updated), text=lambda: f"Updated: {', '.join(updated) or 'none'}.")

"""`checkrein plugin marketplace add`."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS
from checkrein.cli.registry import Arg, Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Payload(Struct, frozen=True, omit_defaults=True):
    """`plugins` counts what it offers. Nothing of it is installed."""

    name: str
    plugins: int
    commit: str | None = None


COMMAND = Command(
    name="plugin marketplace add",
    summary="Add a marketplace: OWNER/NAME, an address, a path, npm:PACKAGE.",
    args=(
        Arg(name="source", required=True, help="Where it is; #REF after it names a branch or tag."),
        PROJECT_ARG,
    ),
    payload=Payload,
    errors=(*ERRORS, "marketplace_exists"),
    examples=(
        ("checkrein plugin marketplace add acme/plugins", "a repository on GitHub"),
        ("checkrein plugin marketplace add ./plugins", "a directory"),
    ),
)


def run(source: str, project: str) -> Outcome:
    from checkrein.cli.plugin_target import installer

    with installer(project) as made:
        catalog = made.roll.add(source)
    payload = Payload(catalog.name, len(catalog.listed.entries), catalog.known.commit)
    return Outcome(data=payload, text=lambda: f"Added {payload.name}: {payload.plugins} plugin(s).")

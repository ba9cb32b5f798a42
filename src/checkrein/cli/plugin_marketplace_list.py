"""`checkrein plugin marketplace list`."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG
from checkrein.runtime.plugins.marketplace_roll import MarketplaceRow


class Payload(Struct, frozen=True):
    marketplaces: tuple[MarketplaceRow, ...]


COMMAND = Command(
    name="plugin marketplace list",
    summary="List the marketplaces.",
    args=(PROJECT_ARG,),
    payload=Payload,
    errors=ERRORS,
    examples=(("checkrein plugin marketplace list", "without the network"),),
)


def run(project: str) -> Outcome:
    from checkrein.cli.plugin_target import installer

    with installer(project) as made:
        payload = Payload(tuple(made.roll.rows()))

    def text() -> str:
        from checkrein.cli import plugin_text

        return plugin_text.marketplaces(payload)

    return Outcome(data=payload, text=text)

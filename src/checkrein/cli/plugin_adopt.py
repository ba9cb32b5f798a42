"""`checkrein plugin adopt`: take over plugins that Claude Code has installed."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.plugin_target import ERRORS, NAMES_ARG
from checkrein.cli.registry import Command, Outcome
from checkrein.cli.target import PROJECT_ARG


class Payload(Struct, frozen=True):
    """Identity to the hash of the content that was taken over."""

    adopted: dict[str, str]


COMMAND = Command(
    name="plugin adopt",
    summary="Take over plugins that Claude Code has installed, with a hash and a record.",
    details="Without names: all of them. What is switched on or off stays so.",
    args=(NAMES_ARG, PROJECT_ARG),
    payload=Payload,
    errors=ERRORS,
    examples=(("checkrein plugin adopt", "everything that Claude Code installed"),),
)


def run(names: tuple[str, ...], project: str) -> Outcome:
    from checkrein.cli.plugin_target import installer
    from checkrein.runtime.plugins.adoption import adopt, foreign_plugins

    with installer(project) as made:
        known = foreign_plugins(made)
        chosen = [
            next((one for one in known if name in (one, one.rpartition("@")[0])), name) for name in names
        ]
        adopted = {identity: adopt(made, identity).hash for identity in chosen or known}
    payload = Payload(adopted)
    return Outcome(
        data=payload, text=lambda: "\n".join(f"{name} {hash}" for name, hash in adopted.items()) or "None."
    )

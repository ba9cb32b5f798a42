"""The five modes that Checkrein does not have. Each answers with a typed error."""

from __future__ import annotations

from typing import NoReturn

from msgspec import Struct

from checkrein.base.errors import CheckreinError
from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Command


class Connection(Struct, frozen=True):
    """What a mode would answer."""

    target: str
    connected: bool


def mode(name: str, what: str) -> Command:
    return args.verb(
        name,
        f"{what} is not implemented; answers `not_implemented`.",
        args=(Arg(name="target", required=True, help="What to connect to."),),
        payload=Connection,
        errors=("not_implemented",),
    )


def refuse(name: str, target: str) -> NoReturn:
    raise CheckreinError(f"{name} is not implemented.", kind="not_implemented").during(
        "connect", target, mode=name, connected=False
    )

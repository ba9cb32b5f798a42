"""`checkrein machine subsystems`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.reports import Subsystems

COMMAND = args.verb(
    "subsystems",
    "List the packages of Checkrein.",
    args=(
        Arg(name="limit", flags=("--limit",), type="int", default=32, help="The most packages to return."),
    ),
    payload=Subsystems,
)


def run(limit: int) -> Outcome:
    from checkrein.cli.machine import reports_text
    from checkrein.protocol.machine.reports import subsystems

    found = subsystems(args.not_negative(limit, "--limit"))
    return Outcome(data=found, text=lambda: reports_text.subsystems(found))

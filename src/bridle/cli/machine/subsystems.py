"""`bridle machine subsystems`."""

from __future__ import annotations

from bridle.cli.machine import args
from bridle.cli.registry import Arg, Outcome
from bridle.protocol.machine.reports import Subsystems

COMMAND = args.verb(
    "subsystems",
    "List the packages that Bridle is made of.",
    args=(Arg(name="limit", flags=("--limit",), type="int", default=32, help="How many to give."),),
    payload=Subsystems,
)


def run(limit: int) -> Outcome:
    from bridle.cli.machine import reports_text
    from bridle.protocol.machine.reports import subsystems

    found = subsystems(args.not_negative(limit, "--limit"))
    return Outcome(data=found, text=lambda: reports_text.subsystems(found))

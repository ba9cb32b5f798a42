"""`bridle machine manifest`."""

from __future__ import annotations

from bridle.cli.machine import args
from bridle.cli.registry import Outcome
from bridle.protocol.machine.reports import Manifest

COMMAND = args.verb(
    "manifest",
    "Print what a client can count on: verbs, schema versions, error kinds, exits.",
    payload=Manifest,
)


def run() -> Outcome:
    from bridle.cli import registry
    from bridle.cli.machine import reports_text
    from bridle.protocol.machine.kinds import COMMON
    from bridle.protocol.machine.reports import manifest
    from bridle.protocol.machine.verbs import MACHINE, OPT_OUT

    declared = {verb: registry.command(f"machine {verb}") for verb in (*MACHINE, *OPT_OUT)}
    found = manifest(
        {verb: (one.summary, tuple(sorted({*one.errors, *COMMON}))) for verb, one in declared.items()}
    )
    return Outcome(data=found, text=lambda: reports_text.manifest(found))

"""`checkrein machine manifest`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.reports import Manifest

COMMAND = args.verb(
    "manifest",
    "Print what a client can rely on: verbs, schema versions, error kinds, exits.",
    payload=Manifest,
)


def run() -> Outcome:
    from checkrein.cli import registry
    from checkrein.cli.machine import reports_text
    from checkrein.protocol.machine.kinds import COMMON
    from checkrein.protocol.machine.reports import manifest
    from checkrein.protocol.machine.verbs import MACHINE, OPT_OUT

    declared = {verb: registry.command(f"machine {verb}") for verb in (*MACHINE, *OPT_OUT)}
    found = manifest(
        {verb: (one.summary, tuple(sorted({*one.errors, *COMMON}))) for verb, one in declared.items()}
    )
    return Outcome(data=found, text=lambda: reports_text.manifest(found))

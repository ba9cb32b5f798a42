"""`checkrein machine parity-audit`."""

from __future__ import annotations

from checkrein.cli.machine import args
from checkrein.cli.registry import Outcome
from checkrein.protocol.machine.reports import ParityAudit

COMMAND = args.verb(
    "parity-audit",
    "Compare the classes of the protocol with the commands that are declared.",
    payload=ParityAudit,
    errors=(),
)


def run() -> Outcome:
    from checkrein.cli import registry
    from checkrein.cli.machine import reports_text
    from checkrein.cli.parser import FORMAT_ARG, shared_args
    from checkrein.protocol.machine.reports import parity_audit

    found = {}
    for name in registry.names():
        if name.startswith("machine "):
            declared = registry.command(name)
            speaks = FORMAT_ARG in shared_args(declared)
            found[name.removeprefix("machine ")] = (speaks, declared.payload is not None)
    audit = parity_audit(found)
    return Outcome(data=audit, text=lambda: reports_text.parity(audit), status=0 if audit.agrees else 1)

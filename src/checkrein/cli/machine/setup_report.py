"""`checkrein machine setup-report`."""

from __future__ import annotations

from msgspec import Struct

from checkrein.cli.doctor import Payload as Diagnosis
from checkrein.cli.machine import args
from checkrein.cli.registry import Arg, Outcome
from checkrein.protocol.machine.payloads import Machine


class SetupReport(Struct, frozen=True, kw_only=True):
    """`ready`: nothing is missing. `diagnosis` is the answer of `checkrein doctor`."""

    setup: Machine
    ready: bool
    diagnosis: Diagnosis


COMMAND = args.verb(
    "setup-report",
    "Print what this machine has and lacks for Checkrein, as Markdown.",
    args=(
        args.PROJECT,
        args.MODEL,
        Arg(name="offline", flags=("--offline",), type="bool", help="Send nothing to the model's address."),
    ),
    payload=SetupReport,
    errors=("project_not_found",),
)


def run(project: str, model: str | None, offline: bool) -> Outcome:
    from checkrein.cli.doctor import run as diagnose
    from checkrein.protocol.machine.exec_session import machine

    found = diagnose(project, model=model, offline=offline)
    assert isinstance(found.data, Diagnosis)
    report = SetupReport(setup=machine(), ready=found.status == 0, diagnosis=found.data)

    def text() -> str:
        setup = report.setup
        lines = [
            "# Setup Report",
            "",
            f"- Python: {setup.python_version} ({setup.implementation})",
            f"- Platform: {setup.platform_name}",
            f"- Test command: {setup.test_command}",
            f"- Ready: {report.ready}",
        ]
        return "\n".join(
            [*lines, *(f"- {line.name}: {line.state}, {line.found}" for line in found.data.lines)]
        )

    return Outcome(data=report, text=text)

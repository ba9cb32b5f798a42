"""The text of `checkrein check`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from checkrein.cli import paint
from checkrein.passes.codes import Page

if TYPE_CHECKING:
    from checkrein.cli.check import Payload


def render(payload: Payload, format_: str) -> str:
    if format_ == "text":
        return findings(payload)
    from checkrein.cli import reports

    if format_ == "github":
        return reports.github(payload.findings)
    import msgspec

    document: object = reports.sarif(payload.findings, payload.root) if format_ == "sarif" else payload
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode()


def findings(payload: Payload) -> str:
    blocks = [paint.diagnostic(finding) for finding in payload.findings]
    totals = [
        f"{number} {severity}{'s' * (number != 1)}" for severity, number in payload.counts.items() if number
    ]
    last = ", ".join(totals) if totals else "nothing to report"
    if payload.fixed:
        last += f"; {len(payload.fixed)} fixed"
    if payload.known:
        last += f"; {payload.known} known from the baseline"
    fixable = sum(1 for finding in payload.findings if finding.fix and finding.fix.safe)
    if fixable:
        last += f"; {fixable} can be fixed with --fix"
    others = sum(1 for finding in payload.findings if finding.fix and not finding.fix.safe)
    if others:
        last += f"; {others} with --unsafe-fixes (review the result)"
    return "\n\n".join([*blocks, last])


def page(found: Page) -> str:
    fixable = ", fixable" if found.fixable else ""
    lines = [
        f"{paint.bold(f'{found.code} {found.name}')} ({found.severity}{fixable})",
        "",
        found.summary,
        "",
        f"Why: {found.why}",
        f"Fix: {found.hint}",
    ]
    for title, files in (("Reported:", found.bad), ("Not reported:", found.good)):
        if files:
            lines += ["", paint.bold(title)]
            for name, content in files.items():
                lines += [f"  {name}", *(f"    {line}".rstrip() for line in content.rstrip("\n").split("\n"))]
    return "\n".join(lines)

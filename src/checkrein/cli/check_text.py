"""The text of `checkrein check`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from checkrein.cli import paint
from checkrein.passes.codes import Page

if TYPE_CHECKING:
    from checkrein.base.diagnostic import Diagnostic
    from checkrein.cli.check import Payload

_MOST_REASONS = 3


def render(payload: Payload, format_: str, *, statistics: bool = False, files: bool = False) -> str:
    if format_ == "text":
        if payload.diff is not None:
            return payload.diff
        return _text(payload, statistics, files)
    from checkrein.cli import reports

    if format_ == "github":
        return reports.github(payload.findings)
    import msgspec

    documents: dict[str, object] = {"json": payload}
    if format_ == "sarif":
        documents["sarif"] = reports.sarif(payload.findings, payload.root)
    elif format_ == "gitlab":
        documents["gitlab"] = reports.gitlab(payload.findings, payload.root)
    return msgspec.json.format(msgspec.json.encode(documents[format_]), indent=2).decode()


def _text(payload: Payload, statistics: bool, files: bool) -> str:
    if statistics:
        blocks = [by_code(payload.findings)] if payload.findings else []
    else:
        blocks = [paint.diagnostic(finding) for finding in payload.findings]
    if payload.fixed:
        blocks.append("\n".join(_fixed(finding) for finding in payload.fixed))
    if files and payload.examined.unread:
        blocks.append("\n".join(f"not read: {one.path} ({one.reason})" for one in payload.examined.unread))
    return "\n\n".join([*blocks, f"{_examined(payload)}\n{_totals(payload)}"])


def _fixed(finding: Diagnostic) -> str:
    title = finding.fix.title if finding.fix else finding.message
    return f"fixed {paint.place(finding.origin)} {finding.code} {title}"


def by_code(found: Sequence[Diagnostic]) -> str:
    """One line for each code, the most frequent first: how often, what, how many --fix repairs."""
    from checkrein.passes.codes import documentation

    totals = Counter(finding.code for finding in found)
    fixable = Counter(finding.code for finding in found if finding.fix and finding.fix.safe)
    wide = len(str(max(totals.values())))
    lines = []
    for code, number in sorted(totals.items(), key=lambda one: (-one[1], one[0])):
        known = documentation(code)
        mark = f" [{fixable[code]} with --fix]" if fixable[code] else ""
        lines.append(f"{number:>{wide}}  {code:<8}  {known.summary if known else ''}{mark}")
    return "\n".join(lines)


def codes(pages: Sequence[Page]) -> str:
    """One line for each code."""
    return "\n".join(
        f"{page.code:<9}  {page.severity:<7}  {'fix' if page.fixable else '   '}  {page.summary}"
        for page in pages
    )


def _examined(payload: Payload) -> str:
    looked = payload.examined
    parts = [
        f"{number:,} {_singular(kind) if number == 1 else kind}" for kind, number in looked.counts.items()
    ]
    line = (
        f"Examined {', '.join(parts)}" if parts else "Examined nothing: no file of an agent project is here"
    )
    if looked.unread:
        reasons = Counter(one.reason for one in looked.unread).most_common()
        shown = ", ".join(f"{number:,} {reason}" for reason, number in reasons[:_MOST_REASONS])
        more = ", ..." if len(reasons) > _MOST_REASONS else ""
        line += f"; not read: {shown}{more} (--files lists them)"
    return line


def _singular(kind: str) -> str:
    return kind.removesuffix("s")


def _totals(payload: Payload) -> str:
    totals = [
        f"{number} {severity}{'s' * (number != 1)}" for severity, number in payload.counts.items() if number
    ]
    last = ", ".join(totals) if totals else "nothing to report"
    if payload.fixed:
        last += f"; {len(payload.fixed)} fixed"
    if payload.known:
        last += f"; {payload.known} known from the baseline"
    if payload.hidden:
        last += f"; {payload.hidden} hidden by comments or the configuration"
    fixable = sum(1 for finding in payload.findings if finding.fix and finding.fix.safe)
    if fixable:
        last += f"; {fixable} can be fixed with --fix"
    others = sum(1 for finding in payload.findings if finding.fix and not finding.fix.safe)
    if others:
        last += f"; {others} with --unsafe-fixes (review the result)"
    return last


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

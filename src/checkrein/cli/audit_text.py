"""An audit for people."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from checkrein.base.harmless import one_line
from checkrein.cli import paint

if TYPE_CHECKING:
    from checkrein.cli.audit import Payload
    from checkrein.policy.review.audit import Audit, Row

_MOST = 20


def told(payload: Payload, suggest: bool) -> str:
    audit = payload.audit
    if not audit.calls:
        return f"No calls in {payload.files} transcripts."
    return "\n".join(_lines(payload, audit, suggest))


def _lines(payload: Payload, audit: Audit, suggest: bool) -> Iterator[str]:
    torn = f", {payload.damaged} lines damaged" if payload.damaged else ""
    yield f"{audit.calls} calls in {payload.files} transcripts{torn}."
    yield ""
    yield f"{'then':<8}  {'allow':>6}  {'ask':>6}  {'deny':>6}   today"
    for fate, by in audit.counts.items():
        yield f"{fate:<8}  {by['allow']:>6}  {by['ask']:>6}  {by['deny']:>6}"
    yield from _part("A person refused these, and they would run today:", audit.loosened)
    yield from _part("These ran, and would be denied today:", audit.tightened)
    asked = [row for row in audit.rows if (row.fate, row.verdict) == ("ran", "ask")]
    yield from _part(f"{audit.questions} of the calls that ran would need approval:", asked)
    for trial in audit.trials:
        yield ""
        yield f"{paint.bold(one_line(trial.rule))} would spare {trial.spares} questions."
        for call in trial.refused:
            yield f"  It would allow {call}, which a person refused."
    if suggest:
        yield ""
        yield from _suggestions(audit)


def _suggestions(audit: Audit) -> Iterator[str]:
    if not audit.suggestions:
        yield "No rule would spare enough questions."
        return
    yield f"These rules would spare {audit.spared} of the {audit.questions} questions:"
    for one in audit.suggestions:
        yield f"  {one.spares:>5}  {paint.bold(one_line(one.rule))}"
        yield paint.dim(f"         for {', '.join(one.examples)}")
    yield "Add those that you want to `permissions.allow` of `.claude/settings.json`."


def _part(title: str, rows: Sequence[Row]) -> Iterator[str]:
    if not rows:
        return
    yield ""
    yield title
    for row in rows[:_MOST]:
        yield f"  {row.times:>5}  {row.call}"
        rule = f"{one_line(row.rule)} ({row.origin})" if row.rule and row.origin else row.reason
        yield paint.dim(f"         {rule}; {os.path.basename(row.file)}:{row.line}")
    if len(rows) > _MOST:
        yield f"  … and {len(rows) - _MOST} more (`--json` has all)."

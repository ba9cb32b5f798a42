"""`checkrein why --prompt` and `checkrein why --cache`: what the model gets, and what the cache served."""

from __future__ import annotations

import os
from collections.abc import Sequence

from checkrein.runtime.context.cachereport import CacheReport
from checkrein.runtime.context.explain import PromptReport


def prompt_report(project: str, model: str | None) -> PromptReport:
    from checkrein.passes.load import load, session_view
    from checkrein.runtime.context.explain import explain_prompt

    loaded = load(project)
    wanted = model or os.environ.get("ANTHROPIC_MODEL") or loaded.setting("model")
    return explain_prompt(session_view(loaded), _name(str(wanted) if wanted else "default"))


def _name(spec: str) -> str:
    from checkrein.facts.models import ALIASES

    name = spec.partition(":")[2] or spec
    return ALIASES.get(name, name)


def cache_report_of(session: str, project: str) -> CacheReport:
    from checkrein.runtime.context.cachereport import cache_report
    from checkrein.runtime.store import SessionStore

    return cache_report(SessionStore().find(session, os.path.realpath(project)))


def prompt_text(report: PromptReport) -> str:
    rows = [("layer", "segment", "bytes", "tokens", "from")]
    for one in report.segments:
        place = str(one.origin) if one.origin is not None else ""
        rows.append((one.layer, one.name, f"{one.bytes:,}", f"{one.tokens:,}", place))
    lines = _table(rows, right=(2, 3))
    share = f", {report.tokens / report.window:.1%} of the window" if report.window else ""
    lines.append(f"{report.bytes:,} bytes, about {report.tokens:,} tokens{share} ({report.model})")
    if report.waiting:
        lines.append(f"Behind ToolSearch: {', '.join(report.waiting)}")
    return "\n".join(lines)


def cache_text(report: CacheReport) -> str:
    rows = [("request", "model", "prompt", "cached", "written", "prefix")]
    for one in report.requests:
        broke = f"broke: {one.broke}" if one.broke is not None else ""
        if one.resent:
            cost = f", {one.extra_usd:.4f} USD" if one.extra_usd is not None else ""
            broke += f" (about {one.resent:,} tokens again{cost})"
        rows.append(
            (str(one.number), one.model, f"{one.prompt:,}", f"{one.cached:,}", f"{one.written:,}", broke)
        )
    lines = _table(rows, right=(0, 2, 3, 4))
    cost = f", {report.extra_usd:.4f} USD" if report.extra_usd is not None else ""
    lines.append(
        f"{report.cached:,} of {report.prompt:,} prompt tokens from the cache ({report.share:.1%}); "
        f"{report.breaks} break(s){cost}"
    )
    return "\n".join(lines)


def _table(rows: Sequence[tuple[str, ...]], right: tuple[int, ...]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]

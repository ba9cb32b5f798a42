"""Finds a result that the last message does not hold, in what the model said before. Pure.

By marker: the marker came as a message of its own. By block: the promised lines are in an earlier message.
Nothing is made up: every word of the result is the model's own.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from checkrein.model.skill_contract import Contract, without_decoration
from checkrein.runtime.worker.session_report import Report, has_marker, without_marker


def recovered(report: Report, contract: Contract, marker: str) -> Report:
    """The report with its text completed. A session that failed, or that submitted, stays as it is."""
    if report.is_error or report.submission is not None:
        return report
    return _by_block(_by_marker(report, marker), contract, marker)


def _by_marker(report: Report, marker: str) -> Report:
    if not any(has_marker(text, marker) for text in (*report.texts, report.text)):
        return report
    said = without_marker(report.text, marker)
    if has_marker(report.text, marker) and said:
        return report
    at = max((i for i, text in enumerate(report.texts) if has_marker(text, marker)), default=-1)
    before = [without_marker(text, marker) for text in report.texts[: at + 1]]
    last = said or next((text for text in reversed(before) if text), "")
    return replace(report, text=f"{last}\n{marker}") if last else report


def _by_block(report: Report, contract: Contract, marker: str) -> Report:
    if not has_marker(report.text, marker) or contract.is_met(report.text):
        return report
    missing = [pattern for pattern in contract.patterns if not _holds(report.text, pattern)]
    blocks: list[str] = []
    for pattern in missing:
        found = next((text for text in reversed(report.texts) if _holds(text, pattern)), None)
        if found is None:
            return report
        if found not in blocks:
            blocks.append(found)
    earlier = (without_marker(text, marker) for text in blocks)
    return replace(report, text="\n".join((*earlier, report.text)))


def _holds(text: str, pattern: str) -> bool:
    try:
        return re.search(pattern, without_decoration(text)) is not None
    except re.error:
        return False

"""Findings in the formats that other programs read: SARIF and GitHub annotations."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from checkrein.base.diagnostic import Diagnostic
from checkrein.base.origin import Origin

_SARIF_LEVEL = {"error": "error", "warning": "warning", "info": "note"}
_GITHUB_LEVEL = {"error": "error", "warning": "warning", "info": "notice"}


def sarif(found: Sequence[Diagnostic], root: str) -> dict[str, Any]:
    """SARIF 2.1.0, one run, file names relative to the project root."""
    from checkrein import __version__
    from checkrein.passes.codes import documentation

    codes = sorted({finding.code for finding in found})
    rules = [
        {
            "id": code,
            "name": page.name,
            "shortDescription": {"text": page.summary},
            "fullDescription": {"text": page.why},
            "help": {"text": page.hint},
            "defaultConfiguration": {"level": _SARIF_LEVEL[page.severity]},
        }
        for code in codes
        if (page := documentation(code))
    ]
    results = [
        {
            "ruleId": finding.code,
            "level": _SARIF_LEVEL[finding.severity],
            "message": {"text": finding.message},
            "locations": [_location(finding.origin, root)],
            "relatedLocations": [_location(origin, root) for origin in finding.related],
        }
        for finding in found
    ]
    driver = {"name": "checkrein", "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "originalUriBaseIds": {"PROJECT": {"description": {"text": "The root of the project."}}},
                "columnKind": "unicodeCodePoints",
                "results": results,
            }
        ],
    }


def _location(origin: Origin, root: str) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(origin.file, root)}
    if origin.span is not None:
        region = {
            "startLine": origin.span.line,
            "startColumn": origin.span.column,
            "endLine": origin.span.last_line,
        }
        if origin.span.end_column:
            region["endColumn"] = origin.span.end_column
        physical["region"] = region
    return {"physicalLocation": physical}


def _artifact(file: str, root: str) -> dict[str, str]:
    """A URI: relative to the project for its own files, absolute for those of the user and the machine."""
    from urllib.parse import quote

    relative = _relative(file, root)
    if os.path.isabs(relative):
        return {"uri": "file://" + quote(relative)}
    return {"uri": quote(relative), "uriBaseId": "PROJECT"}


def _relative(file: str, root: str) -> str:
    relative = os.path.relpath(file, root) if os.path.isabs(file) else file
    return (file if relative.startswith("..") else relative).replace(os.sep, "/")


def github(found: Sequence[Diagnostic]) -> str:
    """Workflow commands, one line each."""
    return "\n".join(_annotation(finding) for finding in found)


def _annotation(finding: Diagnostic) -> str:
    span = finding.origin.span
    place = f"file={_escape_property(_relative(finding.origin.file, os.getcwd()))}"
    if span is not None:
        place += f",line={span.line},col={span.column},endLine={span.last_line}"
    text = finding.message + (f". Fix: {finding.hint}" if finding.hint else "")
    return f"::{_GITHUB_LEVEL[finding.severity]} {place},title={finding.code}::{_escape(text)}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(text).replace(":", "%3A").replace(",", "%2C")
